package runs

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// Define makes a team of that name be as it is described: it, its roles, its members.
// What the description says as the one before it did stays as programs have set it
// since, and so do members that no description has named.
func (s *Store) Define(ctx context.Context, d api.TeamDefinition) (t api.AgentTeam, err error) {
	err = s.change(ctx, "define a team", func(c *change) error {
		t, err = c.define(d)
		return err
	})
	return t, err
}

func (c *change) define(d api.TeamDefinition) (api.AgentTeam, error) {
	t, err := scanTeam(c.tx.QueryRowContext(c.ctx, `SELECT `+teamColumns+` FROM agent_teams WHERE workspace_id = ? AND name = ?`, cmp.Or(d.WorkspaceID, Workspace), d.Name).Scan)
	var was api.TeamDefinition
	switch {
	case errors.Is(err, sql.ErrNoRows):
		t, err = c.createTeam(d.AgentTeamParams)
	case err == nil:
		if err = readDoc(c.ctx, c.tx, `SELECT definition FROM team_definitions WHERE team_id = ?`, t.ID, &was); err != nil {
			return t, err
		}
		changed(&t.Description, was.Description, d.Description)
		changed(&t.DefaultModelPreference, was.DefaultModelPreference, d.DefaultModelPreference)
		changed(&t.DefaultPersonality, was.DefaultPersonality, d.DefaultPersonality)
		changed(&t.MaxParallelAgents, parallel(was), parallel(d))
		t.IsActive = true
		err = c.saveTeam(&t)
	}
	if err != nil {
		return t, err
	}
	if err := c.defineMembers(t, was.Members, d.Members); err != nil {
		return t, err
	}
	return t, errors.Join(
		c.saveDoc(`INSERT INTO team_hooks VALUES (?, ?) ON CONFLICT (team_id) DO UPDATE SET hooks = excluded.hooks`, t.ID, "hooks", d.Hooks),
		c.saveDoc(`INSERT INTO team_definitions VALUES (?, ?) ON CONFLICT (team_id) DO UPDATE SET definition = excluded.definition`, t.ID, "definition", d))
}

func parallel(d api.TeamDefinition) int {
	if d.MaxParallelAgents == nil {
		return defaultParallel
	}
	return *d.MaxParallelAgents
}

// changed takes what a description says now, if it said something else before.
func changed[T comparable](into *T, was, now T) {
	if was != now {
		*into = now
	}
}

// saveDoc keeps something of a team as JSON.
func (c *change) saveDoc(query, teamID, what string, v any) error {
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	if err := checkText(what, string(doc), maxDoc); err != nil {
		return err
	}
	return c.exec(query, teamID, string(doc))
}

// readDoc reads what saveDoc has kept, if it has.
func readDoc(ctx context.Context, q querier, query, teamID string, into any) error {
	var doc string
	err := q.QueryRowContext(ctx, query, teamID).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(doc), into)
	}
	return err
}

// Hooks are the programs that are asked in the runs of a team.
func (s *Store) Hooks(ctx context.Context, teamID string) (list []api.TeamHook, err error) {
	return list, readDoc(ctx, s.db, `SELECT hooks FROM team_hooks WHERE team_id = ?`, teamID, &list)
}

func (c *change) defineMembers(t api.AgentTeam, was, now []api.MemberDefinition) error {
	old, err := members(c.ctx, c.tx, t.ID)
	if err != nil {
		return err
	}
	for i, d := range now {
		if place(now, d.Name) < i {
			return fault.New(fault.DuplicateName, "the team has two members %q", clip(d.Name))
		}
		if err := c.defineMember(t, old, was, d, i); err != nil {
			return err
		}
	}
	for _, d := range was {
		if place(now, d.Name) >= 0 {
			continue
		}
		id := api.RoleOf(t.Name, d.Name)
		if at := memberOf(old, id); at >= 0 {
			if err := c.removeMember(old[at]); err != nil {
				return err
			}
		}
		if err := c.dropRoles(id, id); err != nil {
			return err
		}
	}
	return nil
}

func place(list []api.MemberDefinition, name string) int {
	return slices.IndexFunc(list, func(d api.MemberDefinition) bool { return d.Name == name })
}

func memberOf(list []api.AgentTeamMember, roleID string) int {
	return slices.IndexFunc(list, func(m api.AgentTeamMember) bool { return m.AgentRoleID == roleID })
}

// defineMember makes a member and its role be as they are described.
func (c *change) defineMember(t api.AgentTeam, old []api.AgentTeamMember, was []api.MemberDefinition, d api.MemberDefinition, order int) error {
	r := api.AgentRole{ID: api.RoleOf(t.Name, d.Name), Profile: d.Profile, Spec: d.Spec}
	before, known := api.MemberDefinition{}, false
	then := place(was, d.Name)
	if then >= 0 {
		before, known = was[then], true
	}
	if _, err := role(c.ctx, c.tx, r.ID); err != nil || before.Profile != d.Profile || !sameSpec(before.Spec, d.Spec) {
		if err := c.saveRole(r); err != nil {
			return err
		}
	}
	at := memberOf(old, r.ID)
	switch {
	case at < 0 && known: // somebody has removed it
		return nil
	case at < 0:
		_, err := c.addMember(api.AgentTeamMemberParams{TeamID: t.ID, AgentRoleID: r.ID, MemberOrder: &order, IsRequired: d.IsRequired, RoleGuidance: d.RoleGuidance})
		return err
	}
	m := old[at]
	if !known || then != order {
		m.MemberOrder = order
	}
	changed(&m.IsRequired, before.IsRequired, d.IsRequired)
	changed(&m.RoleGuidance, before.RoleGuidance, d.RoleGuidance)
	if m == old[at] {
		return nil
	}
	return c.saveMember(&m)
}

// sameSpec compares what is written of two roles.
func sameSpec(a, b api.RoleSpec) bool {
	one, err1 := json.Marshal(a)
	two, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// dropRoles removes those roles from first to last that nothing refers to.
func (c *change) dropRoles(first, last string) error {
	return c.exec(`DELETE FROM agent_roles WHERE id >= ?1 AND id <= ?2
		AND NOT EXISTS (SELECT 1 FROM agent_team_members m WHERE m.agent_role_id = agent_roles.id)
		AND NOT EXISTS (SELECT 1 FROM agent_team_items i WHERE i.owner_agent_role_id = agent_roles.id)
		AND NOT EXISTS (SELECT 1 FROM run_members w WHERE w.agent_role_id = agent_roles.id)
		AND NOT EXISTS (SELECT 1 FROM agent_teams t WHERE t.lead_agent_role_id = agent_roles.id)`, first, last)
}
