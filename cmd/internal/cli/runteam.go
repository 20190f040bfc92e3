package cli

import (
	"context"
	"io"
	"path"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/spf13/cobra"
)

func runTeamCommand(a *app) *cobra.Command {
	return group("run team", runTeamListCommand(a, runRunTeamList), only(a, "run team rm", byLead("remove a defined team", runRunTeamRemove), one, noFiles))
}

// definedTeam is one line of run team ls.
type definedTeam struct {
	shownDefinition
	Roles []string `json:"roles"`
	Runs  int      `json:"runs"`
}

// removedDefinition is the answer of run team rm.
type removedDefinition struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"` // removed, or retired
}

func runTeamListCommand(a *app, run func(context.Context, *app, bool) error) *cobra.Command {
	var all bool
	c := command(a, "run team ls", run, &all, takes(0, 0), noFiles)
	c.Flags().BoolVar(&all, "all", false, "also those that are retired")
	return c
}

func runRunTeamList(ctx context.Context, a *app, all bool) error {
	list, err := ask[[]api.AgentTeam](ctx, a, "team:list", nil)
	if err != nil {
		return err
	}
	out := []definedTeam{}
	for _, t := range list {
		if !t.IsActive && !all {
			continue
		}
		d := definedTeam{shownDefinition: shownDefinition{t, moment(t.CreatedAt), moment(t.UpdatedAt)}, Roles: []string{}}
		members, err := ask[[]api.AgentTeamMember](ctx, a, "teamMember:list", api.TeamIDParams{TeamID: t.ID})
		if err != nil {
			return err
		}
		for _, m := range members {
			d.Roles = append(d.Roles, m.AgentRoleID)
		}
		runs, err := ask[[]api.AgentTeamRun](ctx, a, "teamRun:list", api.RunsParams{TeamID: t.ID, Limit: 1 << 20})
		if err != nil {
			return err
		}
		d.Runs = len(runs)
		out = append(out, d)
	}
	return a.answer(out, nil, func(w io.Writer) {
		t := &table{head: []string{"TEAM", "ROLES", "AT A TIME", "RUNS", "DESCRIPTION"}, less: []string{"AT A TIME"}}
		for _, d := range out {
			name := d.Name
			if !d.IsActive {
				name += " (retired)"
			}
			t.add(name, strings.Join(d.Roles, ", "), d.MaxParallelAgents, d.Runs, oneLine(d.Description))
		}
		a.table(w, t)
	})
}

func runRunTeamRemove(ctx context.Context, a *app, name string) error {
	list, err := ask[[]api.AgentTeam](ctx, a, "team:list", nil)
	if err != nil {
		return err
	}
	for _, t := range list {
		switch {
		case t.Name == name:
			return a.removeDefined(ctx, t)
		case path.Dir(name) == t.Name:
			return a.removeRole(ctx, t, name)
		}
	}
	return a.removeRole(ctx, api.AgentTeam{}, name)
}

// removeDefined removes a team, or retires it.
func (a *app) removeDefined(ctx context.Context, t api.AgentTeam) error {
	runs, err := ask[[]api.AgentTeamRun](ctx, a, "teamRun:list", api.RunsParams{TeamID: t.ID, Limit: 1 << 20})
	if err != nil {
		return err
	}
	for _, r := range runs {
		if !r.Final() && !r.Recorded {
			return fault.New(fault.Rejected, "run %s of team %s goes on", short(r.ID), t.Name).WithHint("leadlight run cancel %s ends it", short(r.ID))
		}
	}
	if len(runs) > 0 {
		_, err := ask[api.AgentTeam](ctx, a, "team:update", api.AgentTeamChange{ID: t.ID, IsActive: new(false)})
		return a.removed(removedDefinition{t.Name, "retired"}, err, "team %s is retired; its %d runs stay", t.Name, len(runs))
	}
	_, err = ask[rpc.Nothing](ctx, a, "team:delete", api.IDParams{ID: t.ID})
	return a.removed(removedDefinition{t.Name, "removed"}, err, "team %s is removed", t.Name)
}

// removeRole removes a role, and its member of a team. One that has worked in runs is a
// member no more, and stays in their history.
func (a *app) removeRole(ctx context.Context, t api.AgentTeam, role string) error {
	was := false
	if t.ID != "" {
		members, err := ask[[]api.AgentTeamMember](ctx, a, "teamMember:list", api.TeamIDParams{TeamID: t.ID})
		if err != nil {
			return err
		}
		for _, m := range members {
			if m.AgentRoleID != role {
				continue
			}
			if _, err := ask[rpc.Nothing](ctx, a, "teamMember:remove", api.IDParams{ID: m.ID}); err != nil {
				return err
			}
			was = true
		}
	}
	_, err := ask[rpc.Nothing](ctx, a, "agentRole:delete", api.IDParams{ID: role})
	if was && fault.CodeOf(err) == fault.Rejected {
		return a.removed(removedDefinition{role, "retired"}, nil, "role %s is no member any more; its runs stay", role)
	}
	return a.removed(removedDefinition{role, "removed"}, err, "role %s is removed", role)
}

// removed answers with what was removed.
func (a *app) removed(what removedDefinition, err error, format string, args ...any) error {
	return a.answer(what, err, func(io.Writer) { a.say(format, args...) })
}
