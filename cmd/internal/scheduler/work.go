package scheduler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/runs"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Fields of a task's metadata that tell what it is for.
const (
	keyTask        = "teamRunTask" // id of the child task in the database
	keyRun         = "teamRun"
	keyItem        = "teamItem"
	keyPersonality = "personality"
	keyGuidance    = "roleGuidance" // a worker has no prompt: its command reads this
	keyModel       = "model"
)

// settle writes down how items have ended, and returns those that have not.
func (c *runController) settle(ctx context.Context, r api.AgentTeamRun, open []runs.ActiveItem, snap teams.Snapshot) ([]runs.ActiveItem, error) {
	var active []runs.ActiveItem
	var later error
	for _, f := range open {
		task := taskOf(snap.Tasks, f.TaskID)
		status, result := verdict(task)
		if status == "" {
			if err := c.keepUp(ctx, r, f, snap); err != nil {
				if passing(err) {
					later, active = err, append(active, f)
					continue
				}
				status, result = api.ItemFailed, fault.Of(err).Message
				if err := c.giveUp(ctx, task, result); err != nil {
					return nil, err
				}
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if status == "" {
			active = append(active, f)
			continue
		}
		if task != nil && task.Usage != nil {
			if err := c.s.store.Spent(ctx, f.TaskID, *task.Usage); err != nil {
				return nil, err
			}
		}
		if err := c.s.store.Complete(ctx, r.ID, f.TaskID, status, result); err != nil {
			return nil, err
		}
		if at := endOf(task); !at.IsZero() && time.Since(at) > time.Second { // no daemon has run since
			if err := c.s.store.EndedAt(ctx, f.TaskID, at); err != nil {
				return nil, err
			}
		}
	}
	c.account(active)
	return active, later
}

// giveUp lets nobody claim the live team's task of an item that has failed without it.
func (c *runController) giveUp(ctx context.Context, task *api.Task, why string) error {
	if task == nil || ctx.Err() != nil {
		return nil
	}
	_, err := c.svc.FailTask(ctx, c.place.LiveTeam, task.ID, why)
	return err
}

// taskOf finds the live team's task of a child task.
func taskOf(tasks []api.Task, id string) *api.Task {
	for i, t := range tasks {
		var of string
		if raw, ok := t.Metadata[keyTask]; ok && json.Unmarshal(raw, &of) == nil && of == id {
			return &tasks[i]
		}
	}
	return nil
}

// verdict says how a task has ended, "" if it has not.
func verdict(t *api.Task) (status, result string) {
	switch {
	case t == nil:
		return "", ""
	case t.Status == store.Completed:
		return api.ItemDone, t.Result
	case t.Status == store.FailedTask:
		return api.ItemFailed, t.Failure
	}
	return "", ""
}

// endOf is when a task has ended, zero if it has not or does not say.
func endOf(t *api.Task) time.Time {
	if status, _ := verdict(t); status == "" {
		return time.Time{}
	}
	return time.Time(*cmp.Or(t.CompletedAt, t.UpdatedAt, &api.Time{}))
}

// keepUp sees to it that somebody works on an item: the teammate is there, and the
// task too. Both may be missing after a crash, and a teammate may get lost.
func (c *runController) keepUp(ctx context.Context, r api.AgentTeamRun, f runs.ActiveItem, snap teams.Snapshot) error {
	var who api.Member // without a state: it is not there
	if i := slices.IndexFunc(snap.Members, func(m api.Member) bool { return m.Name == f.Assignee }); i >= 0 {
		who = snap.Members[i]
	}
	up := who.State != "" && who.Live()
	task := taskOf(snap.Tasks, f.TaskID)
	if task != nil && who.State == api.StateStopped {
		if c.svc.Restarting(c.place.LiveTeam, f.Assignee) {
			return nil
		}
		return fault.New(fault.Failed, "%s was stopped before it was done", f.Assignee) // on purpose: it is not for us to start it again
	}
	if up && task != nil || who.State == api.StateStarting {
		return nil // who only starts may come to nothing: then it was not lost over the item
	}
	if wait, err := c.unseen(f, task, snap.Warnings); wait || err != nil {
		return err
	}
	if task != nil { // it was begun, so the teammate was lost over it
		if f.Attempts >= maxAttempts {
			return fault.New(fault.Failed, "%s was lost %d times over it", f.Assignee, f.Attempts)
		}
		if err := c.free(ctx, task); err != nil {
			return err
		}
	}
	t, err := c.s.store.Team(ctx, r.TeamID)
	if err != nil {
		return err
	}
	if !up {
		if err := c.startWorkers(ctx, t, []workerSlot{{f.Assignee, f.Item.OwnerAgentRoleID}})[0]; err != nil {
			return err
		}
	}
	if task == nil {
		return c.hand(ctx, t, f)
	}
	return c.s.store.Again(ctx, f.TaskID) // it has somebody again
}

// free lets a task be claimed whose teammate is lost.
func (c *runController) free(ctx context.Context, task *api.Task) error {
	if _, err := c.svc.Reconcile(ctx, c.place.LiveTeam); err != nil {
		c.log.Warn("write down who is lost", "error", err)
	}
	if task.Status != store.InProgress {
		return nil
	}
	_, err := c.svc.ReleaseTask(ctx, c.place.LiveTeam, task.ID)
	return err
}

// unreadable is how long a task is waited for that may stand in a file which cannot be
// read.
const unreadable = time.Minute

// unseen tells whether the task of an item may well be there, only not to be read just
// now: another one would have the item done twice.
func (c *runController) unseen(f runs.ActiveItem, task *api.Task, warnings []string) (bool, error) {
	if task != nil || len(warnings) == 0 {
		delete(c.missing, f.TaskID)
		return false, nil
	}
	since, known := c.missing[f.TaskID]
	if !known {
		since = time.Now()
		c.missing[f.TaskID] = since
		c.log.Warn("the task of an item cannot be found; it is waited for", "item", f.Item.ID, "because", warnings[0])
	}
	if time.Since(since) < unreadable {
		return true, nil
	}
	return false, fault.New(fault.CorruptFile, "its task could not be read for %s: %s", unreadable, warnings[0])
}

// hand adds the task of an item, for its teammate.
func (c *runController) hand(ctx context.Context, t api.AgentTeam, f runs.ActiveItem) error {
	guidance, err := c.guidance(ctx, t, f.Item.OwnerAgentRoleID)
	if err != nil {
		return err
	}
	meta := map[string]json.RawMessage{}
	for k, v := range map[string]string{keyTask: f.TaskID, keyRun: c.place.RunID, keyItem: f.Item.ID, keyPersonality: t.DefaultPersonality, keyGuidance: guidance, keyModel: c.modelOf(ctx, t, f.Item.OwnerAgentRoleID)} {
		if b, err := json.Marshal(v); err == nil && v != "" {
			meta[k] = b
		}
	}
	line, err := c.s.store.CommandOf(ctx, f.Item.ID)
	if err != nil {
		return err
	}
	_, err = c.svc.AddOwnTask(ctx, c.place.LiveTeam, teams.TaskSpec{Subject: f.Item.Title, Description: f.Item.Description, Owner: f.Assignee, Metadata: meta}, line)
	return err
}

// begin gives what can begin to teammates, as far as the limits allow, and returns
// how many have begun.
func (c *runController) begin(ctx context.Context, r api.AgentTeamRun, open []runs.ActiveItem, snap teams.Snapshot) (int, error) {
	t, err := c.s.store.Team(ctx, r.TeamID)
	if err != nil {
		return 0, err
	}
	room := t.MaxParallelAgents - len(open)
	if room <= 0 {
		c.s.slots.leave(c)
		return 0, nil
	}
	ready, err := c.s.store.Ready(ctx, r.ID, room)
	if err != nil {
		return 0, err
	}
	crew, err := c.crew(ctx, open)
	if err != nil {
		return 0, err
	}
	var begun []runs.ActiveItem
	var failed error
	for _, it := range ready {
		if !c.s.slots.take(c) {
			break
		}
		who := crew.free(it.OwnerAgentRoleID)
		f, err := c.s.store.Launch(ctx, it, who)
		if err != nil {
			c.s.slots.give()
			failed = c.ignoreChanged(err)
			break
		}
		crew.busy[who], c.taken[f.TaskID] = true, true
		begun = append(begun, f)
	}
	if len(ready) == 0 || len(begun) == len(ready) {
		c.s.slots.leave(c)
	}
	return len(begun), errors.Join(failed, c.launch(ctx, t, begun, crew, snap))
}

// ignoreChanged passes over the error of an item that something has changed since it was
// looked at: the next look sees it, and follows at once. What else went wrong, such
// as a full disk, is to be tried again later.
func (c *runController) ignoreChanged(err error) error {
	switch fault.CodeOf(err) {
	case fault.Rejected, fault.LimitReached, fault.ItemNotFound:
		c.wake()
		return nil
	}
	return err
}

// launch starts the teammates of new items and hands them their tasks.
func (c *runController) launch(ctx context.Context, t api.AgentTeam, begun []runs.ActiveItem, crew crew, snap teams.Snapshot) error {
	var missing []workerSlot
	for _, f := range begun {
		if !slices.ContainsFunc(snap.Members, func(m api.Member) bool { return m.Name == f.Assignee && m.Live() }) {
			missing = append(missing, workerSlot{f.Assignee, f.Item.OwnerAgentRoleID})
		}
	}
	if err := c.makeRoom(ctx, t, len(missing), crew, snap); err != nil {
		return err
	}
	trouble := map[string]error{}
	for i, err := range c.startWorkers(ctx, t, missing) {
		trouble[missing[i].name] = err
	}
	var later error
	for _, f := range begun {
		err := trouble[f.Assignee]
		if err == nil {
			err = c.hand(ctx, t, f)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			continue
		}
		if passing(err) {
			later = err // it is under way: the next look does what is missing
			continue
		}
		if err := c.s.store.Complete(ctx, c.place.RunID, f.TaskID, api.ItemFailed, fault.Of(err).Message); err != nil {
			return err
		}
	}
	return later
}

// makeRoom ends teammates of the run that are not busy, so that with those to come no more run
// than the team may have at a time.
func (c *runController) makeRoom(ctx context.Context, t api.AgentTeam, come int, crew crew, snap teams.Snapshot) error {
	var idle []string
	running := 0
	for _, m := range snap.Members {
		if _, of := crew.roles[m.Name]; !of || !m.Live() {
			continue
		}
		running++
		if !crew.busy[m.Name] {
			idle = append(idle, m.Name)
		}
	}
	over := min(running+come-t.MaxParallelAgents, len(idle))
	if come == 0 || over <= 0 {
		return nil
	}
	ends, err := c.svc.Stop(ctx, c.place.LiveTeam, idle[:over], teams.StopOptions{Ask: quietAsk, Force: true, Reason: "there is nothing to do, and another teammate takes the place"})
	if err != nil {
		return err
	}
	return teams.Verdict(ends)
}
