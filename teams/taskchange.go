package teams

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TaskChange changes a task; nil and empty fields stay as they are.
type TaskChange struct {
	Subject, Description, ActiveForm, Status, Owner *string // Owner "" takes the owner away, and makes one in progress pending
	AddBlocks, AddBlockedBy                         []string
	RemoveBlocks, RemoveBlockedBy                   []string
	Metadata                                        map[string]json.RawMessage // a null deletes the key
}

// UpdateTask changes a task. The status deleted removes it.
func (tl *tasklist) UpdateTask(ctx context.Context, team, id string, c TaskChange) (api.Task, error) {
	if c.Status != nil {
		if err := c.alone(id); err != nil {
			return api.Task{}, err
		}
		status, err := checkStatus(*c.Status, store.Pending, store.InProgress, store.Completed, store.Deleted, store.FailedTask)
		if err != nil {
			return api.Task{}, err
		}
		switch status {
		case store.Deleted:
			task, err := tl.Task(ctx, team, id)
			if err == nil {
				err = tl.RemoveTask(ctx, team, id)
			}
			task.Status = store.Deleted
			return task, err
		case store.FailedTask:
			return tl.FailTask(ctx, team, id, "set to failed")
		case store.Completed:
			if err := tl.mayComplete(ctx, team, id); err != nil {
				return api.Task{}, err
			}
		}
		c.Status = &status
	}
	return tl.changeTask(ctx, team, id, c)
}

// changeTask is UpdateTask for what is no end of the task, or may be one.
func (tl *tasklist) changeTask(ctx context.Context, team, id string, c TaskChange) (api.Task, error) {
	t, err := tl.get(ctx, team)
	if err != nil {
		return api.Task{}, err
	}
	if c.Owner != nil {
		name, err := tl.owner(t, *c.Owner)
		if err != nil {
			return api.Task{}, err
		}
		c.Owner = &name
	}
	var before store.Task
	began := time.Now()
	task, err := tl.tasks.Update(ctx, t.Name, id, func(task *store.Task) error {
		before = task.Clone()
		if err := tl.mayTouch(task); err != nil {
			return err
		}
		c.apply(task, tl.caller.Name)
		return nil
	})
	if err != nil {
		return api.Task{}, err
	}
	switch {
	case task.Owner != "" && task.Owner != before.Owner, task.State() == store.Pending && before.State() == store.Blocked:
		err = tl.assign(ctx, t, task, began)
	case task.Status == store.Completed:
		err = tl.assignUnblocked(ctx, t, task, began)
	}
	tl.offerIn(ctx, t)
	return shownTask(task), err
}

// alone refuses other changes beside a status that ends the task's life: they would
// be lost.
func (c TaskChange) alone(id string) error {
	ends := *c.Status == store.Deleted || *c.Status == store.FailedTask
	more := c.Subject != nil || c.Description != nil || c.ActiveForm != nil || c.Owner != nil || len(c.Metadata) > 0 ||
		len(c.AddBlocks)+len(c.AddBlockedBy)+len(c.RemoveBlocks)+len(c.RemoveBlockedBy) > 0
	if ends && more {
		return fault.New(fault.InvalidArgument, "task %s: the status %s goes with no other change", id, *c.Status).
			WithHint("make the other changes first")
	}
	return nil
}

func (c TaskChange) apply(t *store.Task, caller string) {
	for _, f := range []struct {
		to   *string
		from *string
	}{{&t.Subject, c.Subject}, {&t.Description, c.Description}, {&t.ActiveForm, c.ActiveForm}, {&t.Status, c.Status}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if c.Owner != nil {
		if *c.Owner == "" && c.Status == nil && t.Status == store.InProgress { // nobody is at it any more
			t.Status = store.Pending
			delete(t.Metadata, objectionsKey)
		}
		t.Assign(*c.Owner)
	}
	if c.Status != nil {
		t.Failure = ""
		if t.Status == store.InProgress && t.Owner == "" {
			t.Owner = caller
		}
	}
	t.Blocks = without(append(t.Blocks, c.AddBlocks...), c.RemoveBlocks)
	t.BlockedBy = without(append(t.BlockedBy, c.AddBlockedBy...), c.RemoveBlockedBy)
	for k, v := range c.Metadata {
		if string(v) == "null" {
			delete(t.Metadata, k)
		} else {
			t.SetMeta(k, v)
		}
	}
}

// without returns list without drop and without repetitions.
func without(list, drop []string) []string {
	var out []string
	for _, x := range list {
		if !slices.Contains(drop, x) && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
