package runs

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// Import takes in the record of a run that another process has carried out. A
// later record of the same run takes the place of an earlier one, and what is new in
// it is emitted; after the one that ends it nothing changes any more. A record of what
// the daemon carries out is passed over.
func (s *Store) Import(ctx context.Context, rec api.RunRecord) error {
	return s.change(ctx, "take in the record of a run", func(c *change) error {
		if err := (transitions{"": runStatuses()}).check("the run", "", rec.Status, runStatuses()); err != nil {
			return err
		}
		var cut int
		rec.Tasks, cut = knownStatuses(rec)
		if n, err := c.count(`SELECT count(*) FROM run_places WHERE live_team = ? AND scheduled`, rec.Team); err != nil || n > 0 {
			return err
		}
		old, err := run(ctx, c.tx, rec.ID)
		if errors.Is(err, fault.RunNotFound) {
			old, err = api.AgentTeamRun{RootTaskID: newID()}, nil
		}
		if err != nil || old.Final() {
			return err
		}
		before, err := items(ctx, c.tx, rec.ID)
		if err != nil {
			return err
		}
		t, err := c.recordedTeam(rec)
		if err != nil {
			return err
		}
		if err := c.forget(old); err != nil {
			return err
		}
		r := api.AgentTeamRun{ID: rec.ID, TeamID: t.ID, RootTaskID: old.RootTaskID, Status: rec.Status, StartedAt: rec.StartedAt, CompletedAt: rec.CompletedAt, Error: rec.Error, Recorded: true}
		if r.Final() {
			r.CompletedAt, r.Summary = cmp.Or(r.CompletedAt, c.now), recordedSummary(rec, cut)
		}
		if err := c.insertRun(t, r, Place{LiveTeam: rec.Team}); err != nil {
			return err
		}
		if r.Final() {
			if err := c.closeRoot(r); err != nil {
				return err
			}
		}
		if err := c.recordWork(r, rec); err != nil {
			return err
		}
		return c.emitRecord(old, r, before)
	})
}

// knownStatuses puts todo for the words of other programs, and ends what is in progress
// in a run that has ended, of which it returns how many they are.
func knownStatuses(rec api.RunRecord) (list []api.RunRecordTask, cut int) {
	list = slices.Clone(rec.Tasks)
	r := api.AgentTeamRun{Status: rec.Status}
	for i, k := range list {
		switch {
		case !slices.Contains(itemStatuses(), k.Status):
			list[i].Status = api.ItemTodo
		case k.Status == api.ItemInProgress && r.Final():
			list[i].Status, list[i].Result = api.ItemFailed, cmp.Or(k.Result, unfinished(&r))
			cut++
		}
	}
	return list, cut
}

func recordedSummary(rec api.RunRecord, cut int) string {
	n := map[string]int{}
	for _, k := range rec.Tasks {
		n[k.Status]++
	}
	n[api.ItemFailed], n[cutOff] = n[api.ItemFailed]-cut, cut
	return summary(n)
}

// emitRecord tells in what a record differs from the one before.
func (c *change) emitRecord(old, now api.AgentTeamRun, before []api.AgentTeamItem) error {
	switch {
	case old.ID == "":
		c.sayRun(api.EvRunCreated, now)
	case old != now:
		c.sayRun(api.EvRunUpdated, now)
	}
	after, err := items(c.ctx, c.tx, now.ID)
	if err != nil {
		return err
	}
	known := map[string]api.AgentTeamItem{}
	for _, it := range before {
		known[it.ID] = it
	}
	emit := func(event string, it api.AgentTeamItem) {
		c.say(api.TeamRunEvent{Type: event, TeamID: now.TeamID, TeamRunID: now.ID, Item: &it})
	}
	for _, it := range after {
		if was, there := known[it.ID]; !there {
			emit(api.EvItemCreated, it)
		} else if !reflect.DeepEqual(was, it) {
			emit(api.EvItemUpdated, it)
		}
		delete(known, it.ID)
	}
	for _, it := range before {
		if _, gone := known[it.ID]; gone {
			emit(api.EvItemDeleted, it)
		}
	}
	return nil
}

// forget removes an earlier record, if there is one.
func (c *change) forget(r api.AgentTeamRun) error {
	for _, step := range []struct{ query, id string }{
		{`UPDATE agent_team_items SET source_task_id = NULL WHERE team_run_id = ?`, r.ID}, {`DELETE FROM agent_team_runs WHERE id = ?`, r.ID},
		{`DELETE FROM tasks WHERE parent_task_id = ?`, r.RootTaskID}, {`DELETE FROM tasks WHERE id = ?`, r.RootTaskID},
	} {
		if err := c.exec(step.query, step.id); err != nil {
			return err
		}
	}
	return nil
}

// recordedTeam finds the definition of a recorded run's team, or makes one of its
// members.
func (c *change) recordedTeam(rec api.RunRecord) (api.AgentTeam, error) {
	for _, m := range rec.Members {
		if err := c.exec(`INSERT INTO agent_roles VALUES (?, ?, '{}', ?) ON CONFLICT DO NOTHING`, api.RoleOf(rec.Team, m.Name), m.Profile, c.now); err != nil {
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
		if _, err := c.addMember(api.AgentTeamMemberParams{TeamID: t.ID, AgentRoleID: api.RoleOf(rec.Team, m.Name)}); err != nil {
			return t, err
		}
	}
	return t, nil
}

// recordID is the id of what belongs to a task of a record: the same in each record
// of the run.
func recordID(parts ...string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(strings.Join(parts, "\n"))).String()
}

// recordWork writes who worked on what.
func (c *change) recordWork(r api.AgentTeamRun, rec api.RunRecord) error {
	known := map[string]bool{}
	for _, m := range rec.Members {
		known[m.Name] = true
		if err := c.exec(`INSERT INTO run_members VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, r.ID, m.Name, api.RoleOf(rec.Team, m.Name), cmp.Or(m.StartedAt, rec.StartedAt), null(cmp.Or(m.EndedAt, rec.CompletedAt))); err != nil {
			return err
		}
	}
	ids := map[string]string{}
	for i, k := range rec.Tasks {
		ids[k.ID] = recordID(rec.ID, "item", k.ID)
		var task, owner string
		if k.StartedAt > 0 || k.CompletedAt > 0 {
			task = recordID(rec.ID, "task", k.ID)
			if err := c.exec(`INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, task, r.RootTaskID, k.Title, null(k.Owner), k.Status, null(clipText(k.Result)), max(k.Attempts, 1), cmp.Or(k.StartedAt, k.CompletedAt), null(k.CompletedAt), ids[k.ID], usageText(k.Usage)); err != nil {
				return err
			}
		}
		if known[k.Owner] {
			owner = api.RoleOf(rec.Team, k.Owner)
		}
		err := c.exec(`INSERT INTO agent_team_items VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, ids[k.ID], r.ID, cmp.Or(clipText(k.Title), "?"), null(clipText(k.Description)),
			null(owner), null(task), k.Status, null(clipText(k.Result)), gap*(i+1), rec.StartedAt, cmp.Or(k.CompletedAt, rec.StartedAt))
		if err != nil {
			return err
		}
	}
	for _, k := range rec.Tasks {
		for _, b := range k.BlockedBy {
			if ids[b] == "" {
				continue
			}
			if err := c.exec(`INSERT INTO item_blockers VALUES (?, ?) ON CONFLICT DO NOTHING`, ids[k.ID], ids[b]); err != nil {
				return err
			}
		}
	}
	return nil
}
