package panes

import (
	"context"
	"errors"
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/state"
)

// inProcess is what Claude Code's files call a member without a pane of its own.
const inProcess = "in-process"

// closePanes closes the panes of a set of hosts, each proved to be its member's, that are
// still ours: one list and one close for each terminal. A pane that stays makes its result unproven; one that was there
// although nothing ran makes it pane-killed.
func (m *Manager) closePanes(ctx context.Context, set []*StopResult) {
	at := map[terminal][]*StopResult{}
	for _, r := range set {
		if h := r.host; h != nil && h.Pane != "" && h.Backend != "" {
			k := terminal{h.Backend, h.Terminal}
			if h.Backend == inProcess {
				k = terminal{Headless, HeadlessFolder(m.opt.Runtime)}
			}
			at[k] = append(at[k], r)
		}
	}
	for k, results := range at {
		b, err := m.backendOf(k)
		if err == nil {
			err = closeIn(ctx, b, results)
		}
		if err == nil {
			continue
		}
		for _, r := range results {
			r.Outcome, r.Reason = state.Unproven, fault.Of(err).Message
		}
	}
}

// closeIn closes panes of one terminal.
func closeIn(ctx context.Context, b backend.Backend, results []*StopResult) error {
	ctx, cancel := context.WithTimeout(ctx, 2*terminalLimit)
	defer cancel()
	there, err := whatIsThere(ctx, b, results)
	if err != nil {
		return err
	}
	panes := make([]Closable, len(results))
	for i, r := range results {
		panes[i] = r.host.closable()
	}
	// Also panes that went by themselves: Close puts the options of their windows back.
	for i, err := range Close(ctx, b, panes...) {
		r, stood := results[i], there[panes[i].pane]
		switch {
		case errors.Is(err, backend.ErrGone), there != nil && !stood && errors.Is(err, fault.Unproven):
			// It is gone, or the id of a pane that is gone belongs to somebody else now.
		case errors.Is(err, backend.ErrTaken): // the member has ended, and the pane is somebody else's
			r.taken = fault.Of(err).Message
			r.Leftovers = append(r.Leftovers, r.taken)
		case err != nil:
			r.Outcome, r.Reason = state.Unproven, fault.Of(err).Message
		case stood && r.Outcome == state.AlreadyStopped:
			r.Outcome = state.PaneKilled
		}
	}
	return nil
}

// whatIsThere lists the panes of a terminal, if it matters whether one is there: where
// nothing ran, the pane was all that was left.
func whatIsThere(ctx context.Context, b backend.Backend, results []*StopResult) (map[backend.Marked]bool, error) {
	if !slices.ContainsFunc(results, func(r *StopResult) bool { return r.Outcome == state.AlreadyStopped }) {
		return nil, nil
	}
	list, err := b.List(ctx)
	there := map[backend.Marked]bool{}
	for _, p := range list {
		there[backend.Marked{ID: p.ID, Mark: p.Mark}] = true
	}
	return there, err
}
