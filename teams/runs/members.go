package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

const memberColumns = `id, team_id, agent_role_id, member_order, is_required, coalesce(role_guidance, ''), created_at`

func scanMember(scan func(...any) error) (m api.AgentTeamMember, err error) {
	err = scan(&m.ID, &m.TeamID, &m.AgentRoleID, &m.MemberOrder, &m.IsRequired, &m.RoleGuidance, &m.CreatedAt)
	return m, err
}

func members(ctx context.Context, q querier, teamID string) ([]api.AgentTeamMember, error) {
	return all(ctx, q, scanMember, `SELECT `+memberColumns+` FROM agent_team_members WHERE team_id = ? ORDER BY member_order, created_at, id`, teamID)
}

func member(ctx context.Context, q querier, id string) (api.AgentTeamMember, error) {
	return one(ctx, q, scanMember, noMember, `SELECT `+memberColumns+` FROM agent_team_members WHERE id = ?`, id)
}

// Members lists a team's members in their order.
func (s *Store) Members(ctx context.Context, teamID string) ([]api.AgentTeamMember, error) {
	if _, err := s.Team(ctx, teamID); err != nil {
		return nil, err
	}
	return members(ctx, s.db, teamID)
}

// AddMember gives a role a place in a team: fault.DuplicateName if it has one.
func (s *Store) AddMember(ctx context.Context, p api.AgentTeamMemberParams) (m api.AgentTeamMember, err error) {
	err = s.change(ctx, "add a member", func(c *change) error {
		m, err = c.addMember(p)
		return err
	})
	return m, err
}

func (c *change) addMember(p api.AgentTeamMemberParams) (api.AgentTeamMember, error) {
	m := api.AgentTeamMember{ID: newID(), TeamID: p.TeamID, AgentRoleID: p.AgentRoleID, IsRequired: p.IsRequired, RoleGuidance: p.RoleGuidance, CreatedAt: c.now}
	if _, err := team(c.ctx, c.tx, p.TeamID); err != nil {
		return m, err
	}
	if _, err := role(c.ctx, c.tx, p.AgentRoleID); err != nil {
		return m, err
	}
	if err := checkText("guidance", p.RoleGuidance, maxText); err != nil {
		return m, err
	}
	others, err := members(c.ctx, c.tx, p.TeamID)
	if err != nil {
		return m, err
	}
	for _, o := range others {
		if o.AgentRoleID == p.AgentRoleID {
			return m, fault.New(fault.DuplicateName, "the role %q is a member already", clip(p.AgentRoleID)).WithHint("teamMember:update changes it")
		}
		m.MemberOrder = max(m.MemberOrder, o.MemberOrder+1)
	}
	set(&m.MemberOrder, p.MemberOrder)
	if err := checkOrder("memberOrder", int64(m.MemberOrder)); err != nil {
		return m, err
	}
	err = c.exec(`INSERT INTO agent_team_members VALUES (?, ?, ?, ?, ?, ?, ?)`, m.ID, m.TeamID, m.AgentRoleID, m.MemberOrder, m.IsRequired, null(m.RoleGuidance), m.CreatedAt)
	c.say(api.TeamRunEvent{Type: api.EvMemberAdded, TeamID: m.TeamID, Member: &m})
	return m, err
}

// UpdateMember changes a member: fault.MemberNotFound.
func (s *Store) UpdateMember(ctx context.Context, p api.AgentTeamMemberChange) (m api.AgentTeamMember, err error) {
	err = s.change(ctx, "change a member", func(c *change) error {
		if m, err = member(ctx, c.tx, p.ID); err != nil {
			return err
		}
		set(&m.MemberOrder, p.MemberOrder)
		set(&m.IsRequired, p.IsRequired)
		set(&m.RoleGuidance, p.RoleGuidance)
		return c.saveMember(&m)
	})
	return m, err
}

func (c *change) saveMember(m *api.AgentTeamMember) error {
	if err := errors.Join(checkText("guidance", m.RoleGuidance, maxText), checkOrder("memberOrder", int64(m.MemberOrder))); err != nil {
		return err
	}
	err := c.exec(`UPDATE agent_team_members SET member_order = ?, is_required = ?, role_guidance = ? WHERE id = ?`, m.MemberOrder, m.IsRequired, null(m.RoleGuidance), m.ID)
	c.say(api.TeamRunEvent{Type: api.EvMemberUpdated, TeamID: m.TeamID, Member: m})
	return err
}

// RemoveMember takes a member out of its team. What it works on goes on.
func (s *Store) RemoveMember(ctx context.Context, id string) error {
	return s.change(ctx, "remove a member", func(c *change) error {
		m, err := member(ctx, c.tx, id)
		if err != nil {
			return err
		}
		n, err := c.count(`SELECT count(*) FROM agent_team_items i JOIN agent_team_runs r ON r.id = i.team_run_id
			WHERE r.team_id = ? AND r.completed_at IS NULL AND i.owner_agent_role_id = ? AND i.status NOT IN ('done', 'failed')`, m.TeamID, m.AgentRoleID)
		if err != nil || n > 0 {
			return cmp.Or[error](err, fault.New(fault.Rejected, "the member %q owns %d open items of a run", clip(m.AgentRoleID), n).WithHint("give them another owner, or cancel the run"))
		}
		return c.removeMember(m)
	})
}

func (c *change) removeMember(m api.AgentTeamMember) error {
	err := c.exec(`DELETE FROM agent_team_members WHERE id = ?`, m.ID)
	c.say(api.TeamRunEvent{Type: api.EvMemberRemoved, TeamID: m.TeamID, Member: &m})
	return err
}

// Reorder gives a team's members the order of ids, which names each of them once.
func (s *Store) Reorder(ctx context.Context, p api.ReorderParams) (list []api.AgentTeamMember, err error) {
	err = s.change(ctx, "reorder the members", func(c *change) error {
		if _, err := team(ctx, c.tx, p.TeamID); err != nil {
			return err
		}
		if list, err = members(ctx, c.tx, p.TeamID); err != nil {
			return err
		}
		have := make([]string, len(list))
		for i, m := range list {
			have[i] = m.ID
		}
		if !slices.Equal(slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(p.MemberIDs))) {
			return fault.New(fault.InvalidArgument, "memberIds must name each of the %d members of the team once", len(list))
		}
		for i, id := range p.MemberIDs {
			if err := c.exec(`UPDATE agent_team_members SET member_order = ? WHERE id = ?`, i, id); err != nil {
				return err
			}
		}
		if list, err = members(ctx, c.tx, p.TeamID); err != nil {
			return err
		}
		c.say(api.TeamRunEvent{Type: api.EvMembersReordered, TeamID: p.TeamID, Members: list})
		return nil
	})
	return list, err
}

func scanRole(scan func(...any) error) (r api.AgentRole, err error) {
	var spec string
	if err = scan(&r.ID, &r.Profile, &spec); err == nil {
		if err = json.Unmarshal([]byte(spec), &r.Spec); err != nil {
			err = fault.New(fault.CorruptFile, "the role %s: %w", clip(r.ID), err)
		}
	}
	return r, err
}

func role(ctx context.Context, q querier, id string) (api.AgentRole, error) {
	return one(ctx, q, scanRole, noRole, `SELECT id, profile, spec FROM agent_roles WHERE id = ?`, id)
}

// Roles lists the roles.
func (s *Store) Roles(ctx context.Context) ([]api.AgentRole, error) {
	return all(ctx, s.db, scanRole, `SELECT id, profile, spec FROM agent_roles ORDER BY id`)
}

// Role returns one: fault.ProfileNotFound.
func (s *Store) Role(ctx context.Context, id string) (api.AgentRole, error) {
	return role(ctx, s.db, id)
}

// KeepProfiles makes a role of each profile that has none yet.
func (s *Store) KeepProfiles(ctx context.Context, names []string) error {
	return s.change(ctx, "keep the profiles as roles", func(c *change) error {
		for _, name := range names {
			if err := c.exec(`INSERT INTO agent_roles VALUES (?, ?, '{}', ?) ON CONFLICT (id) DO NOTHING`, name, name, c.now); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteRole removes a role that was defined and that nothing refers to.
func (s *Store) DeleteRole(ctx context.Context, id string) error {
	return s.change(ctx, "delete a role", func(c *change) error {
		r, err := role(ctx, c.tx, id)
		if err != nil {
			return err
		}
		if r.ID == LeadRole || r.Profile == r.ID {
			return fault.New(fault.Rejected, "the role %q is there from the start", clip(id)).WithHint("only roles that were defined can be deleted")
		}
		return c.exec(`DELETE FROM agent_roles WHERE id = ?`, id)
	})
}

// SaveRole makes a role, or what it is now of one that was defined before. The
// lead's role and those of profiles stay as they are.
func (s *Store) SaveRole(ctx context.Context, r api.AgentRole) (api.AgentRole, error) {
	return r, s.change(ctx, "define a role", func(c *change) error { return c.saveRole(r) })
}

func (c *change) saveRole(r api.AgentRole) error {
	if err := checkText("role", r.ID, maxTitle); err != nil {
		return err
	}
	if r.Profile == r.ID || r.ID == LeadRole {
		return fault.New(fault.InvalidName, "the role %q is there from the start", clip(r.ID)).WithHint("choose another id")
	}
	if old, err := role(c.ctx, c.tx, r.ID); err == nil && (old.Profile == old.ID) {
		return fault.New(fault.InvalidName, "the role %q is that of a profile", clip(r.ID)).WithHint("choose another id")
	}
	spec, err := json.Marshal(r.Spec)
	if err != nil {
		return fmt.Errorf("write the role: %w", err)
	}
	if err := checkText("role's spec", string(spec), maxText); err != nil {
		return err
	}
	return c.exec(`INSERT INTO agent_roles VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET profile = excluded.profile, spec = excluded.spec`, r.ID, r.Profile, string(spec), c.now)
}
