package panes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/lock"
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
	taken     string   // why its pane was left alone, if somebody else uses it now

	complete bool     // the host itself has ended all that it started, and is gone
	host     *ownHost // nil: it is not proved to be that member's, and nothing is done to it
}

// Stopper ends hosts for one verb, in two stages: End for each host, side by side, and
// then Close for those that have ended by then, as a set. It never touches a process or
// a pane that does not prove to be its host's.
type Stopper struct {
	look       // one for all
	term, kill time.Duration
	recorded   bool // the verb writes the ends down
	prove      func(context.Context, Target, *look) (ownHost, error)
}

// Stopper returns one with the limits of TERM and KILL.
func (m *Manager) Stopper(term, kill time.Duration) *Stopper {
	return &Stopper{look: look{m: m}, term: term, kill: kill, prove: m.prove}
}

// Recorded leaves it to the verb to write the ends of those that are asked to shut down
// into the roster, and to tell the lead: once for the set, not each host by itself.
func (s *Stopper) Recorded() *Stopper {
	s.recorded = true
	return s
}

// End ends one host and closes its pane.
func (m *Manager) End(ctx context.Context, t Target, term, kill time.Duration) StopResult {
	return m.Stopper(term, kill).endAndClose(ctx, t)
}

// endAndClose ends one host and closes its pane.
func (s *Stopper) endAndClose(ctx context.Context, t Target) StopResult {
	out := s.End(ctx, t)
	s.Close(ctx, []*StopResult{&out})
	return out
}

// End asks the host to end all that it has started: TERM, and KILL after the limit. If
// the host is mute or gone, that is done from outside, the host last. Its pane stays.
func (s *Stopper) End(ctx context.Context, t Target) StopResult {
	h, err := s.prove(ctx, t, &s.look)
	if err != nil && h.mayHaveBegun() {
		s.awaitRecord(ctx, &h)
		h, err = s.prove(ctx, t, &s.look)
	}
	if err != nil {
		return StopResult{Outcome: state.Unproven, Reason: fault.Of(err).Message}
	}
	out := s.endHost(ctx, h)
	out.host = &h
	return out
}

func (s *Stopper) endHost(ctx context.Context, h ownHost) StopResult {
	if h.seen.record.Ended == nil && h.seen.state == signals.Alive {
		if rep, err := s.shutDown(ctx, h, s.term); err == nil {
			s.awaitGone(ctx, h)
			out := StopResult{Outcome: state.Terminated, Leftovers: rep.Leftovers}
			if rep.Killed {
				out.Outcome = state.Killed
			}
			out.complete = len(rep.Survivors) == 0 && h.process().Probe() == signals.Gone
			return out
		}
	}
	if h.seen.record.Ended == nil {
		out := killTree(ctx, h, s.kill, false, &s.processes)
		out.Leftovers = append(out.Leftovers, s.suspects(ctx, h)...)
		return out
	}
	if h.seen.answers() { // it stays, to be read: that ends now
		_, _ = s.shutDown(ctx, h, 0) // what it does not do is done from outside
	}
	if h.seen.answers() || errors.Is(h.seen.silence, host.ErrNoHost) { // its last steps may run programs of its own
		s.awaitGone(ctx, h)
	}
	if h.process().Probe() == signals.Gone { // it ended all that it started before it wrote that down
		return StopResult{Outcome: state.AlreadyStopped, complete: true}
	}
	return killTree(ctx, h, s.kill, true, &s.processes)
}

// shutDown asks the host to end what runs; the host goes by itself after it has answered.
func (s *Stopper) shutDown(ctx context.Context, h ownHost, term time.Duration) (host.Report, error) {
	socket := s.m.socketOf(h)
	ask, cancel := context.WithTimeout(ctx, signals.Patience(term)+signals.Patience(s.kill)+statusLimit)
	defer cancel()
	// What it ends may wait for the CPU. A host that answers is believed to be at it.
	late := time.AfterFunc(term+2*s.kill+statusLimit, func() {
		if _, err := status(ask, socket); err != nil {
			cancel()
		}
	})
	defer late.Stop()
	return host.Dial(socket).Shutdown(ask, host.ShutdownRequest{Reason: "stopped", Term: term, Kill: s.kill, Recorded: s.recorded})
}

// Limits of a host that has ended all that it started.
const (
	leaveLimit = 20 * time.Second // to write its record and to go by itself, also on a busy machine
	killedWait = 2 * time.Second  // until it is gone after SIGKILL
)

// awaitGone gives a host that has nothing left to end the time to go.
func (s *Stopper) awaitGone(ctx context.Context, h ownHost) {
	leaving, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	if p := h.process(); p.Wait(leaving) != nil && p.Probe() == signals.Alive {
		killTree(ctx, h, killedWait, true, &s.processes)
	}
}

// killTree is the only place from which this package signals: it freezes and kills what
// runs under the id of a host that is mute or gone, with the host's own process if asked.
func killTree(ctx context.Context, h ownHost, kill time.Duration, withHost bool, look *signals.Processes) StopResult {
	end := signals.TreeKiller{Host: h.Host, Kill: kill, Processes: look}
	if withHost {
		if root, err := signals.Prove(h.process(), h.isOwn); err == nil {
			end.Roots = []signals.Proof{root}
		}
	}
	rep, err := end.Run(ctx)
	out := StopResult{Outcome: state.AlreadyStopped, Leftovers: signals.Lines(rep.Leftovers)}
	switch {
	case err != nil:
		out.Outcome, out.Reason = state.Unproven, err.Error()
	case len(rep.Survivors) > 0:
		out.Outcome, out.Reason = state.Unproven, fmt.Sprintf("%d processes are still there", len(rep.Survivors))
	case slices.ContainsFunc(rep.Ended, func(p signals.Process) bool { return p.PID != h.process().PID }):
		out.Outcome = state.Killed // of a host that only stayed to be read the teammate had ended
	}
	return out
}

// Close closes the panes of hosts that have ended, as a set, looks whether anything is
// left, and writes what it finds into the results of their End. A host that has ended its own tree
// adopted every orphan below it, so only the others are looked for again.
func (s *Stopper) Close(ctx context.Context, set []*StopResult) {
	s.m.closePanes(ctx, set)
	each(len(set), func(i int) {
		r := set[i]
		if r.Outcome != state.Unproven && !r.complete {
			if left := s.survivors(ctx, *r.host); left != "" {
				r.Outcome, r.Reason = state.Unproven, left
			}
		}
		if r.Outcome != state.Unproven {
			s.m.sweep(*r.host)
		}
	})
}

// survivors looks again: what still carries the host's mark and would be ended, and the
// host itself, if it went neither by itself nor with its pane.
func (s *Stopper) survivors(ctx context.Context, h ownHost) string {
	if h.process().PID == 0 {
		s.awaitRecord(ctx, &h)
	}
	if h.process().Probe() == signals.Alive {
		killTree(ctx, h, s.kill, true, &s.processes)
	}
	left, err := signals.TreeKiller{Host: h.Host, Processes: &s.processes}.Left()
	switch {
	case err != nil:
		return err.Error()
	case len(left) > 0:
		return fmt.Sprintf("%d processes of it are still there, the first is %s", len(left), left[0])
	case h.process().Probe() == signals.Alive:
		return fmt.Sprintf("its host, process %d, is still there", h.process().PID)
	case h.process().PID == 0:
		if held, err := lock.Busy(s.m.opt.Dir, HostLock(h.Team, h.Agent)); held || err != nil {
			return "its host's lock is still held, and no record says which process it is"
		}
	}
	return ""
}

// mayHaveBegun tells whether all that is known of a host is that its lock is held: then it is
// perhaps about to write its record.
func (h ownHost) mayHaveBegun() bool {
	silent := !h.seen.known() && !h.seen.answers() && h.seen.broken == nil
	return silent && checkHostID(h.Host) == nil && h.m.held(HostLock(h.Team, h.Agent))
}

// beginLimit is how long a host that has just begun may hold its lock without a record.
const beginLimit = 5 * time.Second

// awaitRecord waits while a host has its lock and no record yet, as after the verb that
// started it was killed: it goes by itself, or its record says which process it is.
func (s *Stopper) awaitRecord(ctx context.Context, h *ownHost) {
	for limit := time.Now().Add(beginLimit); s.m.held(HostLock(h.Team, h.Agent)) && time.Now().Before(limit); {
		if h.seen.read(ctx, s.m, h.Team, h.Agent, h.Host); h.seen.known() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(startPoll):
		}
	}
}
