package teammate

import (
	"context"
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

// claim takes the next task. One whose claim failed and was done all the same comes first:
// nobody else would take it.
func (m *teammate) claim(ctx context.Context) (task api.Task, err error) {
	if m.unsure {
		mine, _, err := m.o.Service.TaskList(ctx, m.o.Team, teams.TaskFilter{Status: store.InProgress, Owner: m.o.Agent})
		if err != nil {
			return task, err
		}
		m.unsure = false
		if len(mine) > 0 {
			return mine[0], nil
		}
	}
	task, err = m.claimReady(ctx)
	m.unsure = err != nil && fault.CodeOf(err) != fault.NoTaskReady
	return task, err
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
