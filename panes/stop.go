package panes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/signals"
)

// Target names one host and its pane.
type Target struct {
	Team, Agent string
	Host        string // id
	Backend     string
	Terminal    string // the terminal's own socket
	Pane        backend.ID
}

// Ending is what the lower rungs of the ladder came to.
type Ending struct {
	Outcome   string   // state.Terminated, Killed, PaneKilled, AlreadyStopped or UnprovenStop
	Leftovers []string // left alone on purpose
	Reason    string   // why it is unproven
}

// End ends a host with all it has started: TERM, which the host passes down, KILL
// after term, and after kill more the host itself from outside. Then the pane is
// closed, and then it is looked whether anything is left. It never touches a
// process or a pane that does not prove to be this host's.
func (m *Manager) End(ctx context.Context, t Target, term, kill time.Duration) Ending {
	e := m.endHost(ctx, t, term, kill)
	closed, err := m.closePane(ctx, t)
	if e.Outcome == state.AlreadyStopped && closed {
		e.Outcome = state.PaneKilled
	}
	if err != nil {
		e.Outcome, e.Reason = state.Unproven, fault.Of(err).Message
		return e
	}
	if left := survivors(t.Host); left != "" {
		e.Outcome, e.Reason = state.Unproven, left
	}
	m.sweep(ctx, t)
	return e
}

// endHost asks the host to end its tree, or ends the tree itself if the host is
// mute or gone.
func (m *Manager) endHost(ctx context.Context, t Target, term, kill time.Duration) Ending {
	rec, err := m.records.Host(ctx, t.Team, t.Agent)
	known := err == nil && rec.Host == t.Host
	if known && rec.Ended == nil {
		ask, cancel := context.WithTimeout(ctx, term+2*kill+statusLimit)
		rep, err := host.Dial(rec.Socket).Shutdown(ask, host.ShutdownRequest{Reason: "stopped", Term: term, Kill: kill})
		cancel()
		if err == nil {
			m.awaitGone(ctx, rec, kill)
			out := Ending{Outcome: state.Terminated, Leftovers: rep.Leftovers}
			if rep.Killed {
				out.Outcome = state.Killed
			}
			return out
		}
	}
	if known && rec.Ended != nil && rec.Process.Probe() == signals.Alive { // it stays, to be read: that ends now
		m.shutDown(ctx, rec, kill)
	}
	return fromOutside(ctx, t.Host, rec, known, kill)
}

// shutDown sends away a host whose agent has ended.
func (m *Manager) shutDown(ctx context.Context, rec HostRecord, kill time.Duration) {
	ask, cancel := context.WithTimeout(ctx, kill+statusLimit)
	defer cancel()
	if _, err := host.Dial(rec.Socket).Shutdown(ask, host.ShutdownRequest{Reason: "stopped", Kill: kill}); err == nil {
		m.awaitGone(ctx, rec, kill)
	}
}

// awaitGone gives the host time to write its record and to go.
func (m *Manager) awaitGone(ctx context.Context, rec HostRecord, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit+statusLimit)
	defer cancel()
	if err := rec.Process.Wait(ctx); err != nil && rec.Process.Probe() == signals.Alive {
		_ = rec.Process.Signal(syscall.SIGKILL)
	}
}

// fromOutside freezes and kills what a mute or dead host has left, the host last.
func fromOutside(ctx context.Context, hostID string, rec HostRecord, known bool, kill time.Duration) Ending {
	end := signals.TreeKiller{Host: hostID, Kill: kill}
	if known && rec.Ended != nil && rec.Process.Probe() == signals.Alive {
		end.Roots = []signals.Identity{rec.Process}
	}
	rep, err := end.Run(ctx)
	out := Ending{Outcome: state.AlreadyStopped, Leftovers: lines(rep.Leftovers)}
	switch {
	case err != nil:
		out.Outcome, out.Reason = state.Unproven, err.Error()
	case len(rep.Survivors) > 0:
		out.Outcome, out.Reason = state.Unproven, fmt.Sprintf("%d processes are still there", len(rep.Survivors))
	case len(rep.Ended) > 0:
		out.Outcome = state.Killed
	}
	return out
}

// closePane closes the pane if it is still ours, and reports whether there was one.
func (m *Manager) closePane(ctx context.Context, t Target) (bool, error) {
	if t.Pane == "" || t.Backend == "" {
		return false, nil
	}
	b, err := m.backendOf(t.Backend, t.Terminal)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*terminalLimit)
	defer cancel()
	mark := m.mark(t.Team, t.Agent, t.Host)
	there, err := holds(ctx, b, t.Pane, mark)
	if err != nil {
		return false, err
	}
	// Also of a pane that went by itself: Close puts the window's options back.
	if err := backend.CloseOne(ctx, b, t.Pane, mark); !there {
		return false, ignoreForeign(err)
	} else if err != nil {
		return false, ignoreGone(err)
	}
	still, err := holds(ctx, b, t.Pane, mark)
	if err == nil && still {
		err = fault.New(fault.Unproven, "pane %s is still there", t.Pane)
	}
	return true, err
}

// holds tells whether the pane is there and carries the mark.
func holds(ctx context.Context, b backend.Backend, id backend.ID, mark backend.Mark) (bool, error) {
	list, err := b.List(ctx)
	if err != nil {
		return false, err
	}
	for _, p := range list {
		if p.ID == id && p.Mark == mark {
			return true, nil
		}
	}
	return false, nil
}

// ignoreForeign forgives that the id of a pane that is gone belongs to somebody
// else now.
func ignoreForeign(err error) error {
	if errors.Is(err, fault.Unproven) {
		return nil
	}
	return ignoreGone(err)
}

func ignoreGone(err error) error {
	if errors.Is(err, backend.ErrGone) {
		return nil
	}
	return err
}

// survivors looks again: what still carries the host's mark and would be ended.
func survivors(hostID string) string {
	left, err := signals.TreeKiller{Host: hostID}.Left()
	if err != nil {
		return err.Error()
	}
	if len(left) > 0 {
		return fmt.Sprintf("%d processes of it are still there, the first is %s", len(left), left[0])
	}
	return ""
}

// sweep removes what a host that was killed could not remove itself.
func (m *Manager) sweep(ctx context.Context, t Target) {
	if rec, err := m.records.Host(ctx, t.Team, t.Agent); err == nil && rec.Host == t.Host {
		if rec.Process.Probe() != signals.Gone {
			return
		}
		_ = os.Remove(rec.Socket)
	}
	_ = os.Remove(filepath.Join(m.runDir(), "env-"+t.Host))
}

func lines(ps []signals.Process) []string {
	out := make([]string, 0, len(ps))
	for _, p := range ps {
		out = append(out, p.String())
	}
	return out
}
