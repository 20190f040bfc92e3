package teams

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// StopOptions say how teammates are stopped.
type StopOptions struct {
	Ask    time.Duration // how long each may think about it; 0: the limit of the team
	Reason string        // told to the teammate
	Force  bool          // a refusal does not end it

	again bool // it is started again at once: its worktree stays

	// Progress, if not nil, is told what is done to whom; what became of it is in the
	// answer. It is called concurrently.
	Progress func(name, what string)
}

func (o *StopOptions) say(name, what string) {
	if o.Progress != nil {
		o.Progress(name, what)
	}
}

// leaveGrace is how long a teammate that agreed may take to go by itself.
const leaveGrace = 2 * time.Second

// Stop walks the ladder with each of the teammates, all at once: ask, TERM, KILL,
// close the pane, look again. names nil means all. The error is about the call as
// a whole; what became of each teammate is in the answer, whose OK is false if one
// refused or is not proved to be gone.
func (s *Service) Stop(ctx context.Context, team string, names []string, o StopOptions) (api.Endings, error) {
	if err := s.leadOnly("stop teammates"); err != nil {
		return api.Endings{}, err
	}
	t, members, err := s.toStop(ctx, team, names)
	if err != nil {
		return api.Endings{}, err
	}
	if o.Ask <= 0 {
		o.Ask = s.limits.Ask
	}
	out := api.Endings{Members: make([]api.Ending, len(members)), OK: true}
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			began := time.Now()
			e := s.stopOne(ctx, t, m, &o)
			e.Name, e.DurationMs = m.Name, time.Since(began).Milliseconds()
			if e.Leftovers == nil {
				e.Leftovers = []string{}
			}
			out.Members[i] = e
		})
	}
	wg.Wait()
	s.panes.TidyRun(ctx)
	for _, e := range out.Members {
		if e.Outcome == api.RejectedStop || e.Outcome == api.UnprovenStop {
			out.OK = false
		}
	}
	return out, nil
}

// Verdict is the error that an outcome amounts to, nil when every teammate ended.
func Verdict(e api.Endings) error {
	var refused, unproven []string
	for _, m := range e.Members {
		switch m.Outcome {
		case api.RejectedStop:
			refused = append(refused, m.Name+": "+orDefault(m.Reason, "no reason given"))
		case api.UnprovenStop:
			unproven = append(unproven, m.Name+": "+orDefault(m.Reason, "not observed"))
		}
	}
	switch {
	case len(unproven) > 0:
		return fault.New(fault.Unproven, "not proved to be gone: %s", strings.Join(unproven, "; ")).
			WithHint("leadlight ps shows what can be seen, leadlight doctor why; nothing was ended without proof that it is ours")
	case len(refused) > 0:
		return fault.New(fault.Rejected, "refused to stop: %s", strings.Join(refused, "; ")).
			WithHint("--force ends a teammate that refuses")
	}
	return nil
}

// toStop picks the members that are meant, each one that somebody else runs is
// refused before anything is done.
func (s *Service) toStop(ctx context.Context, team string, names []string) (store.Team, []store.Member, error) {
	t, err := s.get(ctx, team)
	if err != nil {
		return t, nil, err
	}
	if names == nil {
		var ours []store.Member
		for _, m := range t.Teammates() {
			if !ofItsLead(t, m) {
				ours = append(ours, m)
			}
		}
		return t, ours, nil
	}
	var out []store.Member
	seen := map[string]bool{}
	for _, name := range names {
		_, m, err := s.find(ctx, team, name)
		if err != nil {
			return t, nil, err
		}
		if t.IsLead(m) {
			return t, nil, fault.New(fault.InvalidArgument, "%s is the lead, which is never stopped", m.Name).WithHint("leadlight down ends the whole team")
		}
		if ofItsLead(t, m) {
			return t, nil, fault.New(fault.NotLead, "teammate %s was started by the lead of team %s, not by leadlight", m.Name, t.Name).
				WithHint("ask its own lead to end it")
		}
		if !seen[m.Name] {
			seen[m.Name] = true
			out = append(out, m)
		}
	}
	return t, out, nil
}

// stopOne is the ladder for one member.
func (s *Service) stopOne(ctx context.Context, t store.Team, m store.Member, o *StopOptions) api.Ending {
	seen := s.observeOne(ctx, t, m)
	obs := s.panes.Observe(ctx, t.Name, m.Name, m.Leadlight.Host, deref(m.Leadlight.SpawnedAt))
	if err := s.guardLead(ctx, m, obs); err != nil {
		return api.Ending{Outcome: api.UnprovenStop, Reason: err.Error()}
	}
	out := api.Ending{}
	answered := ""
	if seen.Live() && seen.State != api.StateUnknown && asksByMail(m.Leadlight.Kind) {
		o.say(m.Name, "asked to stop")
		var err error
		if out.RequestID, answered, out.Reason, err = s.ask(ctx, t, m, o); err != nil {
			o.say(m.Name, "could not be asked: "+fault.Of(err).Message) // a damaged inbox keeps nobody alive
		}
		if answered == api.RejectedStop && !o.Force {
			out.Outcome = api.RejectedStop
			return out
		}
	}
	if ctx.Err() != nil && answered == "" {
		return api.Ending{Outcome: api.UnprovenStop, RequestID: out.RequestID, Reason: "interrupted: " + asked(out.RequestID)}
	}
	// From here on an interrupt would leave half of it: each rung has its own limit.
	ctx = context.WithoutCancel(ctx)
	if answered == api.Approved {
		s.awaitLeaving(ctx, t, m, leaveGrace)
	}
	if seen.Live() && answered == "" {
		o.say(m.Name, fmt.Sprintf("gets SIGTERM, and SIGKILL after %s", s.limits.Term))
	}
	e := s.panes.End(ctx, s.target(t, m, obs), s.limits.Term, s.limits.Kill)
	out.Outcome, out.Leftovers = e.Outcome, e.Leftovers
	switch {
	case e.Outcome == api.UnprovenStop:
		out.Reason = e.Reason
	case answered == api.Approved, answered == api.Exited && s.endedByItself(ctx, t, m):
		out.Outcome = answered
	case e.Outcome == api.PaneKilled && !seen.Live():
		out.Outcome = api.AlreadyStopped // only its dead pane was left
	}
	if out.Outcome != api.UnprovenStop {
		if _, err := s.RecordExit(ctx, t.Name, m.Name, m.Leadlight.Host, panes.Ended{State: api.StateStopped, Reason: orDefault(o.Reason, "stopped")}); err != nil {
			out.Outcome, out.Reason = api.UnprovenStop, "it is gone, but the roster could not be written: "+err.Error()
		}
	}
	if out.Outcome != api.UnprovenStop && !o.again {
		if left := s.removeWorktree(ctx, t.Name, m.Name); left != "" {
			out.Leftovers = append(out.Leftovers, left)
		}
	}
	return out
}

// asked says where an interrupted stop has got to with a teammate.
func asked(requestID string) string {
	if requestID == "" {
		return "it runs on"
	}
	return "it was asked, and may still stop by itself"
}

// endedByItself tells whether the host has written down the end of its agent: one
// that was killed could not.
func (s *Service) endedByItself(ctx context.Context, t store.Team, m store.Member) bool {
	rec, err := s.panes.Records().Host(ctx, t.Name, m.Name)
	return err == nil && rec.Host == m.Leadlight.Host && rec.Ended != nil
}

// asksByMail tells whether a request in the inbox reaches that kind: the host of an
// interactive agent reads it and asks as the profile says.
func asksByMail(kind string) bool { return kind != profiles.Plain }

// guardLead refuses to go on when the roster names the lead's own pane as the
// member's: somebody wrote it there.
func (s *Service) guardLead(ctx context.Context, m store.Member, o panes.Observation) error {
	if o.Record.Pane != "" && paneOf(m) != "" && o.Record.Pane != m.TmuxPaneID {
		return fault.New(fault.Rejected, "the roster says pane %s, the host of %s says %s", store.Shown(m.TmuxPaneID), m.Name, o.Record.Pane)
	}
	if o.Record.Pane != "" {
		return nil // its host stands in it: no need to ask a terminal that may be mute
	}
	if self, ok := s.panes.Self(ctx); ok && string(self) == m.TmuxPaneID {
		return fault.New(fault.Rejected, "the roster gives %s the pane %s, which is the lead's own", m.Name, m.TmuxPaneID)
	}
	return nil
}

// ask sends the shutdown request and waits for the answer, the exit, or the limit.
func (s *Service) ask(ctx context.Context, t store.Team, m store.Member, o *StopOptions) (id, answer, reason string, err error) {
	now := time.Now()
	id = store.NewRequestID("shutdown", m.Name, now)
	frame := store.Frame{Type: store.ShutdownRequest, RequestID: id, From: store.Lead, Reason: o.Reason, Timestamp: store.FormatTime(now)}
	if _, err := s.mail.Put(ctx, t.Name, m.Name, store.Message{From: store.Lead, Text: frame.Text(), Timestamp: now}); err != nil {
		return id, "", "", fmt.Errorf("ask %s to stop: %w", m.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Ask)
	defer cancel()
	hints, err := s.mail.Watch(ctx, t.Name, leadName(t))
	if err != nil {
		return id, "", "", fmt.Errorf("watch for the answer of %s: %w", m.Name, err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	look := time.NewTicker(time.Second) // a hint may have been lost
	defer look.Stop()
	for read := true; ; {
		if read {
			if answer, reason, found := s.answer(ctx, t, m.Name, id); found {
				return id, answer, reason, nil
			}
		}
		if read = false; !s.running(ctx, t, m) {
			if answer, reason, found := s.answer(ctx, t, m.Name, id); found {
				return id, answer, reason, nil
			}
			return id, api.Exited, "", nil
		}
		select {
		case <-ctx.Done():
			return id, "", "", nil
		case <-tick.C:
		case <-look.C:
			read = true
		case _, ok := <-hints:
			if read = true; !ok {
				hints = nil
			}
		}
	}
}

// answer looks for the member's answer to request id in the lead's box. Only the
// member itself can answer, and only this very request.
func (s *Service) answer(ctx context.Context, t store.Team, name, id string) (answer, reason string, found bool) {
	msgs, err := s.mail.List(ctx, t.Name, leadName(t))
	if err != nil {
		return "", "", false
	}
	for _, msg := range msgs {
		f, ok := store.ParseFrame(msg.Text)
		if !ok || f.RequestID != id || !store.SameName(msg.From, name) {
			continue
		}
		switch f.Type {
		case store.ShutdownApproved:
			answer, found = api.Approved, true
		case store.ShutdownRejected:
			answer, reason, found = api.RejectedStop, f.Reason, true
		}
		if found {
			if t.LedByUs() && !s.caller.Teammate {
				_ = s.mail.MarkRead(ctx, t.Name, leadName(t), []string{msg.ID}) // unread, it would only be seen twice
			}
			return answer, reason, true
		}
	}
	return "", "", false
}

// agreedToStop tells whether a member has approved a shutdown.
func (s *Service) agreedToStop(ctx context.Context, t store.Team, name string) bool {
	msgs, err := s.mail.List(ctx, t.Name, leadName(t))
	if err != nil {
		return false
	}
	for _, msg := range msgs {
		if f, ok := store.ParseFrame(msg.Text); ok && f.Type == store.ShutdownApproved && store.SameName(msg.From, name) {
			return true
		}
	}
	return false
}

// running tells whether the member's host is, as far as can be seen, there.
func (s *Service) running(ctx context.Context, t store.Team, m store.Member) bool {
	o := s.panes.Observe(ctx, t.Name, m.Name, m.Leadlight.Host, deref(m.Leadlight.SpawnedAt))
	return (&api.Member{State: o.State}).Live()
}

// awaitLeaving gives a member that agreed the time to go by itself.
func (s *Service) awaitLeaving(ctx context.Context, t store.Team, m store.Member, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for s.running(ctx, t, m) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// leadName is the name of the lead's mailbox.
func leadName(t store.Team) string {
	for _, m := range t.Members {
		if t.IsLead(m) && !m.Unsafe {
			return m.Name
		}
	}
	return store.Lead
}

// errNoEntry says that a member is not, or no longer, the one that was meant.
var errNoEntry = errors.New("the roster names another host")
