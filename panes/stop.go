package panes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
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

// StopResult is what the ending of one host came to.
type StopResult struct {
	Outcome   string   // state.Terminated, Killed, PaneKilled, AlreadyStopped or Unproven
	Leftovers []string // left alone on purpose
	Reason    string   // why it is unproven

	complete bool // the host itself has ended all that it started, and is gone
}

// Stopper ends hosts for one verb, in two stages: End for each host, side by side, and
// then Close for those that have ended by then, as a set. It never touches a process or
// a pane that does not prove to be its host's.
type Stopper struct {
	m          *Manager
	term, kill time.Duration
	processes  signals.Processes // one look at the machine for all
}

// Stopper returns one with the limits of TERM and KILL.
func (m *Manager) Stopper(term, kill time.Duration) *Stopper {
	return &Stopper{m: m, term: term, kill: kill}
}

// End ends one host and closes its pane.
func (m *Manager) End(ctx context.Context, t Target, term, kill time.Duration) StopResult {
	return m.EndAll(ctx, []Target{t}, term, kill)[0]
}

// EndAll ends hosts side by side and closes their panes as a set.
func (m *Manager) EndAll(ctx context.Context, set []Target, term, kill time.Duration) []StopResult {
	s := m.Stopper(term, kill)
	out := make([]StopResult, len(set))
	each(len(set), func(i int) { out[i] = s.End(ctx, set[i]) })
	s.Close(ctx, set, out)
	return out
}

// End asks the host to end all that it has started: TERM, and KILL after the limit. If
// the host is mute or gone, that is done from outside, the host last. Its pane stays.
func (s *Stopper) End(ctx context.Context, t Target) StopResult {
	rec, err := s.m.records.Host(ctx, t.Team, t.Agent)
	known := err == nil && rec.Host == t.Host
	if known && rec.Ended == nil {
		ask, cancel := context.WithTimeout(ctx, s.term+2*s.kill+statusLimit)
		rep, err := host.Dial(rec.Socket).Shutdown(ask, host.ShutdownRequest{Reason: "stopped", Term: s.term, Kill: s.kill})
		cancel()
		if err == nil {
			out := StopResult{Outcome: state.Terminated, Leftovers: rep.Leftovers}
			if rep.Killed {
				out.Outcome = state.Killed
			}
			s.awaitGone(ctx, rec)
			out.complete = len(rep.Survivors) == 0 && rec.Process.Probe() == signals.Gone
			return out
		}
	}
	if known && rec.Ended != nil {
		if rec.Process.Probe() == signals.Alive { // it stays, to be read: that ends now
			s.sendAway(ctx, rec)
		}
		if rec.Process.Probe() == signals.Gone { // it ended all that it started before it wrote that down
			return StopResult{Outcome: state.AlreadyStopped, complete: true}
		}
	}
	return s.fromOutside(ctx, t.Host, rec, known)
}

// sendAway ends a host whose agent has ended.
func (s *Stopper) sendAway(ctx context.Context, rec HostRecord) {
	ask, cancel := context.WithTimeout(ctx, s.kill+statusLimit)
	defer cancel()
	if _, err := host.Dial(rec.Socket).Shutdown(ask, host.ShutdownRequest{Reason: "stopped", Kill: s.kill}); err == nil {
		s.awaitGone(ctx, rec)
	}
}

// Limits of a host that has ended all that it started.
const (
	leaveLimit = 20 * time.Second // to write its record and to go by itself, also on a busy machine
	killedWait = 2 * time.Second  // until it is gone after SIGKILL
)

// awaitGone gives a host that has nothing left to end the time to go.
func (s *Stopper) awaitGone(ctx context.Context, rec HostRecord) {
	leaving, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	if rec.Process.Wait(leaving) == nil || rec.Process.Probe() != signals.Alive {
		return
	}
	_ = rec.Process.Signal(syscall.SIGKILL)
	killed, cancel := context.WithTimeout(ctx, killedWait)
	defer cancel()
	_ = rec.Process.Wait(killed)
}

// fromOutside freezes and kills what a mute or dead host has left, the host last.
func (s *Stopper) fromOutside(ctx context.Context, hostID string, rec HostRecord, known bool) StopResult {
	end := signals.TreeKiller{Host: hostID, Kill: s.kill, Processes: &s.processes}
	if known && rec.Ended != nil && rec.Process.Probe() == signals.Alive {
		end.Roots = []signals.Identity{rec.Process}
	}
	rep, err := end.Run(ctx)
	out := StopResult{Outcome: state.AlreadyStopped, Leftovers: lines(rep.Leftovers)}
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

// Close closes the panes of hosts that have ended, as a set, looks whether anything is
// left, and writes what it finds into results. A host that has ended its own tree
// adopted every orphan below it, so only the others are looked for again.
func (s *Stopper) Close(ctx context.Context, set []Target, results []StopResult) {
	s.m.closePanes(ctx, set, results)
	each(len(set), func(i int) {
		r := &results[i]
		if r.Outcome != state.Unproven && !r.complete {
			if left := s.survivors(set[i].Host); left != "" {
				r.Outcome, r.Reason = state.Unproven, left
			}
		}
		if r.Outcome != state.Unproven {
			s.m.sweep(ctx, set[i])
		}
	})
}

// survivors looks again: what still carries the host's mark and would be ended.
func (s *Stopper) survivors(hostID string) string {
	left, err := signals.TreeKiller{Host: hostID, Processes: &s.processes}.Left()
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
