package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// runPlan is a team file as a run.
type runPlan struct {
	definition api.TeamDefinition
	run        api.RunCreateParams
	notTaken   []string // keys of the file that count for up only
}

func looksLikeFile(s string) bool {
	return strings.HasSuffix(s, ".yaml") || strings.HasSuffix(s, ".yml") || strings.ContainsRune(s, '/')
}

// readRun makes a run of a team file.
func (a *app) readRun(path string) (runPlan, error) {
	file, err := config.ReadTeamFile(path)
	if err != nil {
		return runPlan{}, err
	}
	s, err := a.set(file)
	if err != nil {
		return runPlan{}, err
	}
	plan := file.Plan
	s.Complete(&plan)
	p := runPlan{run: api.RunCreateParams{Cwd: plan.Team.Cwd}, notTaken: file.NotForRuns()}
	p.definition.Name, p.definition.Description = plan.Team.Name, plan.Team.Description
	if s.MaxParallel.Origin.Layer == config.FromTeam {
		p.definition.MaxParallelAgents = &s.MaxParallel.V
	}
	for _, h := range plan.Hooks {
		p.definition.Hooks = append(p.definition.Hooks, api.TeamHook{Event: h.Event, Command: h.Command, Dir: h.Dir, TimeoutMs: h.Timeout.Milliseconds(), Source: h.Source})
	}
	set := profiles.NewSet(s.Profiles)
	for _, m := range plan.Members {
		d := memberOf(m)
		if _, own := file.Profiles[d.Profile]; own {
			if d.Spec.Definition, err = json.Marshal(set[d.Profile]); err != nil {
				return p, err
			}
		}
		p.definition.Members = append(p.definition.Members, d)
	}
	return p, errors.Join(teams.CheckFolder(p.run.Cwd), p.items(plan, set))
}

func memberOf(m teams.SpawnSpec) api.MemberDefinition {
	return api.MemberDefinition{Name: m.Name, Profile: m.ProfileName(), Spec: api.RoleSpec{
		Kind: m.Kind, Command: m.Command, Run: m.Run, RunTask: m.RunTask, Model: m.Model, AgentType: m.AgentType, Prompt: m.Prompt, Cwd: m.Cwd,
		Color: m.Color, Env: m.Env, PlanMode: m.PlanMode, Placement: string(m.Placement), Worktree: m.Worktree,
		Git: (*api.GitSource)(m.Git),
	}}
}

// items makes the tasks of the file the checklist. Those that nobody owns go to the
// workers in turn.
func (p *runPlan) items(plan teams.Plan, set profiles.Set) error {
	var workers []string
	for _, m := range p.definition.Members {
		kind := m.Spec.Kind
		if known, err := set.Get(m.Profile); kind == "" && err == nil {
			kind = known.Kind
		}
		if kind == profiles.Worker {
			workers = append(workers, m.Name)
		}
	}
	next := 0
	for i, t := range plan.Tasks {
		it := api.ItemSpec{Title: t.Subject, Description: t.Description}
		it.Run, _ = teams.RunOf(t.Metadata)
		owner := t.Owner
		if owner == "" && len(workers) > 0 {
			owner = workers[next%len(workers)]
			next++
		}
		switch owner {
		case "":
			return fault.New(fault.TeamFile, "task %d has no owner, and the team has no worker to take it", i+1).WithHint("give it an owner")
		case store.Lead, plan.Team.Lead:
			it.OwnerAgentRoleID = api.LeadRole
		default:
			it.OwnerAgentRoleID = api.RoleOf(plan.Team.Name, owner)
		}
		for _, b := range t.BlockedBy {
			n, err := strconv.Atoi(b)
			if err != nil {
				return err
			}
			it.BlockedBy = append(it.BlockedBy, n)
		}
		p.run.Items = append(p.run.Items, it)
	}
	return nil
}

// begin defines the team and begins the run.
func (p runPlan) begin(ctx context.Context, a *app, _ string) (api.AgentTeamRun, error) {
	t, err := ask[api.AgentTeam](ctx, a, "team:define", p.definition)
	if err != nil {
		return api.AgentTeamRun{}, err
	}
	p.run.TeamID = t.ID
	return ask[api.AgentTeamRun](ctx, a, "teamRun:create", p.run)
}
