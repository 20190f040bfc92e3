package panes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/state"
)

// How often the socket of a host is looked for while it starts, and how often what the
// host left behind is looked at while there is none. A host that listens is followed.
const (
	startPoll  = 25 * time.Millisecond
	recordPoll = 100 * time.Millisecond
	panePoll   = time.Second
)

// leavingHost is how long a host of before may still answer while it ends.
const leavingHost = time.Second

// starting is one host while it is waited for.
type starting struct {
	m      *Manager
	choice Choice
	launch Launch
	pane   backend.Pane

	runs           bool        // its host has said so
	other          host.Status // of another host that has the socket
	foreign        time.Time   // that one has answered since
	record, looked time.Time   // when record and pane were looked at last
}

// await waits until the host answers, and through the first moments of its agent.
func (m *Manager) await(ctx context.Context, c Choice, l Launch, pane backend.Pane) error {
	asked := ctx
	ctx, cancel := context.WithTimeout(ctx, l.Ready)
	defer cancel()
	now := time.Now()
	w := &starting{m: m, choice: c, launch: l, pane: pane, record: now, looked: now}
	for {
		if done, err := w.look(ctx); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			if err := asked.Err(); err != nil {
				return fmt.Errorf("start teammate %s: %w", l.Record.Agent, err)
			}
			return fault.New(fault.SpawnFailed, "teammate %s of team %s: its host did not answer within %s (pane %s)",
				l.Record.Agent, l.Record.Team, l.Ready, pane.ID).WithHint("a slow machine may need a longer --ready-timeout, or readyTimeout in the team file")
		case <-time.After(startPoll):
		}
	}
}

// look tells whether the host's agent has started.
func (w *starting) look(ctx context.Context) (done bool, err error) {
	err = host.ErrNoHost
	if _, there := os.Lstat(w.launch.Record.Socket); there == nil {
		if done, err = w.follow(ctx); done {
			return true, nil
		}
	}
	switch {
	case err == nil && !w.foreign.IsZero():
		if time.Since(w.foreign) > leavingHost {
			return true, earlierHost(w.launch.Record, w.other)
		}
	case err == nil: // it stays, to be read
		return w.m.earlyEnd(ctx, w.launch)
	case errors.Is(err, host.ErrNoHost):
		return w.silent(ctx)
	}
	return false, nil
}

// follow listens to the host until that says that its agent has lasted. No error
// without that means that its agent has failed, or that the host is another one.
func (w *starting) follow(ctx context.Context) (lasted bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	enough, stop := errors.New("it has lasted"), errors.New("it need not be heard any more")
	r := w.launch.Record
	err = host.Dial(r.Socket).Follow(ctx, func(s host.Status) {
		switch {
		case s.ID != r.Host:
			if w.other = s; w.foreign.IsZero() {
				w.foreign = time.Now()
			}
			cancel(stop)
		case s.State == state.Failed:
			w.foreign = time.Time{}
			cancel(stop)
		case s.State != "" && s.State != state.Starting:
			w.runs = true
			if s.Settled || r.Kind == profiles.Worker {
				cancel(enough)
			}
		}
	})
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, enough):
		return true, nil
	case errors.Is(cause, stop):
		return false, nil
	}
	return false, err
}

// silent looks at what a host that does not listen has left.
func (w *starting) silent(ctx context.Context) (done bool, err error) {
	if w.runs || time.Since(w.record) > recordPoll {
		w.record = time.Now()
		if done, err := w.m.earlyEnd(ctx, w.launch); done {
			return true, err
		}
	}
	if time.Since(w.looked) > panePoll {
		w.looked = time.Now()
		return false, paneStands(ctx, w.choice, w.pane)
	}
	return false, nil
}

// earlierHost is the error for a place that a host holds whose records somebody has removed.
func earlierHost(r LaunchRecord, s host.Status) error {
	return fault.New(fault.SpawnFailed, "teammate %s of team %s: a host of an earlier %s still runs (process %d) and has its socket; no team names it any more",
		r.Agent, r.Team, r.Agent, s.PID).WithHint("leadlight gc ends it, with what it runs; then spawn again")
}

// paneStands says why a host that never answered will not do so any more.
func paneStands(ctx context.Context, c Choice, pane backend.Pane) error {
	list, err := c.Backend.List(ctx)
	if err != nil {
		return nil // not observed: go on waiting
	}
	for _, p := range list {
		if p.ID == pane.ID && !p.Dead {
			return nil
		}
	}
	return fault.New(fault.SpawnFailed, "the host in pane %s ended before it began", pane.ID).
		WithHint("leadlight doctor looks for what may be wrong")
}
