package claudefs

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

type tasks struct{ f *FS }

const tasksLock = "tasks"

// taskLocks bounds the number of lock files of a list, which are never deleted:
// tasks whose numbers are that far apart share one.
const taskLocks = 64

func taskLock(id string) string {
	return "task-" + strconv.FormatInt(store.IDNumber(id)%taskLocks, 10)
}

// open finds a task list. It need not belong to a team: a client without a team
// has one, too.
func (t tasks) open(team string) (*place, error) {
	p, err := t.f.where(team)
	if errors.Is(err, fault.TeamNotFound) && t.f.exists("tasks/"+team) {
		return &place{team: team, folder: team}, nil
	}
	return p, err
}

// Get reads one task.
func (t tasks) Get(ctx context.Context, team, id string) (store.Task, error) {
	p, err := t.open(team)
	if err != nil {
		return store.Task{}, err
	}
	task, _, err := t.get(ctx, p, id)
	return task, err
}

func (t tasks) get(ctx context.Context, p *place, id string) (store.Task, *snapshot, error) {
	if store.IDNumber(id) < 0 {
		return store.Task{}, nil, store.NoTask(p.team, id)
	}
	info, err := t.f.dir.Lstat(taskFile(p, id).name)
	if missing(err) {
		return store.Task{}, nil, store.NoTask(p.team, id)
	}
	if err != nil {
		return store.Task{}, nil, err
	}
	now, err := t.f.cacheOf(p).look(ctx, t.f, p, id, info)
	switch {
	case missing(err):
		return store.Task{}, nil, store.NoTask(p.team, id)
	case err != nil:
		return store.Task{}, nil, err
	case now.bad != nil:
		return store.Task{}, nil, now.bad
	case now.task.Status == store.Deleted || now.task.Internal:
		return store.Task{}, nil, store.NoTask(p.team, id)
	}
	s, err := t.f.scan(ctx, p) // others may say that they block it
	if err != nil {
		return store.Task{}, nil, err
	}
	return s.open(now), s, nil
}

// List reads the list.
func (t tasks) List(ctx context.Context, team string) ([]store.Task, []string, error) {
	p, err := t.open(team)
	if errors.Is(err, fault.TeamNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := t.f.scan(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	warnings := append(s.warnings, s.links.Graph().Cycles()...)
	var list []store.Task
	for _, c := range s.list {
		if c.bad != nil || c.task.Internal || c.task.Status == store.Deleted {
			continue
		}
		list = append(list, s.open(c))
	}
	return list, append(warnings, s.links.Warnings(list, s.status)...), nil
}

// Update changes one task. A change of dependencies, or a deletion, concerns
// other files too and is done under the lock of the whole list.
func (t tasks) Update(ctx context.Context, team, id string, change func(*store.Task) error) (store.Task, error) {
	p, err := t.open(team)
	if err != nil {
		return store.Task{}, err
	}
	_, s, err := t.get(ctx, p, id) // no lock is made for a task that is not there
	if err != nil {
		return store.Task{}, err
	}
	revise := revising(change)
	task, err := t.change(ctx, p, s, id, taskFile(p, id), "update task", func(old store.Task) (store.Task, error) {
		now, err := revise(old)
		if err == nil && (now.Status == store.Deleted || !sameEdges(&old, &now)) {
			err = errWhole
		}
		return now, err
	})
	if err == nil {
		t.f.count(p)
	}
	if !errors.Is(err, errWhole) {
		return task, err
	}
	held, err := t.f.lock(ctx, team, tasksLock, "update task")
	if err != nil {
		return store.Task{}, err
	}
	defer held.Release()
	return t.relink(ctx, p, id, revise)
}

// errWhole says that a change needs the lock of the whole list.
var errWhole = errors.New("concerns the whole list")

func sameEdges(a, b *store.Task) bool {
	return slices.Equal(a.Blocks, b.Blocks) && slices.Equal(a.BlockedBy, b.BlockedBy)
}

// Claim makes who the owner of a task. As in ClaimNext the folder is not synced: after a power
// failure the task may be pending again, which is right, because whoever claimed it has not
// survived that either.
func (t tasks) Claim(ctx context.Context, team, id, who string) (store.Task, error) {
	p, err := t.open(team)
	if err != nil {
		return store.Task{}, err
	}
	if who, err = store.CheckAddress(p.local(who)); err != nil {
		return store.Task{}, err
	}
	_, s, err := t.get(ctx, p, id)
	if err != nil {
		return store.Task{}, err
	}
	return t.change(ctx, p, s, id, softTask(p, id), claimVerb, revising(store.Claiming(who)))
}

const claimVerb = "claim task"

func revising(change func(*store.Task) error) func(store.Task) (store.Task, error) {
	return func(old store.Task) (store.Task, error) { return store.Revise(&old, store.Now(), change) }
}

// change edits the file of one task under the task's lock.
func (t tasks) change(ctx context.Context, p *place, s *snapshot, id string, x file, verb string, next func(store.Task) (store.Task, error)) (store.Task, error) {
	held, err := t.f.lock(ctx, p.team, taskLock(id), verb)
	if err != nil {
		return store.Task{}, err
	}
	defer held.Release()
	dir, err := t.f.dir.Sub(listDir(p))
	if err != nil {
		return store.Task{}, err
	}
	defer dir.Close()
	return t.changeHeld(ctx, p, dir, s, id, x, next)
}

// changeHeld is change for a caller that holds the lock. What next gets is read
// under it. With a look at the list, it has the links that others say, and Open filled.
func (t tasks) changeHeld(ctx context.Context, p *place, dir *files.Dir, s *snapshot, id string, x file, next func(store.Task) (store.Task, error)) (store.Task, error) {
	var result store.Task
	err := t.f.editIn(ctx, dir, x, func(data []byte) ([]byte, error) {
		if data == nil {
			return nil, store.NoTask(p.team, id)
		}
		old, o, err := p.openTask(id, data)
		if err != nil {
			return nil, err
		}
		if s != nil {
			s.links.Join(&old, t.f.status(ctx, p))
		}
		now, err := next(old)
		if err != nil {
			return nil, err
		}
		now.Owner = p.local(now.Owner)
		before := o.Raw()
		document.SaveTask(o, &old, &now)
		if result = now; slices.Equal(before, o.Raw()) {
			return data, nil
		}
		return document.Bytes(o), nil
	})
	if err != nil {
		return store.Task{}, err
	}
	if s != nil {
		s.links.Fill(&result, t.f.status(ctx, p))
	}
	if result.UpdatedAt.IsZero() {
		result.UpdatedAt = time.Now()
	}
	return result, nil
}

// Watch hints at changes of the list.
func (t tasks) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	p, err := t.open(team)
	if err != nil {
		return nil, err
	}
	return t.f.watcher.Watch(ctx, []string{t.f.dir.Join(listDir(p))}, nil)
}
