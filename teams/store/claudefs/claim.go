package claudefs

import (
	"context"
	"errors"

	"github.com/leadlight-dev/leadlight/teams/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/lock"
)

// ClaimNext claims the first task that is ready for who. A task that another is
// busy with is passed over at first: most likely it is being claimed.
func (t tasks) ClaimNext(ctx context.Context, team, who string) (store.Task, error) {
	who, err := store.CheckAddress(who)
	if err != nil {
		return store.Task{}, err
	}
	p, err := t.open(team)
	if err != nil {
		return store.Task{}, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return store.Task{}, err
		}
		s, err := t.f.scan(ctx, p)
		if err != nil {
			return store.Task{}, err
		}
		var ready []string
		for _, id := range s.ids {
			if task := s.peek(id); task != nil && task.Ready(who) {
				ready = append(ready, id)
			}
		}
		if len(ready) == 0 {
			return store.Task{}, store.NotReady(team, who)
		}
		for _, take := range []taker{t.tryLock, t.waitLock} {
			task, err := t.claimFirst(ctx, p, ready, who, take)
			if err == nil || !errors.Is(err, fault.NoTaskReady) {
				return task, err
			}
		}
		// All of them went to others. Each round like this is somebody's success.
	}
}

// peek is task without the copy, for reading only.
func (s *snapshot) peek(id string) *store.Task {
	c, ok := s.tasks[id]
	if !ok || c.bad != nil || c.task.Status != store.Pending {
		return nil
	}
	c.task.Open = store.OpenBlockers(c.task.BlockedBy, s.status)
	return &c.task
}

// taker takes the lock of a task; nil without an error: not now.
type taker func(ctx context.Context, p *place, id string) (*lock.Held, error)

func (t tasks) tryLock(_ context.Context, p *place, id string) (*lock.Held, error) {
	return lock.Try(t.f.dir, lockFile(p.team, taskLock(id)), "claim task")
}

func (t tasks) waitLock(ctx context.Context, p *place, id string) (*lock.Held, error) {
	return t.f.lock(ctx, p.team, taskLock(id), "claim task")
}

func (t tasks) claimFirst(ctx context.Context, p *place, ids []string, who string, take taker) (store.Task, error) {
	for _, id := range ids {
		held, err := take(ctx, p, id)
		if err != nil {
			return store.Task{}, err
		}
		if held == nil {
			continue
		}
		task, err := t.changeHeld(ctx, p, id, claimFor(who))
		held.Release()
		switch fault.CodeOf(err) {
		case fault.TaskClaimed, fault.TaskBlocked, fault.TaskNotFound, fault.CorruptFile:
			continue // as good as taken: the next scan shows why
		}
		return task, err
	}
	return store.Task{}, store.NotReady(p.team, who)
}
