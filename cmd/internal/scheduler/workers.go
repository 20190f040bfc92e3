package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/runs"
)

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

// crew are the teammates of a run: the role of each, and who works on an item.
type crew struct {
	roles map[string]string
	busy  map[string]bool
}

func (c *runController) crew(ctx context.Context, open []runs.ActiveItem) (crew, error) {
	roles, err := c.s.store.WorkerRoles(ctx, c.place.RunID)
	busy := map[string]bool{}
	for _, f := range open {
		busy[f.Assignee] = true
	}
	return crew{roles, busy}, err
}

// free is a teammate of a role that is not busy, and not another role's.
func (c crew) free(role string) string {
	for n := 1; ; n++ {
		name := slotName(role, n)
		if of, taken := c.roles[name]; !c.busy[name] && (!taken || of == role) {
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
		PlanMode: r.PlanMode, Placement: backend.Place(r.Placement), Worktree: r.Worktree, Git: (*teams.Source)(r.Git),
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
