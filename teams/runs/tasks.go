package runs

import (
	"context"
	"encoding/json"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// A run has a root task, and an item that is carried out a source task. Both are made when
// they are needed, unless another program has made them before and gives their ids.

const taskColumns = `t.id, coalesce(t.parent_task_id, ''), t.title, coalesce(t.item_id, ''), coalesce(t.assignee, ''), t.status,
	coalesce(t.result_summary, ''), t.attempts, t.started_at, coalesce(t.completed_at, 0), coalesce(t.usage, 'null')`

func scanTask(scan func(...any) error) (t api.RunTask, err error) {
	var usage string
	err = scan(&t.ID, &t.ParentTaskID, &t.Title, &t.ItemID, &t.Assignee, &t.Status, &t.ResultSummary, &t.Attempts, &t.StartedAt, &t.CompletedAt, &usage)
	if err == nil {
		err = json.Unmarshal([]byte(usage), &t.Usage)
	}
	return t, err
}

func task(ctx context.Context, q querier, id string) (api.RunTask, error) {
	return one(ctx, q, scanTask, noTask, `SELECT `+taskColumns+` FROM tasks t WHERE t.id = ?`, id)
}

// Task returns the task of an id or a beginning of it: fault.TaskNotFound.
func (s *Store) Task(ctx context.Context, id string) (api.RunTask, error) {
	return found(ctx, s, "tasks", id, noTask, task)
}

// CreateTask makes a task that a run or an item can then be given.
func (s *Store) CreateTask(ctx context.Context, p api.RunTaskParams) (t api.RunTask, err error) {
	err = s.change(ctx, "create a task", func(c *change) error {
		if err := checkText("title", p.Title, maxTitle); err != nil {
			return err
		}
		id := newID()
		if err := c.exec(`INSERT INTO tasks (id, title, status, started_at) VALUES (?, ?, ?, ?)`, id, p.Title, api.ItemTodo, c.now); err != nil {
			return err
		}
		t, err = task(ctx, c.tx, id)
		return err
	})
	return t, err
}

// DeleteTask removes a task that no run and no item has.
func (s *Store) DeleteTask(ctx context.Context, id string) error {
	return s.change(ctx, "delete a task", func(c *change) error {
		t, err := task(ctx, c.tx, id)
		if err == nil {
			err = c.checkGiven(t, "")
		}
		if err != nil {
			return err
		}
		return c.exec(`DELETE FROM tasks WHERE id = ?`, id)
	})
}

// checkGiven refuses a task that is somebody's already: the root of a run, or the source
// of another item than this one.
func (c *change) checkGiven(t api.RunTask, itemID string) error {
	n, err := c.count(`SELECT (SELECT count(*) FROM agent_team_runs WHERE root_task_id = ?1) + (SELECT count(*) FROM agent_team_items WHERE source_task_id = ?1 AND id != ?2)`, t.ID, itemID)
	if err == nil && (n > 0 || t.Assignee != "") {
		err = fault.New(fault.Rejected, "the task %q belongs to a run or an item already", clip(t.Title)).WithHint("runTask:create makes one")
	}
	return err
}

// giveSource makes a task the source of an item that has not begun; "" takes it away.
func (c *change) giveSource(it *api.AgentTeamItem, id string) error {
	if id == it.SourceTaskID {
		return nil
	}
	if it.Status != api.ItemTodo && it.Status != api.ItemBlocked {
		return fault.New(fault.Rejected, "%q is %s: its source task does not change any more", clip(it.Title), it.Status).WithHint("make it todo first")
	}
	if id != "" {
		t, err := task(c.ctx, c.tx, id)
		if err == nil {
			err = c.checkGiven(t, it.ID)
		}
		if err != nil {
			return err
		}
	}
	it.SourceTaskID = id
	return nil
}

// beginTask begins the task of an item: the one that it was given, or a new one.
func (c *change) beginTask(it api.AgentTeamItem, root, assignee string) (id string, err error) {
	given, err := c.count(`SELECT count(*) FROM tasks WHERE id = ? AND assignee IS NULL`, it.SourceTaskID)
	if err != nil {
		return "", err
	}
	if given > 0 {
		err = c.exec(`UPDATE tasks SET parent_task_id = ?, assignee = ?, status = ?, started_at = ?, item_id = ? WHERE id = ?`,
			root, assignee, api.ItemInProgress, c.now, it.ID, it.SourceTaskID)
		return it.SourceTaskID, err
	}
	id = newID()
	err = c.exec(`INSERT INTO tasks (id, parent_task_id, title, assignee, status, started_at, item_id) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		id, root, it.Title, assignee, api.ItemInProgress, c.now, it.ID)
	return id, err
}

// tellTask writes to the task of an item how the item is. What a teammate has ended stays
// as it was: it is history.
func (c *change) tellTask(it api.AgentTeamItem) error {
	ended := int64(0)
	if it.Status == api.ItemDone || it.Status == api.ItemFailed {
		ended = c.now
	}
	return c.exec(`UPDATE tasks SET status = ?, result_summary = ?, completed_at = ? WHERE id = ? AND (completed_at IS NULL OR assignee IS NULL)`,
		it.Status, null(it.ResultSummary), null(ended), it.SourceTaskID)
}
