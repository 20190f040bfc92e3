package runs

import (
	"cmp"
	"context"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// defaultParallel is how many agents of a run work at a time if nobody says.
const defaultParallel = 4

// maxParallel bounds it.
const maxParallel = 1000

const teamColumns = `id, workspace_id, name, coalesce(description, ''), lead_agent_role_id, max_parallel_agents,
	coalesce(default_model_preference, ''), coalesce(default_personality, ''), is_active, created_at, updated_at`

func scanTeam(scan func(...any) error) (t api.AgentTeam, err error) {
	err = scan(&t.ID, &t.WorkspaceID, &t.Name, &t.Description, &t.LeadAgentRoleID, &t.MaxParallelAgents,
		&t.DefaultModelPreference, &t.DefaultPersonality, &t.IsActive, &t.CreatedAt, &t.UpdatedAt)
	return t, err
}

func team(ctx context.Context, q querier, id string) (api.AgentTeam, error) {
	return one(ctx, q, scanTeam, noTeam, `SELECT `+teamColumns+` FROM agent_teams WHERE id = ?`, id)
}

// Teams lists the teams that are defined, by name.
func (s *Store) Teams(ctx context.Context, p api.AgentTeamsParams) ([]api.AgentTeam, error) {
	return all(ctx, s.db, scanTeam, `SELECT `+teamColumns+` FROM agent_teams
		WHERE (?1 = '' OR workspace_id = ?1) AND (?2 = '' OR name = ?2) ORDER BY name, id`, p.WorkspaceID, p.Name)
}

// Team returns one: fault.TeamNotFound.
func (s *Store) Team(ctx context.Context, id string) (api.AgentTeam, error) {
	return team(ctx, s.db, id)
}

// CreateTeam defines a team.
func (s *Store) CreateTeam(ctx context.Context, p api.AgentTeamParams) (t api.AgentTeam, err error) {
	err = s.change(ctx, "define a team", func(c *change) error {
		t, err = c.createTeam(p)
		return err
	})
	return t, err
}

func (c *change) createTeam(p api.AgentTeamParams) (api.AgentTeam, error) {
	t := api.AgentTeam{
		ID: newID(), WorkspaceID: cmp.Or(p.WorkspaceID, Workspace), Name: p.Name, Description: p.Description, LeadAgentRoleID: cmp.Or(p.LeadAgentRoleID, LeadRole),
		MaxParallelAgents: defaultParallel, DefaultModelPreference: p.DefaultModelPreference, DefaultPersonality: p.DefaultPersonality,
		IsActive: p.IsActive == nil || *p.IsActive, CreatedAt: c.now, UpdatedAt: c.now,
	}
	set(&t.MaxParallelAgents, p.MaxParallelAgents)
	if err := c.checkTeam(t); err != nil {
		return t, err
	}
	err := c.exec(`INSERT INTO agent_teams VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, t.ID, t.WorkspaceID, t.Name, null(t.Description),
		t.LeadAgentRoleID, t.MaxParallelAgents, null(t.DefaultModelPreference), null(t.DefaultPersonality), t.IsActive, t.CreatedAt, t.UpdatedAt)
	c.say(api.TeamRunEvent{Type: api.EvTeamCreated, TeamID: t.ID, Team: &t})
	return t, err
}

// checkTeam holds the rules for a team that is about to be written.
func (c *change) checkTeam(t api.AgentTeam) error {
	for _, text := range []struct {
		what, text string
		most       int
	}{{"name", t.Name, maxTitle}, {"description", t.Description, maxText}, {"personality", t.DefaultPersonality, maxText}} {
		if err := checkText(text.what, text.text, text.most); err != nil {
			return err
		}
	}
	if t.MaxParallelAgents < 1 || t.MaxParallelAgents > maxParallel {
		return fault.New(fault.InvalidArgument, "maxParallelAgents is %d; it takes 1 to %d", t.MaxParallelAgents, maxParallel)
	}
	if !slices.Contains([]string{"", "same", "cheaper", "smarter"}, t.DefaultModelPreference) {
		return fault.New(fault.InvalidModel, "%q is no preference for a model", clip(t.DefaultModelPreference)).WithHint("it is same, cheaper or smarter")
	}
	if n, err := c.count(`SELECT count(*) FROM workspaces WHERE id = ?`, t.WorkspaceID); err != nil || n == 0 {
		return cmp.Or[error](err, fault.New(fault.InvalidArgument, "there is no workspace %q", clip(t.WorkspaceID)).WithHint("there is: %s", Workspace))
	}
	if _, err := role(c.ctx, c.tx, t.LeadAgentRoleID); err != nil {
		return err
	}
	n, err := c.count(`SELECT count(*) FROM agent_teams WHERE workspace_id = ? AND name = ? AND id != ?`, t.WorkspaceID, t.Name, t.ID)
	if err == nil && n > 0 {
		err = fault.New(fault.TeamExists, "a team %q is defined already", clip(t.Name)).WithHint("team:update changes it")
	}
	return err
}

// set takes a value that was given.
func set[T any](into *T, v *T) {
	if v != nil {
		*into = *v
	}
}

// UpdateTeam changes a definition. Runs that are under way see it.
func (s *Store) UpdateTeam(ctx context.Context, p api.AgentTeamChange) (t api.AgentTeam, err error) {
	err = s.change(ctx, "change a team", func(c *change) error {
		if t, err = team(ctx, c.tx, p.ID); err != nil {
			return err
		}
		set(&t.Name, p.Name)
		set(&t.Description, p.Description)
		if err := c.checkLead(t, p.LeadAgentRoleID); err != nil {
			return err
		}
		set(&t.LeadAgentRoleID, p.LeadAgentRoleID)
		set(&t.MaxParallelAgents, p.MaxParallelAgents)
		set(&t.DefaultModelPreference, p.DefaultModelPreference)
		set(&t.DefaultPersonality, p.DefaultPersonality)
		set(&t.IsActive, p.IsActive)
		return c.saveTeam(&t)
	})
	return t, err
}

// checkLead refuses another lead while the one that there is has items in progress: they
// would be a teammate's then, and nobody's.
func (c *change) checkLead(t api.AgentTeam, to *string) error {
	if to == nil || *to == t.LeadAgentRoleID || t.LeadAgentRoleID == LeadRole {
		return nil
	}
	n, err := c.count(`SELECT count(*) FROM agent_team_items i JOIN agent_team_runs r ON r.id = i.team_run_id
		WHERE r.team_id = ? AND r.completed_at IS NULL AND i.owner_agent_role_id = ? AND i.status = 'in_progress' AND `+leaf, t.ID, t.LeadAgentRoleID)
	if err == nil && n > 0 {
		err = fault.New(fault.Rejected, "the lead %q has %d items of a run in progress", clip(t.LeadAgentRoleID), n).WithHint("end them, or make them todo, first")
	}
	return err
}

func (c *change) saveTeam(t *api.AgentTeam) error {
	t.UpdatedAt = c.now
	if err := c.checkTeam(*t); err != nil {
		return err
	}
	err := c.exec(`UPDATE agent_teams SET name = ?, description = ?, lead_agent_role_id = ?, max_parallel_agents = ?, default_model_preference = ?,
		default_personality = ?, is_active = ?, updated_at = ? WHERE id = ?`, t.Name, null(t.Description), t.LeadAgentRoleID, t.MaxParallelAgents,
		null(t.DefaultModelPreference), null(t.DefaultPersonality), t.IsActive, t.UpdatedAt, t.ID)
	c.say(api.TeamRunEvent{Type: api.EvTeamUpdated, TeamID: t.ID, Team: t})
	return err
}

// DeleteTeam removes a definition and its members. One that has runs stays: they
// are its history.
func (s *Store) DeleteTeam(ctx context.Context, id string) error {
	return s.change(ctx, "delete a team", func(c *change) error {
		t, err := team(ctx, c.tx, id)
		if err != nil {
			return err
		}
		if n, err := c.count(`SELECT count(*) FROM agent_team_runs WHERE team_id = ?`, id); err != nil || n > 0 {
			return cmp.Or[error](err, fault.New(fault.Rejected, "the team %q has %d runs, which are its history", clip(t.Name), n).WithHint("team:update with isActive false retires it"))
		}
		c.say(api.TeamRunEvent{Type: api.EvTeamDeleted, TeamID: id, Team: &t})
		if err = c.exec(`DELETE FROM agent_teams WHERE id = ?`, id); err != nil {
			return err
		}
		return c.dropRoles(api.RoleOf(t.Name, ""), api.RoleOf(t.Name, "\U0010FFFF"))
	})
}
