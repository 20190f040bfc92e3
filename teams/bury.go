package teams

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Bury writes down that a member has ended: its roster entry (in a team that
// Claude leads the entry is removed), and the tasks it had in progress, which are
// free again with a note who had them. It does nothing if the roster names
// another host than hostID for it or if the end is written down already, so it
// can be called by whoever comes first: the host itself, stop, or who finds the
// member lost. It reports whether it was the one that wrote it down.
func (s *Service) Bury(ctx context.Context, team, name, hostID string, o panes.Ended) (first bool, err error) {
	ctx = context.WithoutCancel(ctx)
	err = s.roster.Update(ctx, team, func(t *store.Team) error {
		m := t.Member(name)
		if m == nil || m.Leadlight == nil || m.Leadlight.Host != hostID {
			return errNoEntry
		}
		if !t.LedByUs() {
			kept := t.Members[:0:0]
			for _, other := range t.Members {
				if other.Name != m.Name {
					kept = append(kept, other)
				}
			}
			t.Members = kept
			return nil
		}
		if settled(m.Leadlight.State) && o.State != api.StateStopped {
			return errNoEntry
		}
		b := *m.Leadlight
		if !settled(b.State) {
			b.StoppedAt = ptr(time.Now())
			b.ExitCode, b.Signal, b.Reason = o.ExitCode, o.Signal, o.Reason
		}
		b.State = o.State
		m.Leadlight, m.IsActive = &b, ptr(false)
		return nil
	})
	switch {
	case errors.Is(err, errNoEntry) || fault.CodeOf(err) == fault.TeamNotFound:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("write down the end of %s: %w", name, err)
	}
	return true, s.freeTasks(ctx, team, name, o)
}

// freeTasks gives back what a member had in progress.
func (s *Service) freeTasks(ctx context.Context, team, name string, o panes.Ended) error {
	tasks, _, err := s.tasks.List(ctx, team)
	if err != nil {
		return fmt.Errorf("free the tasks of %s: %w", name, err)
	}
	var errs []error
	for _, task := range tasks {
		if task.Status != store.InProgress || !store.SameName(task.Owner, name) {
			continue
		}
		_, err := s.tasks.Update(ctx, team, task.ID, func(t *store.Task) error {
			if t.Status != store.InProgress || !store.SameName(t.Owner, name) {
				return errNoEntry
			}
			t.Status, t.Owner = store.Pending, ""
			setNote(t, fmt.Sprintf("released: %s had it and is %s", name, o.State))
			return nil
		})
		if err != nil && !errors.Is(err, errNoEntry) && fault.CodeOf(err) != fault.TaskNotFound {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Reconcile writes down the end of members that are proved to be lost, and tells
// the lead of each once. It returns their names.
func (s *Service) Reconcile(ctx context.Context, team string) ([]string, error) {
	t, err := s.get(ctx, team)
	if err != nil {
		return nil, err
	}
	var lost []string
	for _, m := range s.observe(ctx, t, t.Teammates()) {
		entry := t.Member(m.Name)
		if entry == nil || entry.Leadlight == nil || m.Live() {
			continue
		}
		if settled(entry.Leadlight.State) { // who wrote that down may not have come to the tasks
			if err := s.freeTasks(ctx, team, m.Name, panes.Ended{State: m.State}); err != nil {
				return lost, err
			}
			continue
		}
		first, err := s.Bury(ctx, team, m.Name, entry.Leadlight.Host, panes.Ended{State: m.State, ExitCode: m.ExitCode, Signal: m.Signal, Reason: m.Reason})
		if err != nil {
			return lost, err
		}
		if !first {
			continue
		}
		lost = append(lost, m.Name)
		if m.State == api.StateLost && t.LedByUs() {
			text := fmt.Sprintf("%s is lost: %s. Its tasks are free again.", m.Name, m.Reason)
			if _, err := s.mail.Put(ctx, team, leadName(t), store.Message{From: m.Name, Text: text, Summary: m.Name + " is lost", Timestamp: time.Now()}); err != nil {
				return lost, fmt.Errorf("tell the lead about %s: %w", m.Name, err)
			}
		}
	}
	return lost, nil
}
