package teams

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// RecordExit writes down that a member has ended: its roster entry (in a team that
// Claude leads the entry is removed; that of a foreign member is that lead's own), and the tasks it had in progress, which are
// free again with a note who had them. It does nothing if the roster names
// another host than hostID for it or if the end is written down already, so it
// can be called by whoever comes first: the host itself, stop, or who finds the
// member lost. It reports whether it was the one that wrote it down.
func (s *Service) RecordExit(ctx context.Context, team, name, hostID string, o panes.Ended) (first bool, err error) {
	ctx = context.WithoutCancel(ctx)
	if _, m, err := s.find(ctx, team, name); err == nil && m.Leadlight != nil && m.Leadlight.Foreign && m.Leadlight.Host == hostID {
		return false, s.freeTasks(ctx, team, name, o)
	}
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

// freeTasks gives back what a member had in progress. Those of one that is lost
// stay with it if that is set: it is expected to come back.
func (s *Service) freeTasks(ctx context.Context, team, name string, o panes.Ended) error {
	if o.State == api.StateLost && s.limits.OnLoss == KeepTasks {
		return nil
	}
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
