package teammate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// How long a worker waits until it tries to claim again.
const (
	claimFirst = time.Second     // after a failure; each pause is twice as long
	claimAgain = 5 * time.Second // at most
	claimMost  = time.Minute     // when nothing was ready
)

// timeGrain is how far the time of a task may lie before it was written: some file systems
// are that coarse.
const timeGrain = 100 * time.Millisecond

// claim takes the next task. What earlier ones have brought is written down before that. One
// whose claim failed and was done all the same comes first: nobody else would take it.
func (m *teammate) claim(ctx context.Context) (task api.Task, err error) {
	m.writeBrought(ctx)
	if !m.unsure.IsZero() {
		mine, _, err := m.o.Service.TaskList(ctx, m.o.Team, teams.TaskFilter{Status: store.InProgress, Owner: m.o.Agent})
		if err != nil {
			return task, err
		}
		since := m.unsure
		m.unsure = time.Time{}
		for _, task := range mine {
			if _, done := m.brought[task.ID]; !done && !(task.UpdatedAt != nil && time.Time(*task.UpdatedAt).Before(since)) && m.o.Service.TakesTask(ctx, m.launch, task) {
				return task, nil
			}
		}
	}
	began := time.Now().Add(-timeGrain)
	if task, err = m.claimReady(ctx); err == nil {
		delete(m.brought, task.ID) // it was given back: it is done anew
	} else if fault.CodeOf(err) != fault.NoTaskReady {
		m.unsure = began
	}
	return task, err
}

// keep keeps what a task has brought, since err did not let it be written down.
func (m *teammate) keep(id string, err error, write func() error) {
	if !passing(err) {
		write = nil
	}
	if m.brought == nil {
		m.brought = map[string]func() error{}
	}
	m.brought[id] = write
}

// writeBrought writes down what was kept. What cannot be written yet holds up no other task.
func (m *teammate) writeBrought(ctx context.Context) {
	for _, id := range slices.Sorted(maps.Keys(m.brought)) {
		write := m.brought[id]
		if write == nil {
			continue // it can never be written down
		}
		err := write()
		if no, objected := errors.AsType[teams.Objection](err); objected {
			_, err = m.o.Service.FailTask(context.WithoutCancel(ctx), m.o.Team, id, no.Feedback)
		}
		switch {
		case err == nil:
			delete(m.brought, id)
			m.print("what task %s has brought is written down", id)
		case !passing(err):
			m.brought[id] = nil
			m.print("what task %s has brought cannot be written down: %v", id, err)
		}
	}
}

// claimReady takes a task that is ready. A worker without a command of its own takes only
// those that bring one.
func (m *teammate) claimReady(ctx context.Context) (api.Task, error) {
	if m.launch.Run != "" || len(m.launch.Argv) > 0 {
		return m.o.Service.ClaimNext(ctx, m.o.Team, 0)
	}
	ready, _, err := m.o.Service.TaskList(ctx, m.o.Team, teams.TaskFilter{Ready: true})
	if err != nil {
		return api.Task{}, err
	}
	for _, task := range ready {
		if !m.o.Service.TakesTask(ctx, m.launch, task) {
			continue
		}
		task, err := m.o.Service.ClaimTask(ctx, m.o.Team, task.ID)
		if code := fault.CodeOf(err); code != fault.TaskClaimed && code != fault.TaskBlocked {
			return task, err
		}
	}
	return api.Task{}, fault.New(fault.NoTaskReady, "no task is ready that it has a command for")
}
