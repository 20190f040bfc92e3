package jetstream

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

type tasks struct{ e *Engine }

// Tasks returns the task lists.
func (e *Engine) Tasks() store.Tasks { return tasks{e} }

func (e *Engine) now() time.Time { return e.wall().UTC().Truncate(time.Millisecond) }

func (in *teamCopy) taskKey(id string) string { return in.under + "task." + id }

// Create stores a task under a new id.
func (t tasks) Create(ctx context.Context, name string, task store.Task) (store.Task, error) {
	task, err := store.CheckNew(task, t.e.now())
	if err != nil {
		return store.Task{}, err
	}
	task.Owner = store.LocalName(task.Owner, name)
	err = t.e.contend(ctx, "create task", func() error {
		in, err := t.e.team(ctx, name, true)
		if err != nil {
			return err
		}
		in.mu.Lock()
		w, err := in.fresh(&task)
		in.mu.Unlock()
		if err != nil {
			return err
		}
		w.subject, w.value = in.taskKey(task.ID), document.NewTask(&task).Raw()
		if w.wide != "" {
			w.wide = in.taskKey("*")
		}
		x, err := t.e.put(ctx, w)
		if err != nil {
			return err
		}
		in.took(w.subject, x)
		if err := t.e.still(ctx, in); err != nil {
			return err
		}
		in.mu.Lock()
		task = in.board.view(in.board.tasks[task.ID])
		in.mu.Unlock()
		return nil
	})
	return task, err
}

// fresh gives a task its id, and says on what its write depends. Called with mu held.
func (in *teamCopy) fresh(task *store.Task) (write, error) {
	b := &in.board
	var err error
	if task.ID, err = store.NextID(in.name, b.highest); err != nil {
		return write{}, err
	}
	exists := func(id string) bool { return b.tasks[id].there() || id == task.ID }
	if edges := store.Edges(&store.Task{}, task); len(edges) > 0 {
		if err := b.index().Graph().CheckEdges(in.name, task.ID, edges, exists); err != nil {
			return write{}, err
		}
	}
	if len(task.Blocks) == 0 {
		return write{cas: true}, nil // nothing can wait for it yet
	}
	return write{cas: true, rev: b.newest, wide: "all"}, nil
}

// Get reads one task.
func (t tasks) Get(ctx context.Context, name, id string) (store.Task, error) {
	in, err := t.e.team(ctx, name, true)
	if err != nil {
		return store.Task{}, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	n, err := in.board.find(id)
	if err != nil {
		return store.Task{}, err
	}
	return in.board.view(n), nil
}

// List reads the list.
func (t tasks) List(ctx context.Context, name string) (list []store.Task, warnings []string, err error) {
	in, err := t.e.team(ctx, name, true)
	if errors.Is(err, fault.TeamNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, n := range in.board.order {
		in.board.look(n)
		switch {
		case !n.there():
		case n.bad != nil:
			_, err := in.board.find(n.id)
			warnings = append(warnings, err.Error())
		default:
			list = append(list, in.board.view(n))
		}
	}
	warnings = append(warnings, in.board.index().Graph().Cycles()...)
	return list, append(warnings, in.board.index().Warnings(list, in.board.status)...), nil
}

// Update changes one task.
func (t tasks) Update(ctx context.Context, name, id string, change func(*store.Task) error) (task store.Task, err error) {
	err = t.e.contend(ctx, "change task", func() error {
		in, err := t.e.team(ctx, name, true)
		if err != nil {
			return err
		}
		task, err = t.change(ctx, in, id, false, change)
		return err
	})
	return task, err
}

// change changes a task. claim says that only its owner and its status are changed, to in
// progress, and the times that go with it.
func (t tasks) change(ctx context.Context, in *teamCopy, id string, claim bool, change func(*store.Task) error) (store.Task, error) {
	in.mu.Lock()
	n, err := in.board.find(id)
	var seen *entry
	var old, next store.Task
	if err == nil {
		seen, old = n.entry, in.board.peek(n) // what comes later is a conflict
	}
	in.mu.Unlock()
	if err == nil {
		next, err = store.Revise(&old, t.e.now(), change)
	}
	if err != nil {
		return store.Task{}, err
	}
	next.Owner = store.LocalName(next.Owner, in.name)
	if next.Status == store.Deleted {
		next.Open = nil
		return next, t.delete(ctx, in, n.id, seen)
	}
	edges := store.Edges(&old, &next)
	if len(edges) > 0 {
		return t.relink(ctx, in, n, seen, old, next, edges)
	}
	return t.store(ctx, in, n, seen, &old, &next, storing{claim: claim})
}

// storing is what is to be known of a write beside what it writes.
type storing struct {
	all   uint64 // the newest write of a task that there may be, if the change depends on the others; else 0
	claim bool   // see change
}

// store writes a new state of a task over the one that was seen.
func (t tasks) store(ctx context.Context, in *teamCopy, n *node, seen *entry, old, next *store.Task, how storing) (store.Task, error) {
	value, changed, err := edit(seen.value, old, next)
	if err != nil {
		return store.Task{}, err
	}
	if changed {
		w := over(seen)
		w.subject, w.value = in.taskKey(n.id), value
		switch {
		case how.claim:
			w.over = seen.rev
		case how.all > 0:
			w.rev, w.wide = how.all, in.taskKey("*")
		}
		x, err := t.e.put(ctx, w)
		if err != nil {
			return store.Task{}, err
		}
		in.took(w.subject, x)
		if how.claim && len(next.Odd) == 0 && !next.UpdatedAt.IsZero() {
			return *next, nil // as it would be read
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.board.view(n), nil
}

// relink changes a task's links. It is done only if no task has changed meanwhile: a
// cycle may be closed from several sides. What is taken away is taken from the other side
// first.
func (t tasks) relink(ctx context.Context, in *teamCopy, n *node, seen *entry, old, next store.Task, edges []store.Edge) (store.Task, error) {
	in.mu.Lock()
	b := &in.board
	all := b.newest
	if n.entry != seen {
		in.mu.Unlock()
		return store.Task{}, errConflict
	}
	was := old
	was.Blocks, was.BlockedBy = n.task.Blocks, n.task.BlockedBy // what is stored is its own side alone
	err := b.index().Graph().CheckEdges(in.name, n.id, edges, func(id string) bool { return b.tasks[id].there() })
	in.mu.Unlock()
	if err != nil {
		return store.Task{}, err
	}
	for _, e := range edges {
		in.mu.Lock()
		other, there := b.tasks[e.Other], b.tasks[e.Other].there()
		if e.Add || !there {
			in.mu.Unlock()
			continue
		}
		b.look(other)
		its, told := other.entry, other.task.Clone()
		in.mu.Unlock()
		now := told.Clone()
		if e.Mirror(&now, n.id); slices.Equal(told.Blocks, now.Blocks) && slices.Equal(told.BlockedBy, now.BlockedBy) {
			continue
		}
		if _, err := t.store(ctx, in, other, its, &told, &now, storing{all: all}); err != nil {
			return store.Task{}, err
		}
		in.mu.Lock()
		all = other.entry.rev
		in.mu.Unlock()
	}
	return t.store(ctx, in, n, seen, &was, &next, storing{all: all})
}

// Claim makes who the owner of a task.
func (t tasks) Claim(ctx context.Context, name, id, who string) (task store.Task, err error) {
	if who, err = store.Owner(name, who); err != nil {
		return task, err
	}
	fresh := false
	err = t.e.contend(ctx, "claim task", func() error {
		in, err := t.e.team(ctx, name, fresh)
		if err != nil {
			return err
		}
		task, err = t.claim(ctx, in, id, who)
		if err != nil && !fresh && fault.CodeOf(err) != fault.EngineUnavailable { // the copy may be behind
			err = errors.Join(errConflict, err)
		}
		fresh = true
		return err
	})
	return task, err
}

func (t tasks) claim(ctx context.Context, in *teamCopy, id, who string) (store.Task, error) {
	return t.change(ctx, in, id, true, store.Claiming(who))
}

// contention is how long others are expected to claim, too, after one has come first.
const contention = 250 * time.Millisecond

// ClaimNext claims the first task that is ready for who.
func (t tasks) ClaimNext(ctx context.Context, name, who string) (task store.Task, err error) {
	if who, err = store.Owner(name, who); err != nil {
		return task, err
	}
	fresh := false
	err = t.e.contend(ctx, "claim task", func() error {
		in, err := t.e.team(ctx, name, fresh)
		if err != nil {
			return err
		}
		in.mu.Lock()
		var seen uint64
		n, pending := in.board.pick(who, fresh)
		var more <-chan struct{}
		if n != nil {
			n.taken, seen = true, n.entry.rev
		} else if pending {
			more = in.more()
		}
		in.mu.Unlock()
		switch {
		case n != nil:
			task, err = t.claim(ctx, in, n.id, who)
			in.mu.Lock()
			if n.taken = false; err != nil {
				in.board.crowded()
				n.lost = seen
				in.wake() // nothing need come of it that would wake those who wait for it
			}
			in.mu.Unlock()
			if slices.ContainsFunc([]error{errConflict, fault.TaskClaimed, fault.TaskBlocked, fault.TaskNotFound}, func(lost error) bool { return errors.Is(err, lost) }) {
				fresh, err = false, errConflict // somebody else has it; there may be others
			}
			return err
		case pending:
			select {
			case <-more:
			case <-ctx.Done():
			}
			return errConflict
		case !fresh:
			fresh = true
			return errConflict
		}
		return store.NotReady(name, who)
	})
	return task, err
}

// Delete removes a task. That it was there stays known, so that its id is never used
// again.
func (t tasks) Delete(ctx context.Context, name, id string) error {
	_, err := t.Update(ctx, name, id, func(x *store.Task) error { x.Status = store.Deleted; return nil })
	return err
}

func (t tasks) delete(ctx context.Context, in *teamCopy, id string, seen *entry) error {
	w := over(seen)
	w.subject, w.deleted = in.taskKey(id), true
	x, err := t.e.put(ctx, w)
	if err == nil {
		in.took(w.subject, x)
	}
	return err
}

// Watch hints at changes of the list.
func (t tasks) Watch(ctx context.Context, name string) (<-chan struct{}, error) {
	return t.e.watch(ctx, name, func(in *teamCopy) (*mirror, func(string) bool, error) { return in.mirror, nil, nil })
}
