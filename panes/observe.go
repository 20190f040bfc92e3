package panes

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/signals"
)

// Observation is how one host was found.
type Observation struct {
	State  string // one of the states of package api
	Reason string
	Status host.Status // as the host answered; zero when it did not
	Record HostRecord  // zero when there is none
	Launch LaunchRecord
}

// launchGrace is how long a member may be on its way without a host record.
const launchGrace = 30 * time.Second

// Observe says how the host of a member is doing. hostID is the id the roster
// names; spawnedAt is when it was launched. What could not be observed is unknown,
// and only a host that is proved to be gone is lost.
func (m *Manager) Observe(ctx context.Context, team, agent, hostID string, spawnedAt time.Time) Observation {
	var o Observation
	if l, err := m.records.Launch(ctx, team, agent); err == nil && l.Host == hostID {
		o.Launch = l
	}
	rec, err := m.records.Host(ctx, team, agent)
	switch {
	case errors.Is(err, fs.ErrNotExist) || (err == nil && rec.Host != hostID):
		o.State, o.Reason = state.Lost, "its host left no record"
		if deadline := spawnedAt.Add(launchGrace); time.Now().Before(deadline) || time.Now().Before(o.Launch.Deadline) {
			o.State, o.Reason = state.Starting, ""
		}
		return o
	case err != nil:
		o.State, o.Reason = state.Unknown, err.Error()
		return o
	}
	o.Record = rec
	st, err := status(ctx, rec.Socket)
	if err == nil && st.ID == hostID {
		o.Status, o.State, o.Reason = st, cmp.Or(st.State, state.Starting), st.Reason
		return o
	}
	if late, lateErr := m.records.Host(ctx, team, agent); lateErr == nil && late.Host == hostID {
		o.Record = late // it may have ended between the two looks
	}
	o.State, o.Reason = silent(o.Record, err)
	return o
}

// silent says what it means that a host does not answer.
func silent(rec HostRecord, err error) (found, reason string) {
	if rec.Ended != nil {
		return rec.Ended.State, rec.Ended.Reason
	}
	switch rec.Process.Probe() {
	case signals.Gone:
		if self, err := signals.Self(); err == nil && self.Boot != rec.Process.Boot {
			return state.Lost, "the machine was restarted"
		}
		return state.Lost, "its host was killed"
	case signals.Alive:
		if errors.Is(err, host.ErrNoHost) {
			return state.Unknown, "its host runs but does not listen"
		}
		return state.Unknown, "its host runs but does not answer"
	}
	return state.Unknown, "its host could not be observed"
}

// PaneThere tells whether a pane that is not ours is still in the terminal that
// new panes would go to. known is false when that could not be observed. A lead
// that runs (leadPID > 0) has to run in that terminal, too: the same id in another
// one is another pane.
func (m *Manager) PaneThere(ctx context.Context, backendType string, id backend.ID, leadPID int) (there, known bool, why string) {
	c, err := m.Choice(ctx)
	if err != nil {
		return false, false, err.Error()
	}
	if c.Type != backendType || c.Own {
		return false, false, "its terminal is not the one in use; name it with --tmux-socket"
	}
	l, ok := backend.As[backend.Lister](c.Backend)
	if !ok {
		return false, false, c.Type + " does not list the panes of others"
	}
	ctx, cancel := context.WithTimeout(ctx, terminalLimit)
	defer cancel()
	all, err := l.ListAll(ctx)
	if err != nil {
		return false, false, fault.Of(err).Message
	}
	if leadPID > 0 && !runsIn(leadPID, all) {
		return false, false, "its lead runs in another terminal; name that one with --tmux-socket"
	}
	for _, p := range all {
		if p.ID == id {
			return !p.Dead, true, ""
		}
	}
	return false, true, ""
}

// runsIn tells whether a process is, or descends from, the program of one of the
// panes.
func runsIn(pid int, all []backend.Pane) bool {
	table, err := signals.Snapshot()
	if err != nil {
		return false
	}
	roots := map[int]bool{}
	for _, p := range all {
		roots[p.PID] = true
	}
	for range 1000 { // deeper than any tree, should the table hold a loop
		if roots[pid] {
			return true
		}
		p, ok := table.Find(pid)
		if !ok || p.PPID <= 1 {
			return false
		}
		pid = p.PPID
	}
	return false
}

// Client returns the way to a member's host that is known to be running.
func (m *Manager) Client(rec HostRecord) *host.Client { return host.Dial(rec.Socket) }

// Self returns the pane of the caller, if it runs in one of the terminal in use.
func (m *Manager) Self(ctx context.Context) (backend.ID, bool) {
	c, err := m.Choice(ctx)
	if err != nil {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, terminalLimit)
	defer cancel()
	self, _, ok, err := c.Backend.Self(ctx)
	return self.ID, ok && err == nil
}
