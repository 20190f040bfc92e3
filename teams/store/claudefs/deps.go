package claudefs

import (
	"context"
	"errors"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

// Create stores a task under a new id.
func (t tasks) Create(ctx context.Context, team string, task store.Task) (store.Task, error) {
	p, err := t.open(team)
	if err != nil {
		return store.Task{}, err
	}
	task, err = store.CheckNew(task, store.Now())
	if err != nil {
		return store.Task{}, err
	}
	task.Owner = p.local(task.Owner)
	dir, err := t.f.folder(ctx, p, listDir(p))
	if err != nil {
		return store.Task{}, err
	}
	dir.Close()
	held, err := t.f.lock(ctx, team, tasksLock, "create task")
	if err != nil {
		return store.Task{}, err
	}
	defer held.Release()
	dir, err = t.f.dir.Sub(listDir(p)) // kept open: nothing is written into a list that takes its place
	if missing(err) {
		return store.Task{}, store.NoTeam(team)
	}
	if err != nil {
		return store.Task{}, err
	}
	defer dir.Close()
	s, err := t.f.scan(ctx, p)
	if err != nil {
		return store.Task{}, err
	}
	if err := checkEdges(p, s, "new", store.Edges(&store.Task{}, &task)); err != nil {
		return store.Task{}, err
	}
	switch err := t.allocate(ctx, p, dir, &task); {
	case missing(err): // the list was moved away: its team is being deleted
		return store.Task{}, store.NoTeam(team)
	case err != nil:
		return store.Task{}, err
	}
	if err := t.mirror(ctx, p, task.ID, store.Edges(&store.Task{}, &task)); err != nil {
		_ = t.unlink(context.WithoutCancel(ctx), p, task.ID) // if it cannot be removed either, it is seen in the list
		return store.Task{}, err
	}
	t.f.count(p)
	s.links.Fill(&task, t.f.status(ctx, p))
	return task, nil
}

// allocate gives a task the next id and writes its file. The high-water mark is
// raised first, so that an id is used up even if the file vanishes again.
func (t tasks) allocate(ctx context.Context, p *place, dir *files.Dir, task *store.Task) error {
	for {
		highest, err := t.f.highWater(p)
		if err != nil {
			return err
		}
		if task.ID, err = store.NextID(p.team, highest); err != nil {
			return err
		}
		done, err := t.publish(ctx, p, dir, task, highest)
		if done || err != nil {
			return err
		}
	}
}

// publish puts a new task under its id, unless the client has used the id
// meanwhile.
func (t tasks) publish(ctx context.Context, p *place, dir *files.Dir, task *store.Task, highest int64) (bool, error) {
	file, err := dir.Prepare(task.ID+".json", document.Bytes(document.NewTask(task)))
	if err != nil {
		return false, err
	}
	defer file.Discard()
	mark, err := dir.Prepare(highWaterFile, []byte(task.ID))
	if err != nil {
		return false, err
	}
	defer mark.Discard()
	folder, err := lock.Folder(ctx, dir, ".lock", t.f.opts.LockTimeout)
	if err != nil {
		return false, err
	}
	now, err := t.f.highWater(p)
	same := err == nil && now == highest
	if same {
		if err = mark.Swap(); err == nil {
			err = file.Swap()
		}
	}
	folder.Release()
	if !same || err != nil {
		return false, err
	}
	return true, file.Sync()
}

// relink applies a change that concerns the dependencies, or deletes a task. The
// caller holds the lock of the list.
func (t tasks) relink(ctx context.Context, p *place, id string, revise func(store.Task) (store.Task, error)) (store.Task, error) {
	s, err := t.f.scan(ctx, p)
	if err != nil {
		return store.Task{}, err
	}
	var was store.Task
	task, err := t.change(ctx, p, s, id, taskFile(p, id), "update task", func(old store.Task) (store.Task, error) {
		now, err := revise(old)
		if err == nil && now.Status == store.Deleted {
			err = errWhole
		}
		if err == nil {
			err = checkEdges(p, s, id, store.Edges(&old, &now))
		}
		was = old
		return now, err
	})
	if errors.Is(err, errWhole) {
		task = was
		task.Status, task.Open = store.Deleted, nil
		return task, t.deleteHeld(ctx, p, id)
	}
	if err != nil {
		return store.Task{}, err
	}
	if err := t.mirror(ctx, p, id, store.Edges(&was, &task)); err != nil {
		_, _ = t.change(context.WithoutCancel(ctx), p, nil, id, taskFile(p, id), "undo update", func(now store.Task) (store.Task, error) {
			now.Blocks, now.BlockedBy = was.Blocks, was.BlockedBy
			return now, nil
		})
		return store.Task{}, err
	}
	t.f.count(p)
	return task, nil
}

// checkEdges refuses new dependencies on tasks that do not exist, and such that
// would close a cycle.
func checkEdges(p *place, s *snapshot, id string, edges []store.Edge) error {
	return s.links.Graph().CheckEdges(p.team, id, edges, func(other string) bool {
		_, ok := s.tasks[other]
		return ok || other == id
	})
}

// mirror writes the other halves of changed dependencies, and syncs their folder once. If that
// fails, those that were written are taken back.
func (t tasks) mirror(ctx context.Context, p *place, id string, changes []store.Edge) error {
	if len(changes) == 0 {
		return nil
	}
	dir, err := t.f.dir.Sub(listDir(p))
	if err != nil {
		return err
	}
	defer dir.Close()
	for i, e := range changes {
		if err = t.mirrorOne(ctx, p, dir, id, e); err != nil {
			changes = changes[:i]
			break
		}
	}
	if err == nil {
		err = dir.Sync(".")
	}
	if err == nil {
		return nil
	}
	for _, e := range changes {
		e.Add = !e.Add
		_ = t.mirrorOne(context.WithoutCancel(ctx), p, dir, id, e) // the first error is the news
	}
	return err
}

func (t tasks) mirrorOne(ctx context.Context, p *place, dir *files.Dir, id string, e store.Edge) error {
	held, err := t.f.lock(ctx, p.team, taskLock(e.Other), "link tasks")
	if err != nil {
		return err
	}
	defer held.Release()
	_, err = t.changeHeld(ctx, p, dir, nil, e.Other, softTask(p, e.Other), func(task store.Task) (store.Task, error) {
		e.Mirror(&task, id)
		return task, nil
	})
	if code := fault.CodeOf(err); !e.Add && (code == fault.TaskNotFound || code == fault.CorruptFile) {
		return nil // nothing to take away from
	}
	return err
}

// Delete removes a task.
func (t tasks) Delete(ctx context.Context, team, id string) error {
	p, err := t.open(team)
	if err != nil {
		return err
	}
	if link, err := t.isLink(p, id); link || err != nil {
		if err == nil {
			err = t.f.dir.Remove(taskFile(p, id).name)
		}
		return err
	}
	if _, _, err := t.get(ctx, p, id); err != nil {
		return err
	}
	held, err := t.f.lock(ctx, team, tasksLock, "delete task")
	if err != nil {
		return err
	}
	defer held.Release()
	return t.deleteHeld(ctx, p, id)
}

// deleteHeld removes a task and its traces in the others, as the client does. The
// caller holds the lock of the list.
func (t tasks) deleteHeld(ctx context.Context, p *place, id string) error {
	defer t.f.count(p)
	s, err := t.f.scan(ctx, p)
	if err != nil {
		return err
	}
	if err := t.raise(ctx, p, store.IDNumber(id)); err != nil {
		return err
	}
	if err := t.unlink(ctx, p, id); err != nil {
		return err
	}
	dir, err := t.f.dir.Sub(listDir(p))
	if err != nil {
		return err
	}
	defer dir.Close()
	linked := false
	for _, c := range s.list {
		other := c.task.ID
		if c.bad != nil || other == id {
			continue
		}
		for _, e := range []store.Edge{{Other: other, Before: true}, {Other: other}} {
			list := c.task.BlockedBy
			if e.Before {
				list = c.task.Blocks
			}
			if slices.Contains(list, id) {
				linked = true
				if err := t.mirrorOne(ctx, p, dir, id, e); err != nil {
					return err
				}
			}
		}
	}
	if !linked {
		return nil
	}
	return dir.Sync(".")
}
