package panes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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

// How long a member may be on its way without a host record: while a verb starts it, and
// when whoever did so is gone.
const (
	launchGrace = 30 * time.Second
	hostGrace   = 10 * time.Second
)

// Observe says how the host of a member is doing. hostID is the id the roster
// names; spawnedAt is when it was launched. What could not be observed is unknown,
// and only a host that is proved to be gone is lost.
func (m *Manager) Observe(ctx context.Context, team, agent, hostID string, spawnedAt time.Time) Observation {
	var o Observation
	if l, err := m.records.Launch(ctx, team, agent); err == nil && l.Host == hostID {
		o.Launch = l
	}
	seen := m.sight(ctx, team, agent, hostID)
	o.Record, o.Status = seen.record, seen.status
	switch {
	case seen.record.Ended != nil: // which its host writes down before it says so
		o.State, o.Reason = seen.record.Ended.State, seen.record.Ended.Reason
	case seen.answers():
		if !seen.known() {
			o.Record = rebuilt(seen.status, m.SocketPath(team, agent))
		}
		o.State, o.Reason = cmp.Or(seen.status.State, state.Starting), seen.status.Reason
	case !seen.known() && seen.broken == nil && m.onItsWay(team, agent, spawnedAt, o.Launch):
		o.State = state.Starting
	case seen.state == signals.Gone:
		o.State, o.Reason = state.Lost, seen.why
	default:
		o.State, o.Reason = state.Unknown, seen.why
	}
	return o
}

// onItsWay tells whether a member may be without a host record because it has only just
// been launched. Nobody comes any more if the verb that started it was killed.
func (m *Manager) onItsWay(team, agent string, spawnedAt time.Time, l LaunchRecord) bool {
	if within(spawnedAt, hostGrace) || within(l.LaunchedAt, hostGrace) {
		return true
	}
	return (within(spawnedAt, launchGrace) || within(l.LaunchedAt, l.Deadline.Sub(l.LaunchedAt))) && m.beingStarted(team, agent, spawnedAt)
}

// clockStep is by how much a moment that was written down may be still to come. What is
// later is of the time before the clock was set back, and says nothing.
const clockStep = time.Minute

// within tells whether a moment that was written down is less than d ago.
func within(at time.Time, d time.Duration) bool {
	ago := time.Since(at)
	return -clockStep <= ago && ago < d
}

// rebuilt is the record of a host whose own cannot be read, from its answer.
func rebuilt(st host.Status, socket string) HostRecord {
	return HostRecord{Version: recordVersion, Host: st.ID, Process: st.Identity, Socket: socket, StartedAt: st.StartedAt}
}

// ForeignPanes are the panes of others in a terminal, as they were at one look.
type ForeignPanes struct {
	dead map[backend.ID]bool // of each pane that is there
	why  string              // it could not be observed
}

// There tells whether a pane is still there. known is false when that could not be
// observed.
func (f ForeignPanes) There(id backend.ID) (there, known bool, why string) {
	dead, there := f.dead[id]
	return there && !dead, f.why == "", f.why
}

// ForeignPanes looks for panes that are not ours in the terminal that new panes would go
// to. A lead that runs (leadPID > 0) has to run in that terminal, too: the same id in
// another one is another pane.
func (m *Manager) ForeignPanes(ctx context.Context, backendType string, leadPID int) ForeignPanes {
	c, err := m.Choice(ctx)
	if err != nil {
		return ForeignPanes{why: err.Error()}
	}
	if c.Type != backendType || c.Own {
		return ForeignPanes{why: "its terminal is not the one in use; name it with --tmux-socket"}
	}
	all, err := listAll(ctx, c)
	if err != nil {
		return ForeignPanes{why: fault.Of(err).Message}
	}
	if leadPID > 0 {
		if _, here := holding(leadPID, all); !here {
			return ForeignPanes{why: "its lead runs in another terminal; name that one with --tmux-socket"}
		}
	}
	f := ForeignPanes{dead: map[backend.ID]bool{}}
	for _, p := range all {
		f.dead[p.ID] = p.Dead
	}
	return f
}

// listAll lists the panes of a terminal, strangers' too.
func listAll(ctx context.Context, c Choice) ([]backend.Pane, error) {
	l, ok := backend.As[backend.Lister](c.Backend)
	if !ok {
		return nil, fault.New(fault.Unsupported, "%s does not list the panes of others", c.Type)
	}
	ctx, cancel := context.WithTimeout(ctx, terminalLimit)
	defer cancel()
	return l.ListAll(ctx)
}

// LeadPane finds the pane of the lead in the terminal in use: the one in which its process
// runs, or, if pid is 0, the only pane without a mark in the windows that hold the team's.
func (m *Manager) LeadPane(ctx context.Context, team string, pid int) (Target, error) {
	c, err := m.Choice(ctx)
	if err != nil {
		return Target{}, err
	}
	all, err := listAll(ctx, c)
	if err != nil {
		return Target{}, fmt.Errorf("look for the lead's pane: %w", err)
	}
	pane, found := backend.Pane{}, false
	if pid > 0 {
		pane, found = holding(pid, all)
	} else {
		pane, found = beside(all, func(p backend.Pane) bool { return p.Mark.Base == m.baseKey && p.Mark.Team == team })
	}
	if !found {
		return Target{}, fault.New(fault.Unsupported, "the lead of team %s has no pane in this terminal", team).
			WithHint("call this inside the tmux server in which the lead works, or name that server with --tmux-socket")
	}
	return Target{Team: team, Backend: c.Type, Pane: pane.ID}, nil
}

// beside is the pane that carries no mark in the windows of ours, if there is one only.
func beside(all []backend.Pane, ours func(backend.Pane) bool) (found backend.Pane, ok bool) {
	windows := map[string]bool{}
	for _, p := range all {
		if ours(p) {
			windows[p.Window] = true
		}
	}
	n := 0
	for _, p := range all {
		if windows[p.Window] && p.Mark == (backend.Mark{}) {
			found = p
			n++
		}
	}
	return found, n == 1
}

// holding is the pane whose program is a process, or an ancestor of it.
func holding(pid int, all []backend.Pane) (backend.Pane, bool) {
	line := []int{pid}
	for _, p := range signals.AncestorsOf(pid) {
		line = append(line, p.PID)
	}
	for _, pid := range line {
		if i := slices.IndexFunc(all, func(p backend.Pane) bool { return p.PID == pid }); i >= 0 {
			return all[i], true
		}
	}
	return backend.Pane{}, false
}

// Client returns the way to a member's host that answers now: who asks a mute one would wait
// for ever. The error is fault.Timeout for a mute one, host.ErrNoHost when nobody listens.
func (m *Manager) Client(ctx context.Context, agent string, rec HostRecord) (*host.Client, error) {
	_, err := status(ctx, rec.Socket)
	if fault.CodeOf(err) == fault.Timeout && ctx.Err() == nil {
		err = fault.New(fault.Timeout, "its host runs but has not answered for %s", statusLimit).
			WithHint("leadlight ps tells when it answers again; leadlight stop %s ends it", agent)
	}
	return host.Dial(rec.Socket), err
}

// Self returns the pane of the caller, if it runs in one of the terminal in use.
func (m *Manager) Self(ctx context.Context) (backend.ID, bool) {
	c, err := m.Choice(ctx)
	if err != nil {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, terminalLimit)
	defer cancel()
	here, err := c.Backend.Self(ctx)
	return here.ID(), here.Self != nil && err == nil
}
