package teams

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TaskSpec describes a task to be added.
type TaskSpec struct {
	Subject     string
	Description string
	ActiveForm  string
	Owner       string
	BlockedBy   []string
	Blocks      []string
	Metadata    map[string]json.RawMessage
}

// noteKey is where metadata says what happened to a task.
const noteKey = "note"

func setNote(t *store.Task, note string) {
	t.SetMeta(noteKey, rawjson.Quote(note))
}

// AddTask adds a task: fault.TaskNotFound for a blocker that is not there,
// fault.InvalidArgument for a cycle.
func (tl *tasklist) AddTask(ctx context.Context, team string, spec TaskSpec) (api.Task, error) {
	t, err := tl.get(ctx, team)
	if err != nil {
		return api.Task{}, err
	}
	if store.Blank(spec.Subject) {
		return api.Task{}, fault.New(fault.InvalidArgument, "the task has no subject").WithHint("leadlight task add SUBJECT")
	}
	if err := checkText("task", spec.Subject+spec.Description); err != nil {
		return api.Task{}, err
	}
	if spec.Owner, err = tl.owner(t, spec.Owner); err != nil {
		return api.Task{}, err
	}
	began := time.Now()
	task, err := tl.create(ctx, t, tl.fresh(spec))
	if err != nil {
		return api.Task{}, fmt.Errorf("add a task: %w", err)
	}
	err = tl.assign(ctx, t, task, began)
	tl.offerIn(ctx, t)
	return shownTask(task), err
}

// AddOwnTask adds a task for its owner, with a command of its own that the operator
// wrote, "" for none: a worker obeys it. The task has the metadata of spec from the
// moment on that its owner can take it, and not before.
func (tl *tasklist) AddOwnTask(ctx context.Context, team string, spec TaskSpec, line string) (api.Task, error) {
	if line == "" {
		return tl.AddTask(ctx, team, spec)
	}
	if err := tl.leadOnly("give a task a command"); err != nil {
		return api.Task{}, err
	}
	raw, err := json.Marshal(line)
	if err != nil {
		return api.Task{}, fmt.Errorf("add a task: %w", err)
	}
	change := TaskChange{Owner: new(spec.Owner), Metadata: maps.Clone(spec.Metadata)}
	spec.Owner, spec.Metadata = store.Lead, map[string]json.RawMessage{RunKey: raw}
	task, err := tl.AddTask(ctx, team, spec)
	if err == nil {
		err = tl.panes.Records().TrustRun(ctx, team, task.ID, line)
	}
	if err != nil {
		return task, err
	}
	return tl.UpdateTask(ctx, team, task.ID, change)
}

// fresh is a new task as described, meant for its owner.
func (tl *tasklist) fresh(spec TaskSpec) store.Task {
	t := store.Task{
		Subject: spec.Subject, Description: spec.Description, ActiveForm: spec.ActiveForm, Status: store.Pending,
		BlockedBy: spec.BlockedBy, Blocks: spec.Blocks, Metadata: maps.Clone(spec.Metadata), CreatedBy: tl.caller.Name,
	}
	t.Assign(spec.Owner)
	return t
}

// owner checks a task's owner: a member of the team, or nobody.
func (tl *tasklist) owner(t store.Team, name string) (string, error) {
	if name == "" || name == store.Lead {
		return name, nil
	}
	m, err := memberOf(t, name)
	return m.Name, err
}

// TaskFilter picks tasks; the zero value picks all.
type TaskFilter struct {
	Status string // as shown: pending in_progress completed blocked failed
	Owner  string
	Ready  bool
}

// statusNames are the statuses people may name, with the older spellings.
var statusNames = map[string]string{
	store.Pending: store.Pending, store.InProgress: store.InProgress, store.Completed: store.Completed, store.Blocked: store.Blocked,
	store.FailedTask: store.FailedTask, store.Deleted: store.Deleted, "claimed": store.InProgress, "done": store.Completed, "todo": store.Pending,
}

// checkStatus is the status of a name, which has to be one of those that are taken: without
// any, those that are shown.
func checkStatus(status string, taken ...string) (string, error) {
	s, ok := statusNames[status]
	if len(taken) == 0 {
		taken = []string{store.Pending, store.InProgress, store.Completed, store.Blocked, store.FailedTask}
	}
	if !ok || !slices.Contains(taken, s) {
		return "", fault.New(fault.InvalidArgument, "%q is not a status that is taken here", store.Shown(status)).
			WithHint("the statuses are: %s", strings.Join(taken, ", "))
	}
	return s, nil
}

// TaskList returns the tasks in the order of their ids, and warnings about files
// that could not be read, or hold something odd.
func (tl *tasklist) TaskList(ctx context.Context, team string, f TaskFilter) ([]api.Task, []string, error) {
	shown, odd, warnings, err := tl.taskList(ctx, team, f)
	return shown, append(warnings, summary(odd)...), err
}

// taskList returns apart what is odd in the whole list. Its warnings are about what could not
// be read, and about circles.
func (tl *tasklist) taskList(ctx context.Context, team string, f TaskFilter) (out []api.Task, odd []oddity, warnings []string, err error) {
	t, err := tl.get(ctx, team)
	if err != nil {
		return nil, nil, nil, err
	}
	if f.Status != "" {
		if f.Status, err = checkStatus(f.Status); err != nil {
			return nil, nil, nil, err
		}
	}
	list, warnings, err := tl.tasks.List(ctx, t.Name)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("list tasks: %w", err)
	}
	out = []api.Task{}
	for _, task := range list {
		shown := shownTask(task)
		if (f.Status == "" || shown.Status == f.Status) && (f.Owner == "" || store.SameName(t.Local(f.Owner), task.Owner)) && (!f.Ready || shown.Ready) {
			out = append(out, shown)
		}
	}
	return out, taskOddities(t, list), warnings, nil
}

// Task returns one task: fault.TaskNotFound.
func (tl *tasklist) Task(ctx context.Context, team, id string) (api.Task, error) {
	t, err := tl.get(ctx, team)
	if err != nil {
		return api.Task{}, err
	}
	task, err := tl.tasks.Get(ctx, t.Name, id)
	return shownTask(task), err
}

// ClaimTask gives the caller a task: fault.TaskClaimed, fault.TaskBlocked.
func (tl *tasklist) ClaimTask(ctx context.Context, team, id string) (api.Task, error) {
	return tl.onTask(ctx, team, func(t store.Team) (store.Task, error) { return tl.tasks.Claim(ctx, t.Name, id, tl.caller.Name) })
}

// ClaimNext gives the caller the first task that is ready for it, and waits for
// one as long as wait: fault.NoTaskReady.
func (tl *tasklist) ClaimNext(ctx context.Context, team string, wait time.Duration) (api.Task, error) {
	return tl.onTask(ctx, team, func(t store.Team) (store.Task, error) {
		task, err := tl.tasks.ClaimNext(ctx, t.Name, tl.caller.Name)
		if wait <= 0 || fault.CodeOf(err) != fault.NoTaskReady {
			return task, err
		}
		wctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		hints, werr := tl.tasks.Watch(wctx, t.Name)
		if werr != nil {
			return task, fmt.Errorf("wait for a task: %w", werr)
		}
		for range hints {
			if task, err = tl.tasks.ClaimNext(ctx, t.Name, tl.caller.Name); fault.CodeOf(err) != fault.NoTaskReady {
				return task, err
			}
		}
		if ctx.Err() != nil { // not the time is over
			err = fmt.Errorf("wait for a task: %w", context.Cause(ctx))
		}
		return task, err
	})
}

func (tl *tasklist) onTask(ctx context.Context, team string, act func(store.Team) (store.Task, error)) (api.Task, error) {
	t, err := tl.get(ctx, team)
	if err != nil {
		return api.Task{}, err
	}
	task, err := act(t)
	if err != nil {
		return api.Task{}, err
	}
	return shownTask(task), nil
}

// mayTouch refuses a teammate another's task.
func (tl *tasklist) mayTouch(t *store.Task) error {
	if tl.caller.Teammate && t.Owner != "" && !store.SameName(t.Owner, tl.caller.Name) {
		return fault.New(fault.TaskClaimed, "task %s is taken by %s", t.ID, t.Owner).WithHint("leadlight task claim --next takes another one")
	}
	return nil
}

// CompleteTask finishes a task and keeps its result, if no hook objects:
// fault.Rejected, and the task is as it was.
func (tl *tasklist) CompleteTask(ctx context.Context, team, id, result string) (api.Task, error) {
	if err := checkText("result", result); err != nil {
		return api.Task{}, err
	}
	if err := tl.mayComplete(ctx, team, id); err != nil {
		return api.Task{}, err
	}
	began := time.Now()
	return tl.onTask(ctx, team, func(t store.Team) (store.Task, error) {
		done, err := tl.update(ctx, t, id, func(t *store.Task) {
			delete(t.Metadata, objectionsKey)
			t.Status, t.Result, t.Failure = store.Completed, result, ""
			t.Owner = cmp.Or(t.Owner, tl.caller.Name)
		})
		if err != nil {
			return done, err
		}
		if err := tl.assignUnblocked(ctx, t, done, began); err != nil {
			tl.log.Warn("tell who waited for a task", "team", t.Name, "task", id, "error", err) // the task is done all the same
		}
		tl.offerIn(ctx, t)
		return done, nil
	})
}

// FailTask gives a task up. It keeps who had it, and is not claimable until it is
// released.
func (tl *tasklist) FailTask(ctx context.Context, team, id, reason string) (api.Task, error) {
	if store.Blank(reason) {
		reason = "no reason given"
	}
	return tl.change(ctx, team, id, func(t *store.Task) { t.Status, t.Failure = store.Pending, reason })
}

// ReleaseTask makes a claimed or failed task claimable again, by the one it is
// meant for if it is meant for one.
func (tl *tasklist) ReleaseTask(ctx context.Context, team, id string) (api.Task, error) {
	return tl.change(ctx, team, id, func(t *store.Task) {
		t.Status, t.Owner, t.Failure = store.Pending, "", ""
		t.SetAwaitsHooks(false)
		delete(t.Metadata, objectionsKey)
	})
}

func (tl *tasklist) change(ctx context.Context, team, id string, f func(*store.Task)) (api.Task, error) {
	return tl.onTask(ctx, team, func(t store.Team) (store.Task, error) {
		task, err := tl.update(ctx, t, id, f)
		if err == nil {
			tl.offerIn(ctx, t)
		}
		return task, err
	})
}

func (tl *tasklist) update(ctx context.Context, t store.Team, id string, f func(*store.Task)) (store.Task, error) {
	return tl.tasks.Update(ctx, t.Name, id, func(task *store.Task) error {
		if err := tl.mayTouch(task); err != nil {
			return err
		}
		f(task)
		return nil
	})
}

// RemoveTask deletes a task; its id is never used again.
func (tl *tasklist) RemoveTask(ctx context.Context, team, id string) error {
	t, err := tl.get(ctx, team)
	if err != nil {
		return err
	}
	began := time.Now()
	task, err := tl.tasks.Get(ctx, t.Name, id)
	if tl.caller.Teammate {
		if err == nil {
			err = tl.mayTouch(&task)
		}
		if err != nil {
			return err
		}
	}
	if err := tl.tasks.Delete(ctx, t.Name, id); err != nil {
		return err
	}
	err = tl.assignUnblocked(ctx, t, task, began)
	tl.offerIn(ctx, t)
	return err
}

func shownTask(t store.Task) api.Task {
	return api.Task{
		ID: t.ID, Subject: t.Subject, Description: t.Description, ActiveForm: t.ActiveForm, Status: t.State(), Owner: t.Owner,
		Blocks: orEmpty(t.Blocks), BlockedBy: orEmpty(t.BlockedBy), Metadata: orEmptyMap(t.Metadata), Ready: t.Ready(cmp.Or(t.Owner, t.AssignedTo())),
		CreatedAt: api.At(t.CreatedAt), UpdatedAt: api.At(t.UpdatedAt), CompletedAt: api.At(t.CompletedAt), Result: t.Result, Failure: t.Failure, Usage: usageOf(t),
	}
}

func shownTasks(list []store.Task) []api.Task {
	out := make([]api.Task, len(list))
	for i, t := range list {
		out[i] = shownTask(t)
	}
	return out
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func orEmptyMap(m map[string]json.RawMessage) map[string]json.RawMessage {
	if m == nil {
		return map[string]json.RawMessage{}
	}
	return m
}
