package runs

import (
	"context"
	"errors"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/fault"
)

// Import takes in the record of a run that another process has carried out. A
// later record of the same run takes the place of an earlier one; after the one that
// ends it nothing changes any more. A record of what the daemon carries out is
// passed over.
func (s *Store) Import(ctx context.Context, rec api.RunRecord) error {
	return s.change(ctx, "take in the record of a run", func(c *change) error {
		if n, err := c.count(`SELECT count(*) FROM run_places WHERE live_team = ? AND scheduled`, rec.Team); err != nil || n > 0 {
			return err
		}
		old, err := run(ctx, c.tx, rec.ID)
		switch {
		case err == nil && old.Final():
			return nil
		case err == nil:
			if err := c.forget(old); err != nil {
				return err
			}
		case !errors.Is(err, fault.RunNotFound):
			return err
		}
		t, err := c.recordedTeam(rec)
		if err != nil {
			return err
		}
		r, err := c.createRun(t, rec.ID, place{liveTeam: rec.Team})
		if err != nil {
			return err
		}
		if err := c.recordWork(r, rec); err != nil {
			return err
		}
		return c.recordEnd(r, rec)
	})
}

// forget removes an earlier record.
func (c *change) forget(r api.AgentTeamRun) error {
	for _, step := range []struct{ query, id string }{
		{`UPDATE agent_team_items SET source_task_id = NULL WHERE team_run_id = ?`, r.ID}, {`DELETE FROM agent_team_runs WHERE id = ?`, r.ID},
		{`DELETE FROM tasks WHERE parent_task_id = ?`, r.RootTaskID}, {`DELETE FROM tasks WHERE id = ?`, r.RootTaskID},
	} {
		if _, err := c.exec(step.query, step.id); err != nil {
			return err
		}
	}
	return nil
}

// recordedTeam finds the definition of a recorded run's team, or makes one of its
// members.
func (c *change) recordedTeam(rec api.RunRecord) (api.AgentTeam, error) {
	for _, m := range rec.Members {
		if _, err := c.exec(`INSERT INTO agent_roles VALUES (?, ?, '{}', ?) ON CONFLICT DO NOTHING`, RoleOf(rec.Team, m.Name), m.Profile, c.now); err != nil {
			return api.AgentTeam{}, err
		}
	}
	list, err := all(c.ctx, c.tx, scanTeam, `SELECT `+teamColumns+` FROM agent_teams WHERE workspace_id = ? AND name = ?`, Workspace, rec.Team)
	if err != nil || len(list) > 0 {
		return append(list, api.AgentTeam{})[0], err
	}
	t, err := c.createTeam(api.AgentTeamParams{Name: rec.Team, Description: rec.Description})
	if err != nil {
		return t, err
	}
	for _, m := range rec.Members {
		if _, err := c.addMember(api.AgentTeamMemberParams{TeamID: t.ID, AgentRoleID: RoleOf(rec.Team, m.Name)}); err != nil {
			return t, err
		}
	}
	return t, nil
}

// recordWork writes who worked on what.
func (c *change) recordWork(r api.AgentTeamRun, rec api.RunRecord) error {
	known := map[string]bool{}
	for _, m := range rec.Members {
		known[m.Name] = true
		if _, err := c.exec(`INSERT INTO run_members VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, r.ID, m.Name, RoleOf(rec.Team, m.Name), or(m.StartedAt, rec.StartedAt), nullMoment(or(m.EndedAt, rec.CompletedAt))); err != nil {
			return err
		}
	}
	ids := map[string]string{}
	for i, k := range rec.Tasks {
		ids[k.ID] = newID()
		var task, owner string
		if k.StartedAt > 0 || k.CompletedAt > 0 {
			task = newID()
			if _, err := c.exec(`INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?)`, task, r.RootTaskID, k.Title, null(k.Owner), k.Status, null(clipText(k.Result)), or(k.StartedAt, k.CompletedAt), nullMoment(k.CompletedAt)); err != nil {
				return err
			}
		}
		if known[k.Owner] {
			owner = RoleOf(rec.Team, k.Owner)
		}
		_, err := c.exec(`INSERT INTO agent_team_items VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, ids[k.ID], r.ID, or(clipText(k.Title), "?"), null(clipText(k.Description)),
			null(owner), null(task), k.Status, null(clipText(k.Result)), gap*(i+1), rec.StartedAt, or(k.CompletedAt, rec.StartedAt))
		if err != nil {
			return err
		}
	}
	for _, k := range rec.Tasks {
		for _, b := range k.BlockedBy {
			if ids[b] == "" {
				continue
			}
			if _, err := c.exec(`INSERT INTO item_blockers VALUES (?, ?) ON CONFLICT DO NOTHING`, ids[k.ID], ids[b]); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordEnd gives the run the status that the record has.
func (c *change) recordEnd(r api.AgentTeamRun, rec api.RunRecord) error {
	n, err := tally(c.ctx, c.tx, r.ID)
	if err != nil {
		return err
	}
	r.Status, r.StartedAt, r.CompletedAt, r.Error = rec.Status, rec.StartedAt, rec.CompletedAt, rec.Error
	if r.CompletedAt > 0 {
		r.Summary = summary(n)
	}
	if err := (transitions{"": runStatuses()}).check("the run", "", r.Status, runStatuses()); err != nil {
		return err
	}
	c.say(api.TeamRunEvent{Type: api.EvRunUpdated, TeamID: r.TeamID, TeamRunID: r.ID, Run: &r})
	_, err = c.exec(`UPDATE agent_team_runs SET status = ?, started_at = ?, completed_at = ?, error = ?, summary = ? WHERE id = ?`,
		r.Status, r.StartedAt, nullMoment(r.CompletedAt), null(r.Error), null(r.Summary), r.ID)
	return err
}
