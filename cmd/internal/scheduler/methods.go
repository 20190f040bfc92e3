package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// goneLimit is how long the teammates of a run that is over are waited for.
const goneLimit = 90 * time.Second

// Methods are what programs can ask for.
func (s *Scheduler) Methods() []rpc.Method {
	return slices.Concat(s.definitions(), s.runMethods(), s.itemMethods(), s.taskMethods())
}

// gone is the answer to the removal of something.
func gone(f func(context.Context, string) error) func(context.Context, api.IDParams) (rpc.Nothing, error) {
	return func(ctx context.Context, p api.IDParams) (rpc.Nothing, error) { return rpc.Nothing{}, f(ctx, p.ID) }
}

// onRun is a method on one run, named by its id or a beginning of it.
func onRun[R any](s *Scheduler, f func(context.Context, string) (R, error)) func(context.Context, api.IDParams) (R, error) {
	return func(ctx context.Context, p api.IDParams) (none R, err error) {
		r, err := s.store.FindRun(ctx, p.ID)
		if err != nil {
			return none, err
		}
		return f(ctx, r.ID)
	}
}

// byID is a method on one thing.
func byID[R any](f func(context.Context, string) (R, error)) func(context.Context, api.IDParams) (R, error) {
	return func(ctx context.Context, p api.IDParams) (R, error) { return f(ctx, p.ID) }
}

func (s *Scheduler) definitions() []rpc.Method {
	return []rpc.Method{
		rpc.Func("team:list", "List the teams that are defined.", taking(s, s.store.Teams)),
		rpc.Func("team:get", "Get the definition of a team.", byID(s.store.Team)),
		rpc.Func("team:create", "Define a team.", s.store.CreateTeam).OfLead(),
		rpc.Func("team:update", "Change the definition of a team.", s.store.UpdateTeam).OfLead(),
		rpc.Func("team:delete", "Delete the definition of a team that has no runs.", gone(s.store.DeleteTeam)).OfLead(),
		rpc.Func("team:define", "Make the team of a name be as described, with its members and their roles.", func(ctx context.Context, d api.TeamDefinition) (api.AgentTeam, error) {
			for _, m := range d.Members {
				if err := s.checkProfile(m.Profile, m.Spec); err != nil {
					return api.AgentTeam{}, err
				}
			}
			return s.store.Define(ctx, d)
		}).OfLead(),
		rpc.Func("teamMember:add", "Give a role a place in a team.", s.store.AddMember).OfLead(),
		rpc.Func("teamMember:list", "List the members of a team.", func(ctx context.Context, p api.TeamIDParams) ([]api.AgentTeamMember, error) {
			return s.store.Members(ctx, p.TeamID)
		}),
		rpc.Func("teamMember:update", "Change a member.", s.store.UpdateMember).OfLead(),
		rpc.Func("teamMember:remove", "Take a member out of its team.", gone(s.store.RemoveMember)).OfLead(),
		rpc.Func("teamMember:reorder", "Give the members of a team an order.", s.store.Reorder).OfLead(),
		rpc.Func("agentRole:list", "List the roles: the lead's, one for each profile, and those that were defined.",
			func(ctx context.Context, _ rpc.Nothing) ([]api.AgentRole, error) { return s.store.Roles(ctx) }),
		rpc.Func("agentRole:save", "Define a role, or what it is now.", func(ctx context.Context, r api.AgentRole) (api.AgentRole, error) {
			if err := s.checkProfile(r.Profile, r.Spec); err != nil {
				return r, err
			}
			return s.store.SaveRole(ctx, r)
		}).OfLead(),
		rpc.Func("agentRole:delete", "Delete a role that was defined and that nothing refers to.", gone(s.store.DeleteRole)).OfLead(),
	}
}

// checkProfile refuses a role that nobody could be started for.
func (s *Scheduler) checkProfile(name string, spec api.RoleSpec) error {
	_, err := s.profileOf(api.AgentRole{Profile: name, Spec: spec})
	return err
}

func (s *Scheduler) runMethods() []rpc.Method {
	return []rpc.Method{
		rpc.Func("teamRun:create", "Create a run of a team. It begins when it has items.", func(ctx context.Context, p api.RunCreateParams) (api.AgentTeamRun, error) {
			err := s.checkPreference(ctx, p.TeamID, "")
			if err == nil {
				p.RootTaskID, err = s.store.FullTaskID(ctx, p.RootTaskID)
			}
			if err != nil {
				return api.AgentTeamRun{}, err
			}
			r, err := s.store.CreateRun(ctx, p)
			if err == nil {
				s.created(r.ID)
			}
			return r, err
		}).OfLead(),
		rpc.Func("teamRun:get", "Get a run, by its id or a beginning of it.", taking(s, byID(s.store.FindRun))),
		rpc.Func("teamRun:list", "List runs, the newest first.", taking(s, s.store.Runs)),
		rpc.Func("teamRun:report", "Get a run with its items, tasks and teammates.", taking(s, onRun(s, s.store.Report))),
		rpc.Func("teamRun:cancel", "End a run and its teammates; what was under way has failed.", onRun(s, s.cancel)).OfLead(),
		rpc.Func("teamRun:pause", "Pause: no new item begins; those under way go on to their end.", onRun(s, s.store.Pause)).OfLead(),
		rpc.Func("teamRun:wait", "Answer when the teammates of a run that is over are gone.", onRun(s, s.wait)),
		rpc.Func("teamRun:resume", "Let a paused run go on.", onRun(s, s.store.Resume)).OfLead(),
		rpc.Func(rpc.TeamRunEvent, "Tell each run, and then everything that happens to definitions, runs and items, as notifications.", s.subscribe),
	}
}

func (s *Scheduler) cancel(ctx context.Context, id string) (api.AgentTeamRun, error) {
	r, err := s.store.Cancel(ctx, id, "")
	if err != nil {
		return r, err
	}
	return r, s.ended(ctx, id)
}

func (s *Scheduler) wait(ctx context.Context, id string) (api.AgentTeamRun, error) {
	r, err := s.store.Run(ctx, id)
	if err == nil && !r.Final() {
		err = fault.New(fault.Rejected, "the run is %s: it is not over", r.Status).WithHint("teamRun:event tells when it is")
	}
	if err != nil {
		return r, err
	}
	return r, s.ended(ctx, id)
}

// ended waits until the teammates of a run that is over are gone.
func (s *Scheduler) ended(ctx context.Context, id string) error {
	s.mu.Lock()
	c := s.controllers[id]
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, goneLimit,
		fault.New(fault.Timeout, "the run is over, but after %s its teammates are not gone", goneLimit).WithHint("leadlight ps --all shows them"))
	defer cancel()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Scheduler) itemMethods() []rpc.Method {
	return []rpc.Method{
		rpc.Func("teamItem:list", "List the checklist of a run, or a page of it.", func(ctx context.Context, p api.ItemsParams) (list []api.AgentTeamItem, err error) {
			if p.TeamRunID, err = s.store.FullID(ctx, p.TeamRunID); err != nil {
				return nil, err
			}
			if p.After, err = s.store.FullItemID(ctx, p.After); err != nil {
				return nil, err
			}
			return s.store.Items(ctx, p)
		}),
		rpc.Func("teamItem:get", "Get an item, by its id or a beginning of it.", byID(s.store.FindItem)),
		rpc.Func("teamItem:create", "Add an item to a checklist. One with an owner is carried out.", s.createItem),
		rpc.Func("teamItem:update", "Change an item.", s.updateItem),
		rpc.Func("teamItem:delete", "Delete an item.", gone(func(ctx context.Context, id string) error {
			it, err := s.store.FindItem(ctx, id)
			if err != nil {
				return err
			}
			return s.store.DeleteItem(ctx, it.ID)
		})).OfLead(),
		rpc.Func("teamItem:move", "Move an item to another place, or below another parent.", s.moveItem).OfLead(),
	}
}

func (s *Scheduler) taskMethods() []rpc.Method {
	return []rpc.Method{
		rpc.Func("runTask:create", "Make a task that a run can have as its root, or an item as its source.", s.store.CreateTask),
		rpc.Func("runTask:get", "Get a task of a run or an item, by its id or a beginning of it.", byID(s.store.Task)),
		rpc.Func("runTask:delete", "Delete a task that no run and no item has.", gone(func(ctx context.Context, id string) error {
			t, err := s.store.Task(ctx, id)
			if err != nil {
				return err
			}
			return s.store.DeleteTask(ctx, t.ID)
		})),
	}
}

func (s *Scheduler) createItem(ctx context.Context, p api.ItemParams) (it api.AgentTeamItem, err error) {
	if p.TeamRunID, err = s.store.FullID(ctx, p.TeamRunID); err != nil {
		return it, err
	}
	p.BlockedBy = slices.Clone(p.BlockedBy)
	ids := []*string{&p.ParentItemID}
	for i := range p.BlockedBy {
		ids = append(ids, &p.BlockedBy[i])
	}
	if err := s.fullItemIDs(ctx, ids...); err != nil {
		return it, err
	}
	if p.SourceTaskID, err = s.store.FullTaskID(ctx, p.SourceTaskID); err != nil {
		return it, err
	}
	if err := s.checkItemPreference(ctx, p.TeamRunID, p.OwnerAgentRoleID); err != nil {
		return it, err
	}
	return s.store.CreateItem(ctx, p)
}

func (s *Scheduler) updateItem(ctx context.Context, p api.ItemChange) (it api.AgentTeamItem, err error) {
	if err := s.fullItemIDs(ctx, &p.ID); err != nil {
		return it, err
	}
	if err := s.ownItem(ctx, p.ID); err != nil {
		return it, err
	}
	if p.SourceTaskID != nil {
		full, err := s.store.FullTaskID(ctx, *p.SourceTaskID)
		if err != nil {
			return it, err
		}
		p.SourceTaskID = &full
	}
	if p.OwnerAgentRoleID != nil {
		if it, err = s.store.Item(ctx, p.ID); err == nil {
			err = s.checkItemPreference(ctx, it.TeamRunID, *p.OwnerAgentRoleID)
		}
		if err != nil {
			return it, err
		}
	}
	return s.store.UpdateItem(ctx, p)
}

// ownItem refuses a teammate an item that it does not work on.
func (s *Scheduler) ownItem(ctx context.Context, id string) error {
	who, is := rpc.TeammateOf(ctx)
	if !is {
		return nil
	}
	it, err := s.store.Item(ctx, id)
	if err != nil {
		return err
	}
	report, err := s.store.Report(ctx, it.TeamRunID)
	if err != nil {
		return err
	}
	mine := func(t api.RunTask) bool { return t.ID == it.SourceTaskID && store.SameName(t.Assignee, who.Name) }
	if who.Team == report.LiveTeam && slices.ContainsFunc(report.Tasks, mine) {
		return nil
	}
	return rpc.NotLead(who, "change an item that is not its own")
}

func (s *Scheduler) moveItem(ctx context.Context, p api.ItemMove) (it api.AgentTeamItem, err error) {
	ids := []*string{&p.ID, &p.BeforeID, &p.AfterID}
	if p.ParentItemID != nil {
		parent := *p.ParentItemID
		p.ParentItemID = &parent
		ids = append(ids, &parent)
	}
	if err := s.fullItemIDs(ctx, ids...); err != nil {
		return it, err
	}
	return s.store.MoveItem(ctx, p)
}

// fullItemIDs completes the beginnings of ids.
func (s *Scheduler) fullItemIDs(ctx context.Context, ids ...*string) (err error) {
	for _, id := range ids {
		if *id, err = s.store.FullItemID(ctx, *id); err != nil {
			return err
		}
	}
	return nil
}

// checkItemPreference is checkPreference for the owner of an item.
func (s *Scheduler) checkItemPreference(ctx context.Context, runID, owner string) error {
	r, err := s.store.Run(ctx, runID)
	if err != nil {
		return err
	}
	return s.checkPreference(ctx, r.TeamID, owner)
}

// checkPreference refuses a preference for a model that no member's profile has a model
// for, nor that of owner in a team without members: it would be passed over.
func (s *Scheduler) checkPreference(ctx context.Context, teamID, owner string) error {
	t, err := s.store.Team(ctx, teamID)
	if err != nil || t.DefaultModelPreference == "" || t.DefaultModelPreference == "same" {
		return err
	}
	members, err := s.store.Members(ctx, teamID)
	if len(members) == 0 && owner != "" && owner != t.LeadAgentRoleID && owner != api.LeadRole {
		members = []api.AgentTeamMember{{AgentRoleID: owner}}
	}
	if err != nil || len(members) == 0 {
		return err
	}
	for _, m := range members {
		r, err := s.store.Role(ctx, m.AgentRoleID)
		if err != nil {
			return err
		}
		if r.Spec.Model != "" || s.Models[r.Profile][t.DefaultModelPreference] != "" {
			return nil
		}
	}
	return fault.New(fault.InvalidModel, "the team %q prefers a %s model, and no member's profile has one", t.Name, t.DefaultModelPreference).
		WithHint("name the models in the settings (models: PROFILE: {%s: MODEL}), or take the preference away with team:update", t.DefaultModelPreference)
}
