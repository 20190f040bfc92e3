package teams

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// checkPlan checks all that can be checked before anything is made: names, profiles,
// programs, folders, repositories, colours and commands, those of other machines there. It returns every
// mistake, and fills in the machines that the plan leaves open. Teammates whose machine does
// not answer are no mistake.
func (lc *lifecycle) checkPlan(ctx context.Context, p Plan) ([]Missing, error) {
	if err := p.Team.check(); err != nil {
		return nil, err
	}
	t := store.Team{Name: p.Team.Name, Engine: p.Team.Engine, Ours: store.Ours{Schema: store.Schema, Mailbox: p.Team.Mailbox, Cwd: p.Team.Cwd}}
	if err := lc.chooseMachines(ctx, t, p.Members); err != nil {
		return nil, err
	}
	return lc.checkMembers(ctx, t, p)
}

// OfFile returns the team of a name if it was made from that team file; found is false if
// there is no team of the name. A team of another file, or of none, is fault.TeamExists.
func (rg *registry) OfFile(ctx context.Context, name, file string) (t store.Team, found bool, err error) {
	t, err = rg.roster.Get(ctx, name)
	switch {
	case fault.CodeOf(err) == fault.TeamNotFound:
		return t, false, nil
	case err != nil:
		return t, false, rg.explainExisting(ctx, name, fault.TeamExists)
	case t.Ours.File == file && file != "":
		return t, true, nil
	case t.Ours.File != "":
		return t, true, fault.New(fault.TeamExists, "team %s exists: it was made from %s, not from %s", name, t.Ours.File, file).
			WithHint("rename the team in one of the two files, or end that team: leadlight down %s", name)
	}
	return t, true, fault.New(fault.TeamExists, "team %s exists, and was not made from a team file: %s", name, describeLead(t)).WithHint("%s; or choose another name", rg.waysOn(t))
}

// adopt brings a team that is there to what its file says: this process becomes its lead,
// tasks that the file has gained are added, and teammates that do not run are started.
// Nothing is undone when a part of it fails: the team was there before.
// missing are those whose machine does not answer; it returns those of them that do not run.
func (lc *lifecycle) adopt(ctx context.Context, t store.Team, p Plan, missing []Missing, progress func(string)) ([]Missing, error) {
	if err := lc.mayAdopt(ctx, t); err != nil {
		return nil, err
	}
	taken, err := lc.Takeover(ctx, t.Name, TakeoverSpec{Process: p.Team.LeadProcess})
	if err != nil {
		return nil, err
	}
	progress(fmt.Sprintf("team %s is adopted: %d teammates continue", t.Name, len(taken.Adopted)))
	if err := lc.keepFile(ctx, t, p); err != nil {
		return nil, err
	}
	return lc.fill(ctx, t, p, false, missing, progress)
}

// fill gives a team what it lacks of its plan: hooks, tasks and teammates. fresh: it was made
// just now, and nobody is in it.
func (lc *lifecycle) fill(ctx context.Context, t store.Team, p Plan, fresh bool, missing []Missing, progress func(string)) ([]Missing, error) {
	if err := lc.KeepHooks(ctx, t.Name, p.Hooks); err != nil {
		return nil, err
	}
	added, err := lc.addMissing(ctx, t, p, progress)
	if err != nil {
		return nil, err
	}
	if added > 0 && !fresh {
		progress(fmt.Sprintf("tasks added: %d", added))
	}
	return lc.startMissing(ctx, t, p, fresh, missing, progress)
}

// mayAdopt refuses to adopt a team that another process leads.
func (rg *registry) mayAdopt(ctx context.Context, t store.Team) error {
	if t.LeadProcess != nil && !isThisProcess(t.LeadProcess) && leadAlive(t) == signals.Alive {
		return rg.explainExisting(ctx, t.Name, fault.TeamExists)
	}
	return nil
}

// keepFile writes down what the file says now about offering tasks, and in which order its
// teammates stand. Those that it does not have come after them.
func (lc *lifecycle) keepFile(ctx context.Context, t store.Team, p Plan) error {
	place := func(m store.Member) int {
		at := slices.IndexFunc(p.Members, func(spec SpawnSpec) bool { return spec.Name == m.Name })
		if at < 0 && !t.IsLead(m) {
			return len(p.Members)
		}
		return at
	}
	byFile := func(a, b store.Member) int { return cmp.Compare(place(a), place(b)) }
	if t.Ours.Assign == p.Team.Assign && slices.IsSortedFunc(t.Members, byFile) {
		return nil
	}
	return lc.roster.Update(ctx, t.Name, func(now *store.Team) error {
		now.Ours.Assign = p.Team.Assign
		slices.SortStableFunc(now.Members, byFile)
		return nil
	})
}

// addMissing adds the tasks of a plan that the team does not have yet. Its workers may take
// one at once: each is added after those that it waits for, with what it waits for. Where no
// teammate is, nobody takes one: they are added in their order, and what they wait for is
// written then, also for those of an earlier up that was cut off before it came to that.
func (lc *lifecycle) addMissing(ctx context.Context, t store.Team, p Plan, progress func(string)) (added int, err error) {
	list, _, err := lc.tasks.List(ctx, p.Team.Name)
	if err != nil {
		return 0, fmt.Errorf("list tasks: %w", err)
	}
	ids, begun, late := make([]string, len(p.Tasks)), make([]bool, len(p.Tasks)), make([]bool, len(p.Tasks))
	steps, alone := taskSteps(p, list)[:len(p.Tasks)], len(t.Teammates()) == 0
	for i, step := range steps {
		ids[i], begun[i] = step.ID, step.Do != StepAdd
		late[i] = step.Do != StepRetry && alone
		if err := lc.trustPlanned(ctx, t.Name, p.Tasks[i], list, step.ID); err != nil {
			return 0, err
		}
	}
	var add func(i int) error
	add = func(i int) (err error) {
		begun[i] = true
		spec := p.Tasks[i]
		var waitsFor []string
		for _, n := range blockers(p, i) {
			if alone {
				break
			}
			if !begun[n] {
				if err := add(n); err != nil {
					return err
				}
			}
			if late[i] = late[i] || ids[n] == ""; ids[n] != "" { // "": the two wait for one another
				waitsFor = append(waitsFor, ids[n])
			}
		}
		if ids[i], err = lc.addPlannedTask(ctx, p.Team.Name, i, spec, waitsFor); err == nil {
			added++
		}
		return err
	}
	for i := range p.Tasks {
		if !begun[i] {
			if err := add(i); err != nil {
				return added, err
			}
		}
	}
	if err := lc.blockPlanned(ctx, p, ids, late); err != nil {
		return added, err
	}
	return added, lc.retryFailed(ctx, p, steps, ids, progress)
}

// retryFailed frees the tasks of a plan that have failed, once all are there that they may
// wait for.
func (lc *lifecycle) retryFailed(ctx context.Context, p Plan, steps []Step, ids []string, progress func(string)) error {
	for i, step := range steps {
		if step.Do != StepRetry {
			continue
		}
		progress(fmt.Sprintf("task %s %s has failed: it is tried again", step.ID, step.Name))
		if err := lc.retryPlanned(ctx, p.Team.Name, step.ID, p.Tasks[i], blockerIDs(p, i, ids)); err != nil {
			return err
		}
	}
	return nil
}

// retryPlanned frees a task that has failed, as the file has it now.
func (lc *lifecycle) retryPlanned(ctx context.Context, team, id string, spec TaskSpec, waitsFor []string) error {
	_, err := lc.tasks.Update(ctx, team, id, func(t *store.Task) error {
		if t.State() != store.FailedTask {
			return nil // somebody else was faster
		}
		if line, ok := RunOf(spec.Metadata); ok { // first: a worker may take it at once
			if err := lc.panes.Records().TrustRun(ctx, team, id, line); err != nil {
				return err
			}
		}
		t.Description, t.ActiveForm, t.Failure, t.BlockedBy = spec.Description, spec.ActiveForm, "", waitsFor
		maps.DeleteFunc(t.Metadata, func(key string, _ json.RawMessage) bool {
			return !store.OwnMeta(key) && key != usageKey && key != noteKey
		})
		for k, v := range spec.Metadata {
			t.SetMeta(k, v)
		}
		t.Assign(spec.Owner)
		return nil
	})
	if err != nil {
		return fmt.Errorf("try task %s again: %w", id, err)
	}
	return nil
}

// trustPlanned notes that the command of a task comes from the team file, if the task that is
// there has that very command.
func (lc *lifecycle) trustPlanned(ctx context.Context, team string, spec TaskSpec, list []store.Task, id string) error {
	line, ok := RunOf(spec.Metadata)
	if !ok || lc.panes.Records().TrustedRun(ctx, team, id, line) || !slices.ContainsFunc(list, func(t store.Task) bool {
		has, _ := RunOf(t.Metadata)
		return t.ID == id && has == line
	}) {
		return nil
	}
	if err := lc.panes.Records().TrustRun(ctx, team, id, line); err != nil {
		return fmt.Errorf("task %s: %w", id, err)
	}
	return nil
}

// starting is one call of startMissing.
type starting struct {
	*lifecycle
	p        Plan
	fresh    bool
	progress func(string)
	missing  []Missing
	left     []string // who does not run, the missing among them
	errs     []error
}

// startMissing starts the teammates of a plan that do not run: a lost one goes on with its
// conversation, any other one begins anew. What is not proved to be gone is left alone. mutes
// are those whose machine does not answer; it returns those of them that do not run. was is the
// team before; of a fresh one nobody stays if one does not start.
func (lc *lifecycle) startMissing(ctx context.Context, was store.Team, p Plan, fresh bool, mutes []Missing, progress func(string)) ([]Missing, error) {
	members, err := lc.arrived(ctx, p.Team.Name, progress)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(members, func(m api.Member) bool { return m.State == api.StateLost }) { // perhaps only since the takeover: its tasks are free, too
		if _, err := lc.Reconcile(ctx, p.Team.Name); err != nil {
			return nil, err
		}
	}
	r, steps := &starting{lifecycle: lc, p: p, fresh: fresh, progress: progress}, memberSteps(p, members)
	anew := r.goOn(ctx, steps, mutes)
	for i, done := range lc.telling(progress).Spawn(ctx, p.Team.Name, anew) {
		r.note(anew[i].Name, "start %s: %w", done.Err)
	}
	if fresh && len(r.errs) > 0 {
		return nil, r.errs[0]
	}
	if n := len(p.Members) - len(r.missing); fresh && n == 1 {
		progress("1 teammate is started")
	} else if fresh && n > 1 {
		progress(fmt.Sprintf("%d teammates are started", n))
	}
	for _, step := range steps[len(p.Members):] {
		if (&api.Member{State: step.State}).Live() {
			progress(step.Name + " is not in the file: it is left as it is")
		}
	}
	return r.missing, errors.Join(append(r.errs, lc.noteUnstarted(ctx, was, r.left), lc.assignPlanned(ctx, p.Team.Name))...)
}

// goOn leaves those alone that run, or may, and starts the lost again. It returns those that
// begin anew.
func (r *starting) goOn(ctx context.Context, steps []Step, mutes []Missing) (anew []SpawnSpec) {
	after := store.Lead
	for i, spec := range r.p.Members {
		spec.After, after = after, spec.Name
		m := isMissing(mutes, spec.Name)
		switch {
		case steps[i].Do == StepAdopt && m != nil:
			r.progress(fmt.Sprintf("%s is left as it is: %s", spec.Name, fault.Of(m.Err).Message))
		case steps[i].Do == StepAdopt:
		case m != nil:
			r.note(spec.Name, "", m.Err)
		case steps[i].State == api.StateLost && r.wasLaunched(ctx, r.p.Team.Name, spec.Name):
			r.progress(spec.Name + " was lost: it is started again")
			if _, err := r.Restart(ctx, r.p.Team.Name, spec.Name); err != nil {
				r.note(spec.Name, "start %s again: %w", err)
			}
		default:
			spec.Layout = r.p.Layout
			anew = append(anew, spec)
		}
	}
	return anew
}

// note keeps what became of the start of a teammate, and says so.
func (r *starting) note(name, what string, err error) {
	if err == nil {
		if !r.fresh {
			r.progress(name + " is started")
		}
		return
	}
	if r.left = append(r.left, name); !leftOut(&r.missing, name, err, r.progress) {
		r.errs = append(r.errs, fmt.Errorf(what, name, err))
	}
}

// arrivalLimit is how long up waits for teammates that somebody else has begun to start.
const arrivalLimit = time.Minute

// arrived returns the teammates once none of them is on its way: one whose up was killed
// may never come.
func (lc *lifecycle) arrived(ctx context.Context, team string, progress func(string)) ([]api.Member, error) {
	limit := time.Now().Add(arrivalLimit)
	for said := ""; ; {
		members, _, err := lc.Members(ctx, team, true)
		at := slices.IndexFunc(members, func(m api.Member) bool { return m.State == api.StateStarting && m.PID == 0 })
		if err != nil || at < 0 || time.Now().After(limit) {
			return members, err
		}
		if name := members[at].Name; name != said {
			progress(name + " is about to start: up waits for it")
			said = name
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// wasLaunched tells whether it is known how a teammate was started.
func (lc *lifecycle) wasLaunched(ctx context.Context, team, name string) bool {
	_, err := lc.panes.Records().Launch(ctx, team, name)
	return err == nil
}

// blockPlanned writes what the tasks of a plan wait for. ids are those of the plan's tasks,
// only those that are chosen are changed.
func (lc *lifecycle) blockPlanned(ctx context.Context, p Plan, ids []string, chosen []bool) error {
	for i, spec := range p.Tasks {
		if len(spec.BlockedBy) == 0 || !chosen[i] {
			continue
		}
		_, err := lc.tasks.Update(ctx, p.Team.Name, ids[i], func(t *store.Task) error {
			for _, id := range blockerIDs(p, i, ids) {
				if !slices.Contains(t.BlockedBy, id) {
					t.BlockedBy = append(t.BlockedBy, id)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("task %d: %w", i+1, err)
		}
	}
	return nil
}

// blockers are the indexes of the tasks that a task of a plan waits for.
func blockers(p Plan, i int) (all []int) {
	for _, pos := range p.Tasks[i].BlockedBy {
		if n, err := strconv.Atoi(pos); err == nil && n >= 1 && n <= len(p.Tasks) {
			all = append(all, n-1)
		}
	}
	return all
}

// blockerIDs are the ids of the tasks that a task of a plan waits for.
func blockerIDs(p Plan, i int, ids []string) (all []string) {
	for _, n := range blockers(p, i) {
		all = append(all, ids[n])
	}
	return all
}
