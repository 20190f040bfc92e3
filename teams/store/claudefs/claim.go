package claudefs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// A claim makes tasks only less ready, so a process that claims one task after
// another need not look at the whole list each time: it goes on with the pending
// ones of its last look. It looks anew when one of us has changed a task
// otherwise, which is counted in a file, and after a short time in any case, because
// Claude Code does not count. Each task is still judged by its file, under its
// lock, and that nothing is ready is said after a new look only.
type view struct {
	snap    *snapshot
	pending []*cached // not yet found taken
	until   time.Time
	changes int64
}

// lifeOf is how long a look is good that took so long: a quarter of a second, or
// as long as keeps looking below a twentieth of the time, but two seconds at most.
func lifeOf(took time.Duration) time.Duration {
	return min(max(250*time.Millisecond, 20*took), 2*time.Second)
}

const changesFile = "tasks-changed"

// changes counts the changes of a list by us, other than claims.
func changes(locks *files.Dir) int64 {
	info, err := locks.Lstat(changesFile)
	if err != nil {
		return 0
	}
	return info.Size()
}

// count counts one change more: by a byte, because sizes are exact and times are
// not. The change has been made already; that it cannot be counted costs others
// a moment.
func (f *FS) count(p *place) {
	if file, err := f.dir.OpenFile(locksFolder(p.team)+"/"+changesFile, files.AppendFlags); err == nil {
		_, _ = file.WriteString(".")
		_ = file.Close()
	}
}

// view returns the last look at a list, or a new one.
func (f *FS) view(ctx context.Context, p *place, locks *files.Dir, anew bool) (*view, bool, error) {
	c := f.cacheOf(p)
	now, changes := time.Now(), changes(locks)
	c.mu.Lock()
	last := c.view
	c.mu.Unlock()
	if !anew && last != nil && last.changes == changes && now.Before(last.until) {
		return last, false, nil
	}
	s, err := f.scan(ctx, p)
	if err != nil {
		return nil, false, err
	}
	v := &view{snap: s, until: time.Now().Add(lifeOf(time.Since(now))), changes: changes}
	for _, x := range s.list {
		if x.bad == nil && x.task.Status == store.Pending {
			v.pending = append(v.pending, x)
		}
	}
	c.mu.Lock()
	c.view = v
	c.mu.Unlock()
	return v, true, nil
}

// ClaimNext claims the first task that is ready for who. A task that another is
// busy with is passed over at first: most likely it is being claimed.
func (t tasks) ClaimNext(ctx context.Context, team, who string) (store.Task, error) {
	p, err := t.open(team)
	if err != nil {
		return store.Task{}, err
	}
	if who, err = store.CheckAddress(p.local(who)); err != nil {
		return store.Task{}, err
	}
	locks, err := t.f.locks(team)
	if err != nil {
		return store.Task{}, err
	}
	defer locks.Close()
	for anew := false; ; anew = true {
		if err := ctx.Err(); err != nil {
			return store.Task{}, err
		}
		v, fresh, err := t.f.view(ctx, p, locks, anew)
		if err != nil {
			return store.Task{}, err
		}
		for _, wait := range []bool{false, true} {
			task, tried, err := t.claimFirst(ctx, p, v, who, locks, wait)
			if err == nil || !errors.Is(err, fault.NoTaskReady) {
				return task, err
			}
			if !tried && fresh {
				return store.Task{}, err
			}
		}
		// All of them went to others. Each round like this is somebody's success.
	}
}

// take takes the lock of a task; nil without an error: not now.
func (t tasks) take(ctx context.Context, locks *files.Dir, id string, wait bool) (*lock.Held, error) {
	if !wait {
		return lock.Try(locks, taskLock(id), claimVerb)
	}
	return lock.Acquire(ctx, locks, taskLock(id), claimVerb, t.f.opts.LockTimeout)
}

// claimFirst claims the first task of a view that is ready for who, and says
// whether there was any to try.
func (t tasks) claimFirst(ctx context.Context, p *place, v *view, who string, locks *files.Dir, wait bool) (store.Task, bool, error) {
	dir, err := t.f.dir.Sub(listDir(p))
	if missing(err) {
		return store.Task{}, false, store.NotReady(p.team, who)
	}
	if err != nil {
		return store.Task{}, false, err
	}
	defer dir.Close()
	tried := false
	for c := t.f.candidate(p, v, who, -1); c != nil; c = t.f.candidate(p, v, who, c.num) {
		if !t.stillPending(ctx, p, dir, c) {
			t.f.drop(p, v, c)
			continue
		}
		tried = true
		held, err := t.take(ctx, locks, c.task.ID, wait)
		if err != nil {
			return store.Task{}, true, err
		}
		if held == nil {
			continue
		}
		task, err := t.changeHeld(ctx, p, dir, v.snap, c.task.ID, softTask(p, c.task.ID), revising(store.Claiming(who)))
		held.Release()
		t.f.drop(p, v, c)
		switch fault.CodeOf(err) {
		case fault.TaskClaimed, fault.TaskBlocked, fault.TaskNotFound, fault.CorruptFile:
			continue // as good as taken: the next look shows why
		}
		return task, true, err
	}
	return store.Task{}, tried, store.NotReady(p.team, who)
}

// candidate returns the first task of a view, after the one with the number
// after, that was ready for who.
func (f *FS) candidate(p *place, v *view, who string, after int64) *cached {
	c := f.cacheOf(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range v.pending {
		if x.num > after && x.task.Ready(who) && v.snap.links.Free(&x.task, v.snap.status) {
			return x
		}
	}
	return nil
}

// stillPending looks at a task's file before its lock is taken: in a busy list
// most were claimed meanwhile.
func (t tasks) stillPending(ctx context.Context, p *place, dir *files.Dir, c *cached) bool {
	info, err := dir.Lstat(c.task.ID + ".json")
	if err != nil {
		return false
	}
	now, err := t.f.cacheOf(p).look(ctx, t.f, p, c.task.ID, info)
	return err == nil && now.bad == nil && now.task.Status == store.Pending
}

// drop takes a task out of a view.
func (f *FS) drop(p *place, v *view, x *cached) {
	c := f.cacheOf(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	v.pending = slices.DeleteFunc(v.pending, func(y *cached) bool { return x == y })
}
