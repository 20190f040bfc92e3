package runs

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// Place says where a run is carried out.
type Place struct {
	RunID     string
	LiveTeam  string // the team of its teammates
	Cwd       string
	Scheduled bool // by the daemon; else this is a record of what another process does
}

func scanPlace(scan func(...any) error) (p Place, err error) {
	err = scan(&p.RunID, &p.LiveTeam, &p.Cwd, &p.Scheduled)
	return p, err
}

// Open lists the runs that the daemon has to carry out, the oldest first; those
// that are over, but whose teammates are not known to be gone, are among them.
func (s *Store) Open(ctx context.Context) ([]Place, error) {
	return all(ctx, s.db, scanPlace, `SELECT p.run_id, p.live_team, p.cwd, p.scheduled FROM run_places p JOIN agent_team_runs r ON r.id = p.run_id
		WHERE p.scheduled AND (r.completed_at IS NULL OR EXISTS (SELECT 1 FROM run_members m WHERE m.run_id = r.id AND m.ended_at IS NULL)) ORDER BY r.started_at, r.id`)
}

// PlaceOf says where a run is carried out: fault.RunNotFound.
func (s *Store) PlaceOf(ctx context.Context, id string) (Place, error) {
	if _, err := s.Run(ctx, id); err != nil {
		return Place{}, err
	}
	return scanPlace(s.db.QueryRowContext(ctx, `SELECT run_id, live_team, cwd, scheduled FROM run_places WHERE run_id = ?`, id).Scan)
}

// ActiveItem is an item that a teammate works on.
type ActiveItem struct {
	Item     api.AgentTeamItem
	TaskID   string
	Assignee string
	Attempts int
}

func activeItems(ctx context.Context, q querier, runID string) ([]ActiveItem, error) {
	return all(ctx, q, func(scan func(...any) error) (f ActiveItem, err error) {
		f.Item, err = scanItem(func(into ...any) error { return scan(append(into, &f.TaskID, &f.Assignee, &f.Attempts)...) })
		return f, err
	}, `SELECT `+itemColumns+`, t.id, t.assignee, t.attempts FROM agent_team_items i JOIN tasks t ON t.id = i.source_task_id
		WHERE i.team_run_id = ? AND i.status = 'in_progress' AND t.completed_at IS NULL AND t.assignee IS NOT NULL ORDER BY t.started_at, t.id`, runID)
}

// ActiveItems lists the items of a run that teammates work on.
func (s *Store) ActiveItems(ctx context.Context, runID string) ([]ActiveItem, error) {
	return activeItems(ctx, s.db, runID)
}

// canBegin is the condition on an item i of the team t that a teammate can begin: it
// has an owner that is not the lead, no children, and nothing to wait for.
const canBegin = `i.status = 'todo' AND i.owner_agent_role_id NOT IN (t.lead_agent_role_id, '` + LeadRole + `') AND ` + leaf

// Ready lists the first n items that can begin, in their order.
func (s *Store) Ready(ctx context.Context, runID string, n int) ([]api.AgentTeamItem, error) {
	return all(ctx, s.db, scanItem, `SELECT `+itemColumns+` FROM agent_team_items i JOIN agent_team_runs r ON r.id = i.team_run_id JOIN agent_teams t ON t.id = r.team_id
		WHERE i.team_run_id = ? AND `+canBegin+` ORDER BY i.sort_order, i.id LIMIT ?`, runID, n)
}

// Launch gives an item, as Ready has it, to a teammate of its owner: its child task
// begins. It is fault.Rejected if the run does not run, or the item cannot begin any
// more or has another owner now, and fault.LimitReached if as many items as the team
// may have at a time are under way.
func (s *Store) Launch(ctx context.Context, was api.AgentTeamItem, assignee string) (f ActiveItem, err error) {
	err = s.change(ctx, "begin an item", func(c *change) error {
		it, err := item(ctx, c.tx, was.ID)
		if err != nil {
			return err
		}
		r, err := run(ctx, c.tx, it.TeamRunID)
		if err != nil {
			return err
		}
		n, err := c.count(`SELECT count(*) FROM agent_team_items i JOIN agent_teams t ON t.id = ? WHERE i.id = ? AND `+canBegin, r.TeamID, it.ID)
		if err != nil {
			return err
		}
		if n == 0 || r.Status != api.RunRunning || it.OwnerAgentRoleID != was.OwnerAgentRoleID {
			return fault.New(fault.Rejected, "the item cannot begin so: it is %s, its owner is %q, and the run is %s", it.Status, it.OwnerAgentRoleID, r.Status)
		}
		t, err := team(ctx, c.tx, r.TeamID)
		if err != nil {
			return err
		}
		open, err := activeItems(ctx, c.tx, r.ID)
		if err != nil {
			return err
		}
		if len(open) >= t.MaxParallelAgents {
			return fault.New(fault.LimitReached, "%d items are under way, the limit is %d", len(open), t.MaxParallelAgents)
		}
		f = ActiveItem{Assignee: assignee, Attempts: 1}
		if f.TaskID, err = c.beginTask(it, r.RootTaskID, assignee); err != nil {
			return err
		}
		it.SourceTaskID, it.Status, it.ResultSummary = f.TaskID, api.ItemInProgress, ""
		f.Item = it
		return c.saveItem(&f.Item, api.EvItemSpawned)
	})
	return f, err
}

// CommandOf is the line that a worker runs for an item, "" if it has none of its
// own.
func (s *Store) CommandOf(ctx context.Context, itemID string) (line string, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT line FROM item_commands WHERE item_id = ?`, itemID).Scan(&line)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return line, err
}

// Again says that a task is begun once more, because the teammate was lost.
func (s *Store) Again(ctx context.Context, taskID string) error {
	return s.exec(ctx, "begin a task again", `UPDATE tasks SET attempts = attempts + 1 WHERE id = ? AND completed_at IS NULL`, taskID)
}

// Complete writes how an item ended, to it and to its task: api.ItemDone or
// api.ItemFailed. It does nothing if that is written already.
func (s *Store) Complete(ctx context.Context, runID, taskID, status, result string) error {
	return s.change(ctx, "end an item", func(c *change) error {
		open, err := activeItems(ctx, c.tx, runID)
		if err != nil {
			return err
		}
		for _, f := range open {
			if f.TaskID == taskID {
				return c.complete(f, status, result)
			}
		}
		return nil
	})
}

func (c *change) complete(f ActiveItem, status, result string) error {
	f.Item.Status, f.Item.ResultSummary = status, clipText(result)
	return c.saveItem(&f.Item, api.EvItemUpdated)
}

// Finish ends a run in which nothing more will happen by itself, and tells whether
// it has. A run goes on while an item is under way or can begin, or waits for a
// person: one with no owner, the lead's, or one that was blocked by hand.
func (s *Store) Finish(ctx context.Context, id string) (r api.AgentTeamRun, ended bool, err error) {
	if r, _, ended, err = finished(ctx, s.db, id); err != nil || !ended {
		return r, false, err
	}
	err = s.change(ctx, "end a run", func(c *change) error {
		var n map[string]int
		if r, n, ended, err = finished(ctx, c.tx, id); err != nil || !ended {
			return err // something has come in between
		}
		if n[api.ItemFailed]+n[api.ItemBlocked] == 0 {
			return c.stepRun(&r, api.RunCompleted, "")
		}
		return c.stepRun(&r, api.RunFailed, summary(n))
	})
	return r, ended && err == nil, err
}

// finished tells whether nothing more will happen in a run, and how its items stand.
func finished(ctx context.Context, q querier, id string) (r api.AgentTeamRun, n map[string]int, yes bool, err error) {
	if r, err = run(ctx, q, id); err != nil || r.Status != api.RunRunning {
		return r, nil, false, err
	}
	if n, err = tally(ctx, q, id); err != nil || len(n) == 0 || n[api.ItemTodo]+n[api.ItemInProgress] > 0 {
		return r, n, false, err
	}
	var byHand int // blocked, though nothing that it waits for is open
	err = q.QueryRowContext(ctx, `SELECT count(*) FROM agent_team_items i WHERE i.team_run_id = ? AND i.status = 'blocked' AND `+leaf+`
		AND NOT EXISTS (SELECT 1 FROM item_blockers b JOIN agent_team_items o ON o.id = b.blocker_id WHERE b.item_id = i.id AND o.status != 'done')`, id).Scan(&byHand)
	return r, n, byHand == 0, err
}

// Joined writes down that a teammate of a run is up.
func (s *Store) Joined(ctx context.Context, runID, name, roleID string) error {
	return s.exec(ctx, "write down a teammate", `INSERT INTO run_members VALUES (?, ?, ?, ?, NULL) ON CONFLICT DO UPDATE SET ended_at = NULL`,
		runID, name, roleID, time.Now().UnixMilli())
}

// WorkerRoles are the roles of a run's teammates, by their names.
func (s *Store) WorkerRoles(ctx context.Context, runID string) (map[string]string, error) {
	list, err := all(ctx, s.db, func(scan func(...any) error) (m api.RunMember, err error) {
		err = scan(&m.Name, &m.AgentRoleID)
		return m, err
	}, `SELECT name, agent_role_id FROM run_members WHERE run_id = ?`, runID)
	out := map[string]string{}
	for _, m := range list {
		out[m.Name] = m.AgentRoleID
	}
	return out, err
}

// Left writes down that the teammates of a run are gone.
func (s *Store) Left(ctx context.Context, runID string) error {
	return s.exec(ctx, "write down who is gone", `UPDATE run_members SET ended_at = ? WHERE run_id = ? AND ended_at IS NULL`, time.Now().UnixMilli(), runID)
}

// clipText bounds a result at its end, which says more than its beginning.
func clipText(s string) string {
	const most = 8 << 10
	return validText(s[max(0, len(s)-most):])
}
