package teams

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Reconcile brings what is remembered of a team into line with what is there.
// Members that run are adopted by being observed: nothing needs to be done. For
// each that is proved to be gone without having said so it ends what its host left
// running, writes down the end, frees its tasks, and tells the lead, once. It
// returns their names.
func (s *Service) Reconcile(ctx context.Context, team string) ([]string, error) {
	found, err := s.reconcile(ctx, team, false)
	var lost []string
	for _, o := range found {
		if o.Kind == memberKind {
			name, _, _ := strings.Cut(o.What, "@")
			lost = append(lost, name)
		}
	}
	return lost, err
}

// memberKind is the kind of an orphan that is an entry of a roster.
const memberKind = "member"

// reconcile is Reconcile; it returns what it did, or, with dryRun, what it would do.
func (s *Service) reconcile(ctx context.Context, team string, dryRun bool) ([]api.Orphan, error) {
	t, err := s.get(ctx, team)
	if err != nil {
		return nil, err
	}
	var out []api.Orphan
	for _, m := range s.observe(ctx, t, t.Teammates()) {
		entry := t.Member(m.Name)
		if entry == nil || entry.Leadlight == nil || entry.Unsafe || s.elsewhere(*entry) || m.Live() {
			continue
		}
		did, err := s.reconcileOne(ctx, t, *entry, m, dryRun)
		if out = append(out, did...); err != nil {
			return out, err
		}
	}
	return out, nil
}

// reconcileOne does it for one member that does not run any more.
func (s *Service) reconcileOne(ctx context.Context, t store.Team, entry store.Member, m api.Member, dryRun bool) (did []api.Orphan, err error) {
	if settled(entry.Leadlight.State) { // who wrote that down may not have come to the tasks
		if dryRun {
			return nil, nil
		}
		return nil, s.freeTasks(ctx, t.Name, map[string]string{m.Name: m.State})
	}
	left := ""
	if m.State == api.StateLost {
		// Before the tasks are free: whoever takes one next must not meet the one who had it.
		target := panes.Target{Team: t.Name, Agent: m.Name, Host: entry.Leadlight.Host}
		if l, found := s.panes.Left(ctx, target); found {
			did = append(did, remove(ctx, api.Orphan{Kind: l.Kind, What: l.What, Why: l.Why, Kept: l.Kept}, l.Remove, dryRun))
			left = tellLeft(did[0])
		}
	}
	o := api.Orphan{Kind: memberKind, What: m.Name + "@" + t.Name, Why: "it is " + m.State}
	if m.Reason != "" {
		o.Why += ": " + m.Reason
	}
	if dryRun {
		return append(did, o), nil
	}
	first, err := s.recordLoss(ctx, t, entry, m, left)
	if o.Removed = first; first {
		did = append(did, o)
	}
	return did, err
}

// tellLeft is a sentence about what a lost member left running, with a space before it.
func tellLeft(o api.Orphan) string {
	if o.Removed {
		return " It had left processes, which were ended: " + o.What + "."
	}
	return " It has left " + o.What + ", which could not be ended: " + o.Kept + "."
}

// recordLoss writes down that a member has ended, and tells the lead of one that is lost.
func (s *Service) recordLoss(ctx context.Context, t store.Team, entry store.Member, m api.Member, left string) (first bool, err error) {
	before, err := s.RecordExit(ctx, t.Name, m.Name, entry.Leadlight.Host, panes.ExitRecord{State: m.State, ExitCode: m.ExitCode, Signal: m.Signal, Reason: m.Reason})
	first = before != ""
	if err != nil || !first || m.State != api.StateLost || !t.LedByUs() {
		return first, err
	}
	text := fmt.Sprintf("%s is lost: %s.%s", m.Name, m.Reason, left)
	if s.limits.OnLoss == KeepTasks {
		text += " Its tasks stay with it."
	} else {
		text += " Its tasks are free again."
	}
	msg := store.Message{From: m.Name, Text: text, Summary: m.Name + " is lost", Timestamp: time.Now()}
	if _, err := s.post(ctx, t, leadName(t), msg); err != nil {
		return first, fmt.Errorf("tell the lead about %s: %w", m.Name, err)
	}
	return first, nil
}
