package daemon

import (
	"context"
	"encoding/json"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// taskMethods read, add and claim tasks.
func taskMethods(serve Serve) []rpc.Method {
	return []rpc.Method{
		on(serve, "live.task.add", "Add a task.", func(p *api.TaskAddParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.TaskAddParams) (api.Task, error) {
				return whole(svc.AddTask(ctx, team, teams.TaskSpec{
					Subject: p.Subject, Description: p.Description, ActiveForm: p.ActiveForm, Owner: p.Owner,
					BlockedBy: p.BlockedBy, Blocks: p.Blocks, Metadata: p.Metadata,
				}))
			}),
		on(serve, "live.task.ls", "List the tasks.", func(p *api.TaskListParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.TaskListParams) ([]api.Task, error) {
				list, _, err := svc.TaskList(ctx, team, teams.TaskFilter{Status: p.Status, Owner: p.Owner, Ready: p.Ready})
				for i := range list {
					list[i], _ = whole(list[i], nil)
				}
				return full(list, err)
			}),
		task(serve, "live.task.show", "Show a task.",
			func(ctx context.Context, svc *teams.Service, team string, p api.TaskParams) (api.Task, error) {
				return svc.Task(ctx, team, p.ID)
			}),
		on(serve, "live.task.claim", "Take a task, or the next one that is ready.", func(p *api.TaskClaimParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.TaskClaimParams) (api.Task, error) {
				if p.ID != "" {
					return whole(svc.ClaimTask(ctx, team, p.ID))
				}
				return whole(svc.ClaimNext(ctx, team, ms(p.WaitMs)))
			}),
	}
}

// changeMethods change tasks.
func changeMethods(serve Serve) []rpc.Method {
	return []rpc.Method{
		on(serve, "live.task.update", "Change a task.", func(p *api.TaskUpdateParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.TaskUpdateParams) (api.Task, error) {
				return whole(svc.UpdateTask(ctx, team, p.ID, teams.TaskChange{
					Subject: p.Subject, Description: p.Description, ActiveForm: p.ActiveForm, Status: p.Status, Owner: p.Owner,
					AddBlocks: p.AddBlocks, AddBlockedBy: p.AddBlockedBy, RemoveBlocks: p.RemoveBlocks, RemoveBlockedBy: p.RemoveBlockedBy,
					Metadata: p.Metadata,
				}))
			}),
		task(serve, "live.task.done", "Complete a task; text is its result.",
			func(ctx context.Context, svc *teams.Service, team string, p api.TaskParams) (api.Task, error) {
				return svc.CompleteTask(ctx, team, p.ID, p.Text)
			}),
		task(serve, "live.task.fail", "Mark a task as failed; text says why.",
			func(ctx context.Context, svc *teams.Service, team string, p api.TaskParams) (api.Task, error) {
				return svc.FailTask(ctx, team, p.ID, p.Text)
			}),
		task(serve, "live.task.release", "Give a task free.",
			func(ctx context.Context, svc *teams.Service, team string, p api.TaskParams) (api.Task, error) {
				return svc.ReleaseTask(ctx, team, p.ID)
			}),
		on(serve, "live.task.rm", "Remove a task.", func(p *api.TaskParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.TaskParams) (rpc.Nothing, error) {
				return rpc.Nothing{}, svc.RemoveTask(ctx, team, p.ID)
			}),
	}
}

// task is a method on one task that answers with it.
func task(serve Serve, name, about string, f func(context.Context, *teams.Service, string, api.TaskParams) (api.Task, error)) rpc.Method {
	return on(serve, name, about, func(p *api.TaskParams) *api.Scope { return &p.Scope },
		func(ctx context.Context, svc *teams.Service, team string, p api.TaskParams) (api.Task, error) {
			return whole(f(ctx, svc, team, p))
		})
}

// whole gives a task empty lists where it has none.
func whole(t api.Task, err error) (api.Task, error) {
	t.Blocks, _ = full(t.Blocks, nil)
	t.BlockedBy, _ = full(t.BlockedBy, nil)
	if t.Metadata == nil {
		t.Metadata = map[string]json.RawMessage{}
	}
	return t, err
}
