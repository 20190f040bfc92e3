package runs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// Report returns a run with everything that belongs to it.
func (s *Store) Report(ctx context.Context, id string) (out api.RunReport, err error) {
	if out.Run, err = s.Run(ctx, id); err != nil {
		return out, err
	}
	if out.Team, err = s.Team(ctx, out.Run.TeamID); err != nil {
		return out, err
	}
	p, err := s.PlaceOf(ctx, id)
	if err != nil {
		return out, err
	}
	out.LiveTeam = p.LiveTeam
	if out.Items, err = items(ctx, s.db, id); err != nil {
		return out, err
	}
	if out.Tasks, err = s.runTasks(ctx, out.Run.RootTaskID); err != nil {
		return out, err
	}
	out.Members, err = all(ctx, s.db, func(scan func(...any) error) (m api.RunMember, err error) {
		err = scan(&m.Name, &m.AgentRoleID, &m.StartedAt, &m.EndedAt)
		return m, err
	}, `SELECT name, agent_role_id, started_at, coalesce(ended_at, 0) FROM run_members WHERE run_id = ? ORDER BY started_at, name`, id)
	addWork(out.Members, out.Tasks)
	for _, t := range out.Tasks {
		out.Usage = out.Usage.And(t.Usage)
	}
	return out, err
}

// Spent writes what the work on a task has cost.
func (s *Store) Spent(ctx context.Context, taskID string, u api.Usage) error {
	return s.exec(ctx, "write what a task has cost", `UPDATE tasks SET usage = ? WHERE id = ?`, usageText(&u), taskID)
}

// EndedAt writes when the task of an item that is over has ended: it may have been learnt later.
func (s *Store) EndedAt(ctx context.Context, taskID string, at time.Time) error {
	return s.exec(ctx, "write when a task has ended", `UPDATE tasks SET completed_at = ?1 WHERE id = ?2 AND ?1 BETWEEN started_at AND completed_at`, at.UnixMilli(), taskID)
}

// usageText is a usage as the table keeps it.
func usageText(u *api.Usage) any {
	data, err := json.Marshal(u)
	if u == nil || err != nil {
		return nil
	}
	return string(data)
}

// runTasks lists the child tasks of a run, in the order they were begun.
func (s *Store) runTasks(ctx context.Context, root string) ([]api.RunTask, error) {
	return all(ctx, s.db, scanTask, `SELECT `+taskColumns+` FROM tasks t WHERE t.parent_task_id = ? ORDER BY t.started_at, t.id`, root)
}

// addWork sums up what each teammate has worked on.
func addWork(members []api.RunMember, tasks []api.RunTask) {
	at := map[string]*api.RunMember{}
	for i := range members {
		at[members[i].Name] = &members[i]
	}
	tried := map[string]bool{} // items that were begun before
	for _, t := range tasks {
		again := t.ItemID != "" && tried[t.ItemID]
		tried[t.ItemID] = true
		m := at[t.Assignee]
		if m == nil {
			continue
		}
		m.Items++
		m.Retries += t.Attempts - 1
		if again {
			m.Retries++
		}
		if t.CompletedAt > 0 {
			m.BusyMs += max(t.CompletedAt-t.StartedAt, 0) // clocks are set back
		}
	}
}
