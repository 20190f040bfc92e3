package teams

import (
	"context"
	"fmt"
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
	t, err := s.get(ctx, team)
	if err != nil {
		return nil, err
	}
	var lost []string
	for _, m := range s.observe(ctx, t, t.Teammates()) {
		entry := t.Member(m.Name)
		if entry == nil || entry.Leadlight == nil || entry.Unsafe || m.Live() {
			continue
		}
		first, err := s.reconcileOne(ctx, t, *entry, m)
		if err != nil {
			return lost, err
		}
		if first {
			lost = append(lost, m.Name)
		}
	}
	return lost, nil
}

// reconcileOne does it for one member that does not run any more.
func (s *Service) reconcileOne(ctx context.Context, t store.Team, entry store.Member, m api.Member) (first bool, err error) {
	if settled(entry.Leadlight.State) { // who wrote that down may not have come to the tasks
		return false, s.freeTasks(ctx, t.Name, map[string]string{m.Name: m.State})
	}
	left := ""
	if m.State == api.StateLost {
		// Before the tasks are free: whoever takes one next must not meet the one who had it.
		left = s.panes.EndLeft(ctx, t.Name, m.Name, entry.Leadlight.Host, s.limits.Kill)
	}
	first, err = s.RecordExit(ctx, t.Name, m.Name, entry.Leadlight.Host, panes.Ended{State: m.State, ExitCode: m.ExitCode, Signal: m.Signal, Reason: m.Reason})
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
	if _, err := s.mail.Put(ctx, t.Name, leadName(t), msg); err != nil {
		return first, fmt.Errorf("tell the lead about %s: %w", m.Name, err)
	}
	return first, nil
}
