package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

type taskOut struct {
	Task api.Task `json:"task"`
}

// rawFields are values that are kept as they were given, to the last digit.
type rawFields = map[string]json.RawMessage

type taskCreateIn struct {
	inTeam
	Subject     string    `json:"subject" jsonschema:"what is to be done, in a few words"`
	Description string    `json:"description,omitempty" jsonschema:"the whole task, with all one has to know"`
	ActiveForm  string    `json:"activeForm,omitempty" jsonschema:"words for it while it is done, such as 'Reading the code'"`
	Owner       string    `json:"owner,omitempty" jsonschema:"the only member that may take it"`
	BlockedBy   []string  `json:"blockedBy,omitempty" jsonschema:"ids of the tasks that come before"`
	Blocks      []string  `json:"blocks,omitempty" jsonschema:"ids of the tasks that come after"`
	Metadata    rawFields `json:"metadata,omitempty" jsonschema:"kept with the task"`
}

func (s *Server) taskCreate(ctx context.Context, _ *call, team string, in taskCreateIn) (out taskOut, _ string, err error) {
	spec := teams.TaskSpec{Subject: in.Subject, Description: in.Description, ActiveForm: in.ActiveForm, Owner: in.Owner, Metadata: in.Metadata}
	if spec.BlockedBy, err = ids(in.BlockedBy); err == nil {
		spec.Blocks, err = ids(in.Blocks)
	}
	if err == nil {
		err = s.mayOwn(ctx, team, in.Owner, meantFor(in.Metadata))
	}
	if err != nil {
		return out, "", err
	}
	t, err := s.svc.AddTask(ctx, team, spec)
	return taskOut{t}, fmt.Sprintf("Task %s is added: %s", t.ID, t.Subject), err
}

type taskListIn struct {
	inTeam
	Status string `json:"status,omitempty" jsonschema:"only those of this status"`
	Owner  string `json:"owner,omitempty" jsonschema:"only those of this member"`
	Ready  bool   `json:"ready,omitempty" jsonschema:"only those that can be taken now"`
}

type taskListOut struct {
	Tasks    []api.Task `json:"tasks"`
	Warnings []string   `json:"warnings,omitempty" jsonschema:"what could not be read"`
}

func taskFilters() map[string][]string {
	return map[string][]string{"status": {store.Pending, store.InProgress, store.Completed, store.Blocked, store.FailedTask}}
}

func (s *Server) taskList(ctx context.Context, _ *call, team string, in taskListIn) (taskListOut, string, error) {
	list, warnings, err := s.svc.TaskList(ctx, team, teams.TaskFilter{Status: in.Status, Owner: in.Owner, Ready: in.Ready})
	var b strings.Builder
	fmt.Fprintf(&b, "%d tasks.", len(list))
	for _, t := range list {
		fmt.Fprintf(&b, "\n%s", line(t))
	}
	return taskListOut{list, warnings}, b.String(), err
}

// line is a task on one line.
func line(t api.Task) string {
	text := fmt.Sprintf("%s [%s] %s", t.ID, t.Status, t.Subject)
	if t.Owner != "" {
		text += " (" + t.Owner + ")"
	}
	if len(t.BlockedBy) > 0 {
		text += ", after " + strings.Join(t.BlockedBy, ", ")
	}
	return text
}

type taskGetIn struct {
	inTeam
	TaskID string `json:"taskId" jsonschema:"id of the task"`
}

func (s *Server) taskGet(ctx context.Context, _ *call, team string, in taskGetIn) (taskOut, string, error) {
	return onTask(in.TaskID, func(id string) (api.Task, error) { return s.svc.Task(ctx, team, id) })
}

// onTask does something with one task.
func onTask(id string, act func(id string) (api.Task, error)) (taskOut, string, error) {
	id, err := taskID(id)
	if err != nil {
		return taskOut{}, "", err
	}
	t, err := act(id)
	text := line(t)
	for _, part := range []struct{ name, value string }{{"", t.Description}, {"failed: ", t.Failure}, {"result: ", t.Result}} {
		if part.value != "" {
			text += "\n" + part.name + part.value
		}
	}
	return taskOut{t}, text, err
}

type taskClaimIn struct {
	inTeam
	TaskID string  `json:"taskId,omitempty" jsonschema:"id of the task; left out: the first one that is ready"`
	Wait   float64 `json:"wait_seconds,omitempty" jsonschema:"without a taskId: wait so long for one to become ready, at most 300"`
}

func (s *Server) taskClaim(ctx context.Context, _ *call, team string, in taskClaimIn) (taskOut, string, error) {
	wait, err := span("wait_seconds", in.Wait, 0)
	if err != nil {
		return taskOut{}, "", err
	}
	if in.TaskID != "" {
		return onTask(in.TaskID, func(id string) (api.Task, error) { return s.svc.ClaimTask(ctx, team, id) })
	}
	t, err := s.svc.ClaimNext(ctx, team, wait)
	return taskOut{t}, line(t) + "\n" + t.Description, err
}

// maxWait is the longest that a tool waits because it was asked to.
const maxWait = 300 * time.Second

// span is a time in seconds, given or otherwise.
func span(name string, seconds float64, otherwise time.Duration) (time.Duration, error) {
	if seconds < 0 || seconds > maxWait.Seconds() {
		return 0, fault.New(fault.InvalidArgument, "%s is %v", name, seconds).WithHint("it is between 0 and %v", maxWait.Seconds())
	}
	if seconds == 0 {
		return otherwise, nil
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// ids checks the ids of tasks.
func ids(list []string) ([]string, error) {
	out := make([]string, len(list))
	for i, s := range list {
		id, err := taskID(s)
		if err != nil {
			return nil, err
		}
		out[i] = id
	}
	return out, nil
}

// taskID checks the form of a task's id, which is taken as it is; only #7 is 7.
func taskID(s string) (string, error) {
	id := strings.TrimPrefix(s, "#")
	if id == "" || len(id) > 18 || strings.Trim(id, "0123456789") != "" {
		return "", fault.New(fault.InvalidArgument, "%q is not the id of a task", store.Shown(s)).WithHint("TaskList lists the tasks with their ids")
	}
	return id, nil
}
