package teams

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// countObjection notes one more objection to the completion of a task.
func (tl *tasklist) countObjection(ctx context.Context, t store.Team, id string) (n int, err error) {
	_, err = tl.tasks.Update(ctx, t.Name, id, func(task *store.Task) error {
		n = 0
		_ = json.Unmarshal(task.Metadata[objectionsKey], &n) // what is no number counts as none
		n++
		task.SetMeta(objectionsKey, rawjson.Encode(n))
		return nil
	})
	return n, err
}

// create makes a task. If there are hooks on TaskCreated, they are asked while
// nobody can claim it, and an objection removes it again: fault.Rejected.
func (tl *tasklist) create(ctx context.Context, t store.Team, task store.Task) (store.Task, error) {
	all, err := tl.hooksOf(ctx, t, hooks.TaskCreated)
	if err != nil {
		return task, err
	}
	if len(all) == 0 {
		return tl.tasks.Create(ctx, t.Name, task)
	}
	task = task.Clone()
	task.SetAwaitsHooks(true)
	made, err := tl.tasks.Create(ctx, t.Name, task)
	if err != nil {
		return made, err
	}
	answer, in, err := tl.askHooks(ctx, t, all, inputOf(hooks.TaskCreated, made))
	if err == nil && answer.Objects() {
		err = fault.New(fault.Rejected, "the task is not added: %w", Objection{answer.Feedback(in)}).WithHint("%s", answer.WayOut("change it as the hook asks"))
	}
	if err != nil {
		if removed := tl.tasks.Delete(context.WithoutCancel(ctx), t.Name, made.ID); removed != nil {
			err = fmt.Errorf("%w; and task %s could not be removed again: %w", err, made.ID, removed)
		}
		return made, err
	}
	return tl.tasks.Update(ctx, t.Name, made.ID, func(task *store.Task) error {
		task.SetAwaitsHooks(false)
		return nil
	})
}

// mayComplete asks the hooks whether a task may be completed, before anything is
// written: fault.Rejected, with their feedback. After hooks.MaxObjections the lead
// is told.
func (tl *tasklist) mayComplete(ctx context.Context, team, id string) error {
	t, err := tl.get(ctx, team)
	if err != nil {
		return err
	}
	all, err := tl.hooksOf(ctx, t, hooks.TaskCompleted)
	if err != nil || len(all) == 0 {
		return err
	}
	task, err := tl.tasks.Get(ctx, t.Name, id)
	if err != nil || task.Status == store.Completed || task.State() == store.Blocked {
		return err // what is blocked is refused by the store
	}
	if err := tl.mayTouch(&task); err != nil {
		return err
	}
	answer, in, err := tl.askHooks(ctx, t, all, inputOf(hooks.TaskCompleted, task))
	if err != nil || !answer.Objects() {
		return err
	}
	n, err := tl.countObjection(ctx, t, id)
	if err != nil {
		return err
	}
	f := fault.New(fault.Rejected, "task %s is not completed: %w", id, Objection{answer.Feedback(in)})
	if n < hooks.MaxObjections {
		return f.WithHint("%s", answer.WayOut(fmt.Sprintf("do what the hook asks for, then leadlight task done %s", id)))
	}
	if n == hooks.MaxObjections {
		text := fmt.Sprintf("Task %s was not completed %d times. %s", id, n, answer.Feedback(in))
		if err := tl.tellOfObjections(ctx, t, text, "a hook keeps task "+id+" open"); err != nil {
			return err
		}
	}
	return f.WithHint("that was objection %d: stop trying, the lead knows; leadlight task fail %s --reason TEXT gives it up", n, id)
}
