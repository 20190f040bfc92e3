package scheduler

import (
	"context"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// goneLimit is how long the teammates of a run that is over are waited for.
const goneLimit = 90 * time.Second

// Methods are what programs can ask for.
func (s *Scheduler) Methods() []rpc.Method {
	all := s.definitions()
	return append(append(all, s.runMethods()...), s.itemMethods()...)
}

// gone is the answer to the removal of something.
func gone(f func(context.Context, string) error) func(context.Context, api.IDParams) (rpc.Nothing, error) {
	return func(ctx context.Context, p api.IDParams) (rpc.Nothing, error) { return rpc.Nothing{}, f(ctx, p.ID) }
}

// byID is a method on one thing.
func byID[R any](f func(context.Context, string) (R, error)) func(context.Context, api.IDParams) (R, error) {
	return func(ctx context.Context, p api.IDParams) (R, error) { return f(ctx, p.ID) }
}

func (s *Scheduler) definitions() []rpc.Method {
	return []rpc.Method{
		rpc.Func("team:list", "List the teams that are defined.", taking(s, s.store.Teams)),
		rpc.Func("team:get", "Get the definition of a team.", byID(s.store.Team)),
		rpc.Func("team:create", "Define a team.", s.store.CreateTeam),
		rpc.Func("team:update", "Change the definition of a team.", s.store.UpdateTeam),
		rpc.Func("team:delete", "Delete the definition of a team that has no runs.", gone(s.store.DeleteTeam)),
		rpc.Func("team:define", "Make the team of a name be as described, with its members and their roles.", func(ctx context.Context, d api.TeamDefinition) (api.AgentTeam, error) {
			for _, m := range d.Members {
				if err := s.checkProfile(m.Profile, m.Spec); err != nil {
					return api.AgentTeam{}, err
				}
			}
			return s.store.Define(ctx, d)
		}),
		rpc.Func("teamMember:add", "Give a role a place in a team.", s.store.AddMember),
		rpc.Func("teamMember:list", "List the members of a team.", func(ctx context.Context, p api.TeamIDParams) ([]api.AgentTeamMember, error) {
			return s.store.Members(ctx, p.TeamID)
		}),
		rpc.Func("teamMember:update", "Change a member.", s.store.UpdateMember),
		rpc.Func("teamMember:remove", "Take a member out of its team.", gone(s.store.RemoveMember)),
		rpc.Func("teamMember:reorder", "Give the members of a team an order.", s.store.Reorder),
		rpc.Func("agentRole:list", "List the roles: the lead's, one for each profile, and those that were defined.",
			func(ctx context.Context, _ rpc.Nothing) ([]api.AgentRole, error) { return s.store.Roles(ctx) }),
		rpc.Func("agentRole:save", "Define a role, or what it is now.", func(ctx context.Context, r api.AgentRole) (api.AgentRole, error) {
			if err := s.checkProfile(r.Profile, r.Spec); err != nil {
				return r, err
			}
			return s.store.SaveRole(ctx, r)
		}),
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
			r, err := s.store.CreateRun(ctx, p)
			if err == nil {
				s.created(r.ID)
			}
			return r, err
		}),
		rpc.Func("teamRun:get", "Get a run, by its id or a beginning of it.", taking(s, byID(s.store.FindRun))),
		rpc.Func("teamRun:list", "List runs, the newest first.", taking(s, s.store.Runs)),
		rpc.Func("teamRun:report", "Get a run with its items, tasks and teammates.", taking(s, byID(s.store.Report))),
		rpc.Func("teamRun:cancel", "End a run and its teammates; what was under way has failed.", byID(s.cancel)),
		rpc.Func("teamRun:pause", "Let no new item begin; those under way go on to their end.", byID(s.store.Pause)),
		rpc.Func("teamRun:wait", "Answer when the teammates of a run that is over are gone.", byID(s.wait)),
		rpc.Func("teamRun:resume", "Let a paused run go on.", byID(s.store.Resume)),
		rpc.Func(rpc.TeamRunEvent, "Tell each run, and then everything that happens to definitions, runs and items, as notifications.", s.subscribe),
	}
}

func (s *Scheduler) cancel(ctx context.Context, id string) (api.AgentTeamRun, error) {
	r, err := s.store.Cancel(ctx, id)
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
		rpc.Func("teamItem:list", "List the checklist of a run, or a page of it.", s.store.Items),
		rpc.Func("teamItem:get", "Get an item, by its id or a beginning of it.", byID(s.store.FindItem)),
		rpc.Func("teamItem:create", "Add an item to a checklist. One with an owner is carried out.", s.store.CreateItem),
		rpc.Func("teamItem:update", "Change an item.", s.store.UpdateItem),
		rpc.Func("teamItem:delete", "Delete an item.", gone(s.store.DeleteItem)),
		rpc.Func("teamItem:move", "Move an item to another place, or below another parent.", s.store.MoveItem),
	}
}
