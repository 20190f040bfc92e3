package panes

import (
	"context"
	"fmt"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/signals"
)

// Closable is a pane that is proved to be ours to close. Only the functions of this file
// make one; the zero value closes nothing.
type Closable struct{ pane backend.Marked }

// Opened proves a pane that the caller itself has opened.
func Opened(spec backend.Spec, r backend.Result) Closable {
	return Closable{backend.Marked{ID: r.Pane.ID, Mark: spec.Mark}}
}

// Vacated proves a pane whose host is gone, with all that carries the host's mark. A host
// that has never said who it is has no identity.
func Vacated(pane backend.Marked, host signals.Identity) (Closable, error) {
	if state, why := host.Observe(); host.PID != 0 && state != signals.Gone {
		return Closable{}, unproven("pane %s is left alone: its host, pid %d, is %v: %w", pane.ID, host.PID, state, why)
	}
	left, err := signals.TreeKiller{Host: pane.Mark.Host}.Left()
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%d processes of its host run, the first is %s", len(left), left[0])
	}
	if err != nil {
		return Closable{}, unproven("pane %s is left alone: %w", pane.ID, err)
	}
	return Closable{pane}, nil
}

// closable proves the pane of a host that is proved to be its member's.
func (h ownHost) closable() Closable {
	return Closable{backend.Marked{ID: h.Pane, Mark: h.m.mark(h.Team, h.Agent, h.Host)}}
}

// Close is the only place from which panes are closed. The terminal looks once more whose
// each is, and who sits in it: see backend.Backend. It returns one error for each pane.
func Close(ctx context.Context, b backend.Backend, set ...Closable) []error {
	panes := make([]backend.Marked, len(set))
	for i, c := range set {
		panes[i] = c.pane // of the zero value every terminal says that it names no pane
	}
	return b.Close(ctx, panes...)
}
