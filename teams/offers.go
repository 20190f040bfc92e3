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
func (tl *tasklist) Offer(ctx context.Context, team string, snap Snapshot) (again time.Duration, err error) {
	if snap.Completed() {
		return 0, nil
	}
	t, err := tl.get(ctx, team)
	if err != nil || !t.LedByUs() {
		return 0, err
	}
	records := tl.panes.Records()
	known, err := offersRecord().Read(ctx, records, t.Name)
	if err != nil {
		return 0, fmt.Errorf("read the offers of team %s: %w", t.Name, err)
	}
	snap.Members = tl.ofHere(t, snap.Members)
	auto := cmp.Or(t.Ours.Assign, tl.limits.Assign) != AssignOff
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
		errs = append(errs, tl.notify(ctx, t, n))
	}
	return o.again, errors.Join(errs...)
}

// ofHere leaves out those who run on other machines, which tell them themselves.
func (tl *tasklist) ofHere(t store.Team, members []api.Member) []api.Member {
	return slices.DeleteFunc(slices.Clone(members), func(seen api.Member) bool {
		m := t.Member(seen.Name)
		return m != nil && tl.elsewhere(*m)
	})
}

// notify sends one notice. One that is lost is made good by the reminder. None is sent of a
// task whose state has changed since it was looked at: others may have told somebody of it,
// who has begun or completed it since.
func (tl *tasklist) notify(ctx context.Context, t store.Team, n notice) error {
	m := t.Member(n.member)
	if m == nil || m.Unsafe || tl.impersonatesLead(t, *m) {
		return nil
	}
	if now, err := tl.tasks.Get(ctx, t.Name, n.task.ID); err == nil && now.State() != n.task.Status {
		return nil
	}
	if n.toLead {
		return tl.tellLead(ctx, t, *m, n.text, n.summary)
	}
	from := tl.caller.Name
	if tl.caller.Teammate {
		from = leadName(t) // nobody gets mail of its own
	}
	text := cmp.Or(n.text, tl.assignment(from, n.task.ID, n.task.Subject, n.task.Description))
	if _, err := tl.post(ctx, t, m.Name, store.Message{From: from, Text: text, Summary: n.summary, Timestamp: time.Now()}); err != nil {
		return fmt.Errorf("tell %s of task %s: %w", m.Name, n.task.ID, err)
	}
	return nil
}

// assignment is the text that tells somebody of a task, as Claude Code has it.
func (tl *tasklist) assignment(by, id, subject, description string) string {
	return store.Frame{
		Type: store.TaskAssignment, TaskID: id, Subject: subject, Description: description, AssignedBy: by,
		Timestamp: store.FormatTime(time.Now()),
	}.Text()
}

// assign tells the one a task is meant for about it, if nothing is in its way. began is
// when the change began that made it so: who watches the team may have told it since.
func (tl *tasklist) assign(ctx context.Context, t store.Team, task store.Task, began time.Time) error {
	m := meant(t, task)
	if m == nil || store.SameName(m.Name, tl.caller.Name) || tl.elsewhere(*m) {
		return nil
	}
	return tl.tell(ctx, t, []given{{task, *m}}, began)
}

// meant is the member whom a task is meant for, nil if there is none.
func meant(t store.Team, task store.Task) *store.Member {
	return t.Member(cmp.Or(task.Owner, task.AssignedTo()))
}

// given is a task and the member whom it is meant for.
type given struct {
	task store.Task
	to   store.Member
}

// tell tells members of what is meant for them. What was said is written down at once for all.
func (tl *tasklist) tell(ctx context.Context, t store.Team, all []given, began time.Time) error {
	all = slices.DeleteFunc(all, func(g given) bool {
		state := g.task.State()
		return state != store.Pending && state != store.InProgress || !tl.reads(t, g.to)
	})
	if len(all) == 0 {
		return nil
	}
	untold := all
	err := offersRecord().Edit(ctx, tl.panes.Records(), t.Name, "tell of a task", func(now *offers) (bool, error) {
		untold = nil
		for _, g := range all {
			was := now.Tasks[g.task.ID]
			if store.SameName(was.To, g.to.Name) && was.At.After(began) && !was.At.After(time.Now()) {
				continue
			}
			if now.Tasks == nil {
				now.Tasks = map[string]offer{}
			}
			now.Tasks[g.task.ID] = offer{To: g.to.Name, At: time.Now(), Stage: stageTold}
			untold = append(untold, g)
		}
		return len(untold) > 0, nil
	})
	if err != nil {
		tl.log.Warn("write down who was told of a task", "team", t.Name, "task", all[0].task.ID, "error", err) // told twice is better than never
	}
	var errs []error
	for _, g := range tl.unchanged(ctx, t, untold) {
		from := tl.caller.Name
		if store.SameName(from, g.to.Name) {
			from = leadName(t) // what somebody sends itself is not mail that waits for it
		}
		text := tl.assignment(from, g.task.ID, g.task.Subject, g.task.Description)
		if _, err := tl.post(ctx, t, g.to.Name, store.Message{From: from, Text: text, Timestamp: time.Now()}); err != nil {
			errs = append(errs, fmt.Errorf("the task is written, but %s could not be told: %w", g.to.Name, err))
		}
	}
	return errors.Join(errs...)
}

// unchanged leaves out the tasks whose state has changed since they were looked at, as notify does.
func (tl *tasklist) unchanged(ctx context.Context, t store.Team, all []given) []given {
	ids := make([]string, len(all))
	for i, g := range all {
		ids[i] = g.task.ID
	}
	now, _ := tl.those(ctx, t, ids) // of what cannot be read it is told
	return slices.DeleteFunc(all, func(g given) bool {
		return slices.ContainsFunc(now, func(is store.Task) bool { return is.ID == g.task.ID && is.State() != g.task.State() })
	})
}

// reads tells whether a member reads mail of ours about its tasks. A worker reads the
// list of tasks itself.
func (tl *tasklist) reads(t store.Team, m store.Member) bool {
	return !m.Unsafe && !t.IsLead(m) && !tl.impersonatesLead(t, m) && (m.Leadlight == nil || m.Leadlight.Kind != profiles.Worker)
}

// assignUnblocked tells the owners of those tasks that waited for task, which is completed
// or gone, and wait for nothing else. An agent at a prompt that has completed it itself
// does not look what it has made ready: it is told, too.
func (tl *tasklist) assignUnblocked(ctx context.Context, t store.Team, task store.Task, began time.Time) error {
	var free []given
	next, errs := tl.those(ctx, t, task.Blocks)
	for _, next := range next {
		m := meant(t, next)
		if next.State() == store.Pending && m != nil && (!store.SameName(m.Name, tl.caller.Name) || m.Leadlight != nil && (m.Leadlight.Kind == profiles.Interactive || m.Leadlight.Kind == profiles.ACP)) {
			free = append(free, given{next, *m})
		}
	}
	return errors.Join(append(errs, tl.tell(ctx, t, free, began))...)
}

// manyTasks is from how many on one look at the list costs less than one at each.
const manyTasks = 4

// those returns the tasks of ids that are there.
func (tl *tasklist) those(ctx context.Context, t store.Team, ids []string) (out []store.Task, errs []error) {
	known := map[string]store.Task{}
	if len(ids) >= manyTasks {
		list, _, err := tl.tasks.List(ctx, t.Name)
		if err != nil {
			return nil, []error{fmt.Errorf("look at the tasks that waited: %w", err)}
		}
		for _, task := range list {
			known[task.ID] = task
		}
	}
	for _, id := range ids {
		task, ok := known[id]
		if !ok { // not there, or something is wrong with it
			var err error
			if task, err = tl.tasks.Get(ctx, t.Name, id); fault.CodeOf(err) == fault.TaskNotFound {
				continue
			} else if err != nil {
				errs = append(errs, fmt.Errorf("look at task %s, which waited: %w", id, err))
				continue
			}
		}
		out = append(out, task)
	}
	return out, errs
}

// unattended tells whether no process leads a team in which agents at prompts run that are to
// be offered tasks.
func (tl *tasklist) unattended(t store.Team) bool {
	offered := func(m store.Member) bool {
		return m.Leadlight != nil && !settled(m.Leadlight.State) && atPrompt(m.Leadlight.Kind)
	}
	if !t.LedByUs() || cmp.Or(t.Ours.Assign, tl.limits.Assign) == AssignOff || !slices.ContainsFunc(t.Teammates(), offered) {
		return false
	}
	return t.LeadProcess == nil || leadAlive(t) == signals.Gone // unknown is not dead
}

// OfferUnattended is Offer for a team that no process leads: who changes a task, and the host
// of an agent that comes to rest, sees to it then. again is as there.
func (tl *tasklist) OfferUnattended(ctx context.Context, team string) (again time.Duration) {
	t, err := tl.get(ctx, team)
	if err != nil {
		return 0
	}
	return tl.offerIn(ctx, t)
}

func (tl *tasklist) offerIn(ctx context.Context, t store.Team) (again time.Duration) {
	if !tl.unattended(t) {
		return 0
	}
	snap, err := tl.Snapshot(ctx, t.Name)
	if err == nil {
		again, err = tl.Offer(ctx, t.Name, snap)
	}
	if err != nil && ctx.Err() == nil {
		tl.log.Warn("offer tasks", "team", t.Name, "error", err) // the next one who sees to it makes it good
	}
	return again
}
