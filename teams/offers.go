package teams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// AssignOff is the value of lifecycle.assign with which nobody is offered a task that has
// no owner.
const AssignOff = "off"

// offers are what was said about tasks, by their ids.
type offers struct {
	Tasks map[string]offer `json:"tasks"`
}

// Offer tells the teammates of a team what waits for them, as snap shows it: an owner of
// its task, once the task is ready; and one idle teammate at a prompt after the other of a
// ready task that nobody owns. Who does not take it is reminded once, then the next is
// told, and the lead. again is when to look again although nothing has changed; 0: never.
func (s *Service) Offer(ctx context.Context, team string, snap Snapshot) (again time.Duration, err error) {
	if snap.Completed() {
		return 0, nil
	}
	t, err := s.get(ctx, team)
	if err != nil || !t.LedByUs() {
		return 0, err
	}
	records := s.panes.Records()
	known, err := offersRecord().Read(ctx, records, t.Name)
	if err != nil {
		return 0, fmt.Errorf("read the offers of team %s: %w", t.Name, err)
	}
	snap.Members = s.ofHere(t, snap.Members)
	auto := cmp.Or(t.Ours.Assign, s.limits.Assign) != AssignOff
	o := newOffering(time.Now(), auto, snap, known.Tasks)
	if o.decide(); !o.changed {
		return o.again, nil
	}
	err = offersRecord().Edit(ctx, records, t.Name, "offer tasks", func(now *offers) (bool, error) {
		o = newOffering(time.Now(), auto, snap, now.Tasks)
		o.decide()
		now.Tasks = o.offers
		return o.changed, nil
	})
	if err != nil {
		return 0, fmt.Errorf("write the offers of team %s: %w", t.Name, err)
	}
	var errs []error
	for _, n := range o.notices {
		errs = append(errs, s.notify(ctx, t, n))
	}
	return o.again, errors.Join(errs...)
}

// ofHere leaves out those who run on other machines, which tell them themselves.
func (s *Service) ofHere(t store.Team, members []api.Member) []api.Member {
	return slices.DeleteFunc(slices.Clone(members), func(seen api.Member) bool {
		m := t.Member(seen.Name)
		return m != nil && s.elsewhere(*m)
	})
}

// notify sends one notice. One that is lost is made good by the reminder.
func (s *Service) notify(ctx context.Context, t store.Team, n notice) error {
	m := t.Member(n.member)
	if m == nil || m.Unsafe || s.impersonatesLead(t, *m) {
		return nil
	}
	if n.toLead {
		return s.tellLead(ctx, t, *m, n.text, n.summary)
	}
	text, from := n.text, s.caller.Name
	if s.caller.Teammate {
		from = leadName(t) // nobody gets mail of its own
	}
	if text == "" {
		text = s.assignment(from, n.task.ID, n.task.Subject, n.task.Description)
	}
	if _, err := s.post(ctx, t, m.Name, store.Message{From: from, Text: text, Summary: n.summary, Timestamp: time.Now()}); err != nil {
		return fmt.Errorf("tell %s of task %s: %w", m.Name, n.task.ID, err)
	}
	return nil
}

// assignment is the text that tells somebody of a task, as Claude Code has it.
func (s *Service) assignment(by, id, subject, description string) string {
	return store.Frame{
		Type: store.TaskAssignment, TaskID: id, Subject: subject, Description: description, AssignedBy: by,
		Timestamp: store.FormatTime(time.Now()),
	}.Text()
}

// assign tells the one a task is meant for about it, if nothing is in its way. began is
// when the change began that made it so: who watches the team may have told it since.
func (s *Service) assign(ctx context.Context, t store.Team, task store.Task, began time.Time) error {
	m := meant(t, task)
	if m == nil || store.SameName(m.Name, s.caller.Name) || s.elsewhere(*m) {
		return nil
	}
	return s.assignTo(ctx, t, task, *m, began)
}

// meant is the member whom a task is meant for, nil if there is none.
func meant(t store.Team, task store.Task) *store.Member {
	return t.Member(cmp.Or(task.Owner, task.AssignedTo()))
}

// assignTo is assign for a task that is meant for m.
func (s *Service) assignTo(ctx context.Context, t store.Team, task store.Task, m store.Member, began time.Time) error {
	if state := task.State(); state != store.Pending && state != store.InProgress || !s.reads(t, m) {
		return nil
	}
	told := false
	err := offersRecord().Edit(ctx, s.panes.Records(), t.Name, "tell of a task", func(now *offers) (bool, error) {
		was := now.Tasks[task.ID]
		if told = store.SameName(was.To, m.Name) && was.At.After(began); told {
			return false, nil
		}
		if now.Tasks == nil {
			now.Tasks = map[string]offer{}
		}
		now.Tasks[task.ID] = offer{To: m.Name, At: time.Now(), Stage: stageTold}
		return true, nil
	})
	if err != nil {
		s.log.Warn("write down who was told of a task", "team", t.Name, "task", task.ID, "error", err) // told twice is better than never
	}
	if told {
		return nil
	}
	from := s.caller.Name
	if store.SameName(from, m.Name) {
		from = leadName(t) // what somebody sends itself is not mail that waits for it
	}
	text := s.assignment(from, task.ID, task.Subject, task.Description)
	if _, err := s.post(ctx, t, m.Name, store.Message{From: from, Text: text, Timestamp: time.Now()}); err != nil {
		return fmt.Errorf("the task is written, but %s could not be told: %w", m.Name, err)
	}
	return nil
}

// reads tells whether a member reads mail of ours about its tasks. A worker reads the
// list of tasks itself.
func (s *Service) reads(t store.Team, m store.Member) bool {
	return !m.Unsafe && !t.IsLead(m) && !s.impersonatesLead(t, m) && (m.Leadlight == nil || m.Leadlight.Kind != profiles.Worker)
}

// assignUnblocked tells the owners of those tasks that waited for task, which is completed
// or gone, and wait for nothing else. An agent at a prompt that has completed it itself
// does not look what it has made ready: it is told, too.
func (s *Service) assignUnblocked(ctx context.Context, t store.Team, task store.Task, began time.Time) error {
	var errs []error
	for _, id := range task.Blocks {
		next, err := s.tasks.Get(ctx, t.Name, id)
		switch {
		case fault.CodeOf(err) == fault.TaskNotFound:
		case err != nil:
			errs = append(errs, fmt.Errorf("look at task %s, which waited: %w", id, err))
		case next.State() != store.Pending:
		default:
			m := meant(t, next)
			if m != nil && (!store.SameName(m.Name, s.caller.Name) || m.Leadlight != nil && (m.Leadlight.Kind == profiles.Interactive || m.Leadlight.Kind == profiles.ACP)) {
				errs = append(errs, s.assignTo(ctx, t, next, *m, began))
			}
		}
	}
	return errors.Join(errs...)
}

// unattended tells whether no process leads a team in which agents at prompts run that are to
// be offered tasks.
func (s *Service) unattended(t store.Team) bool {
	offered := func(m store.Member) bool {
		return m.Leadlight != nil && !settled(m.Leadlight.State) && atPrompt(m.Leadlight.Kind)
	}
	if !t.LedByUs() || cmp.Or(t.Ours.Assign, s.limits.Assign) == AssignOff || !slices.ContainsFunc(t.Teammates(), offered) {
		return false
	}
	return t.LeadProcess == nil || leadAlive(t) == signals.Gone // unknown is not dead
}

// OfferUnattended is Offer for a team that no process leads: who changes a task, and the host
// of an agent that comes to rest, sees to it then. again is as there.
func (s *Service) OfferUnattended(ctx context.Context, team string) (again time.Duration) {
	t, err := s.get(ctx, team)
	if err != nil {
		return 0
	}
	return s.offerIn(ctx, t)
}

func (s *Service) offerIn(ctx context.Context, t store.Team) (again time.Duration) {
	if !s.unattended(t) {
		return 0
	}
	snap, err := s.Snapshot(ctx, t.Name)
	if err == nil {
		again, err = s.Offer(ctx, t.Name, snap)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("offer tasks", "team", t.Name, "error", err) // the next one who sees to it makes it good
	}
	return again
}
