package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
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
		if err := c.s.store.Complete(ctx, r.ID, f.TaskID, status, result); err != nil {
			return nil, err
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

// keepUp sees to it that somebody works on an item: the teammate is there, and the
// task too. Both may be missing after a crash, and a teammate may get lost.
func (c *runController) keepUp(ctx context.Context, r api.AgentTeamRun, f runs.ActiveItem, snap teams.Snapshot) error {
	up := slices.ContainsFunc(snap.Members, func(m api.Member) bool { return m.Name == f.Assignee && m.Live() })
	task := taskOf(snap.Tasks, f.TaskID)
	if task != nil && slices.ContainsFunc(snap.Members, func(m api.Member) bool { return m.Name == f.Assignee && m.State == api.StateStopped }) {
		return fault.New(fault.Failed, "%s was stopped before it was done", f.Assignee) // on purpose: it is not for us to start it again
	}
	if up && task != nil {
		return nil
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
	busy := map[string]bool{}
	for _, f := range open {
		busy[f.Assignee] = true
	}
	workers, err := c.s.store.WorkerRoles(ctx, r.ID)
	if err != nil {
		return 0, err
	}
	var begun []runs.ActiveItem
	var failed error
	for _, it := range ready {
		if !c.s.slots.take(c) {
			break
		}
		who := freeSlot(it.OwnerAgentRoleID, busy, workers)
		f, err := c.s.store.Launch(ctx, it, who)
		if err != nil {
			c.s.slots.give()
			failed = c.ignoreChanged(err)
			break
		}
		busy[who], c.taken[f.TaskID] = true, true
		begun = append(begun, f)
	}
	if len(ready) == 0 || len(begun) == len(ready) {
		c.s.slots.leave(c)
	}
	return len(begun), errors.Join(failed, c.launch(ctx, r, t, begun, snap))
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
func (c *runController) launch(ctx context.Context, r api.AgentTeamRun, t api.AgentTeam, begun []runs.ActiveItem, snap teams.Snapshot) error {
	var missing []workerSlot
	for _, f := range begun {
		if !slices.ContainsFunc(snap.Members, func(m api.Member) bool { return m.Name == f.Assignee && m.Live() }) {
			missing = append(missing, workerSlot{f.Assignee, f.Item.OwnerAgentRoleID})
		}
	}
	if err := c.makeRoom(ctx, r, t, len(missing), snap); err != nil {
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
		if err := c.s.store.Complete(ctx, r.ID, f.TaskID, api.ItemFailed, fault.Of(err).Message); err != nil {
			return err
		}
	}
	return later
}

// makeRoom ends teammates that have nothing to do, so that with those to come no more run
// than the team may have at a time.
func (c *runController) makeRoom(ctx context.Context, r api.AgentTeamRun, t api.AgentTeam, come int, snap teams.Snapshot) error {
	if come == 0 {
		return nil
	}
	open, err := c.s.store.ActiveItems(ctx, r.ID)
	if err != nil {
		return err
	}
	ours, err := c.s.store.WorkerRoles(ctx, r.ID)
	if err != nil {
		return err
	}
	var idle []string
	running := 0
	for _, m := range snap.Members {
		if _, of := ours[m.Name]; !of || !m.Live() {
			continue
		}
		running++
		if !slices.ContainsFunc(open, func(f runs.ActiveItem) bool { return f.Assignee == m.Name }) {
			idle = append(idle, m.Name)
		}
	}
	over := min(running+come-t.MaxParallelAgents, len(idle))
	if over <= 0 {
		return nil
	}
	ends, err := c.svc.Stop(ctx, c.place.LiveTeam, idle[:over], teams.StopOptions{Ask: quietAsk, Force: true, Reason: "there is nothing to do, and another teammate takes the place"})
	if err != nil {
		return err
	}
	return teams.Verdict(ends)
}

// workerSlot is one teammate of a run: one of a role, which works on one item at a time.
type workerSlot struct{ name, role string }

// slotName is the name of a role's nth teammate: that of the role, or of the member
// in a role NAME/MEMBER.
func slotName(role string, n int) string {
	name := role[strings.LastIndexByte(role, '/')+1:]
	if n > 1 {
		name += "-" + strconv.Itoa(n)
	}
	return name
}

// freeSlot is a teammate of a role that is not busy, and not another role's.
func freeSlot(role string, busy map[string]bool, workers map[string]string) string {
	for n := 1; ; n++ {
		name := slotName(role, n)
		if of, taken := workers[name]; !busy[name] && (!taken || of == role) {
			return name
		}
	}
}

// startWorkers starts teammates, all at once, and says of each what kept it from starting.
// Who runs already is left alone.
func (c *runController) startWorkers(ctx context.Context, t api.AgentTeam, workers []workerSlot) []error {
	out := make([]error, len(workers))
	specs := make([]teams.SpawnSpec, 0, len(workers))
	var at []int
	own := map[string]profiles.Profile{}
	for i, l := range workers {
		spec, err := c.specOf(ctx, t, l, own)
		if out[i] = err; err == nil {
			specs, at = append(specs, spec), append(at, i)
		}
	}
	if len(specs) == 0 {
		return out
	}
	for k, got := range c.svc.WithProfiles(own).Spawn(ctx, c.place.LiveTeam, specs) {
		l := workers[at[k]]
		err := got.Err
		if fault.CodeOf(err) == fault.DuplicateName {
			err = nil // it came up before a crash
		}
		if err == nil && got.Member.State == api.StateFailed {
			err = fault.New(fault.SpawnFailed, "%s: %s", l.name, got.Member.Reason)
		}
		if err == nil {
			err = c.s.store.Joined(ctx, c.place.RunID, l.name, l.role)
		}
		out[at[k]] = err
	}
	return out
}

// specOf is how a teammate of a run is started. A profile of its team's own is put
// among own.
func (c *runController) specOf(ctx context.Context, t api.AgentTeam, l workerSlot, own map[string]profiles.Profile) (teams.SpawnSpec, error) {
	role, err := c.s.store.Role(ctx, l.role)
	if err != nil {
		return teams.SpawnSpec{}, err
	}
	if len(role.Spec.Definition) > 0 {
		if own[role.Profile], err = c.s.profileOf(role); err != nil {
			return teams.SpawnSpec{}, err
		}
	}
	guidance, err := c.guidance(ctx, t, l.role)
	if err != nil {
		return teams.SpawnSpec{}, err
	}
	r := role.Spec
	spec := teams.SpawnSpec{
		Name: l.name, Profile: role.Profile, Command: r.Command, Kind: r.Kind, Model: c.modelOf(ctx, t, l.role), AgentType: r.AgentType,
		Prompt: joined(r.Prompt, guidance), Cwd: r.Cwd, Color: r.Color, Run: r.Run, RunTask: r.RunTask,
		PlanMode: r.PlanMode, Placement: backend.Place(r.Placement), Worktree: r.Worktree,
		Env: append(slices.Clone(r.Env), "LEADLIGHT_RUN="+c.place.RunID),
	}
	if guidance != "" {
		spec.Env = append(spec.Env, "LEADLIGHT_ROLE_GUIDANCE="+oneLine(guidance))
	}
	if t.DefaultPersonality != "" {
		spec.Env = append(spec.Env, "LEADLIGHT_PERSONALITY="+oneLine(t.DefaultPersonality))
		spec.Prompt = joined(spec.Prompt, "Your personality: "+t.DefaultPersonality)
	}
	return spec, nil
}

func (c *runController) guidance(ctx context.Context, t api.AgentTeam, role string) (string, error) {
	members, err := c.s.store.Members(ctx, t.ID)
	for _, m := range members {
		if m.AgentRoleID == role {
			return m.RoleGuidance, err
		}
	}
	return "", err
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// modelOf is the model of a role's teammates: its own, else the one that the
// settings name for the team's preference.
func (c *runController) modelOf(ctx context.Context, t api.AgentTeam, roleID string) string {
	role, err := c.s.store.Role(ctx, roleID)
	if err != nil || role.Spec.Model != "" || t.DefaultModelPreference == "" {
		return role.Spec.Model
	}
	model := c.s.Models[role.Profile][t.DefaultModelPreference]
	if p, err := c.s.profileOf(role); err != nil || p.CheckModel(model) != nil {
		c.log.Warn(fmt.Sprintf("the profile %s has no model %q", role.Profile, model))
		return ""
	}
	return model
}

// profileOf is a role's profile: that of its team's file, else the one that there is.
func (s *Scheduler) profileOf(role api.AgentRole) (p profiles.Profile, err error) {
	if len(role.Spec.Definition) == 0 {
		return s.Profiles.Get(role.Profile)
	}
	if err := json.Unmarshal(role.Spec.Definition, &p); err != nil {
		return p, fault.New(fault.InvalidArgument, "the definition of the profile %s: %w", role.Profile, err)
	}
	p.Name = role.Profile
	return profiles.Set{p.Name: p}.Get(p.Name)
}
