package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

type taskUpdateIn struct {
	inTeam
	TaskID       string    `json:"taskId" jsonschema:"id of the task"`
	Status       *string   `json:"status,omitempty" jsonschema:"its new status; deleted removes it, pending gives it back"`
	Subject      *string   `json:"subject,omitempty" jsonschema:"what is to be done, in a few words"`
	Description  *string   `json:"description,omitempty" jsonschema:"the whole task, with all one has to know"`
	ActiveForm   *string   `json:"activeForm,omitempty" jsonschema:"words for it while it is done, such as 'Reading the code'"`
	Owner        *string   `json:"owner,omitempty" jsonschema:"its new owner; an empty string takes the owner away"`
	AddBlocks    []string  `json:"addBlocks,omitempty" jsonschema:"ids of tasks that come after it"`
	AddBlockedBy []string  `json:"addBlockedBy,omitempty" jsonschema:"ids of tasks that come before it"`
	Metadata     rawFields `json:"metadata,omitempty" jsonschema:"fields to set; null deletes one"`
	Result       string    `json:"result,omitempty" jsonschema:"with status completed: what came of it"`
	Reason       string    `json:"reason,omitempty" jsonschema:"with status failed: why"`
}

func taskUpdate(s *Server) tool {
	return define("TaskUpdate", "Change a task: its status, owner, words, or what comes before and after it. Say completed only when it is wholly done.", forTeam(s, s.taskUpdate),
		map[string][]string{"status": {store.Pending, store.InProgress, store.Completed, store.FailedTask, store.Deleted}})
}

func (s *Server) taskUpdate(ctx context.Context, _ *call, team string, in taskUpdateIn) (taskOut, string, error) {
	return onTask(in.TaskID, func(id string) (api.Task, error) {
		c, err := in.change()
		if err != nil {
			return api.Task{}, err
		}
		if err := s.mayTake(ctx, team, c); err != nil {
			return api.Task{}, err
		}
		end := in.outcome(s, ctx, team, id)
		if end == nil {
			return s.svc.UpdateTask(ctx, team, id, c)
		}
		if c.Status = nil; !empty(c) {
			if _, err := s.svc.UpdateTask(ctx, team, id, c); err != nil {
				return api.Task{}, err
			}
		}
		return end()
	})
}

// change is what is to be changed, the words of an ending aside.
func (in taskUpdateIn) change() (teams.TaskChange, error) {
	c := teams.TaskChange{Subject: in.Subject, Description: in.Description, ActiveForm: in.ActiveForm, Status: in.Status, Owner: in.Owner, Metadata: in.Metadata}
	var err error
	if c.AddBlocks, err = ids(in.AddBlocks); err != nil {
		return c, err
	}
	if c.AddBlockedBy, err = ids(in.AddBlockedBy); err != nil {
		return c, err
	}
	if empty(c) {
		return c, fault.New(fault.InvalidArgument, "nothing is to be changed").WithHint("name what shall change, such as status")
	}
	status := ""
	if in.Status != nil {
		status = *in.Status
	}
	if in.Result != "" && status != store.Completed || in.Reason != "" && status != store.FailedTask {
		return c, fault.New(fault.InvalidArgument, "result goes with the status completed, reason with failed").WithHint("give the status, too")
	}
	return c, nil
}

func empty(c teams.TaskChange) bool {
	return c.Subject == nil && c.Description == nil && c.ActiveForm == nil && c.Status == nil && c.Owner == nil &&
		len(c.AddBlocks)+len(c.AddBlockedBy)+len(c.Metadata) == 0
}

// outcome is how a task ends with words of its own, which is a verb of its own; else nil.
func (in taskUpdateIn) outcome(s *Server, ctx context.Context, team, id string) func() (api.Task, error) {
	switch {
	case in.Result != "":
		return func() (api.Task, error) { return s.svc.CompleteTask(ctx, team, id, in.Result) }
	case in.Reason != "":
		return func() (api.Task, error) { return s.svc.FailTask(ctx, team, id, in.Reason) }
	}
	return nil
}

// mayTake refuses a lead in delegate mode to do a task itself.
func (s *Server) mayTake(ctx context.Context, team string, c teams.TaskChange) error {
	if s.o.Caller.Teammate {
		return nil
	}
	owner, status := "", ""
	if c.Owner != nil {
		owner = *c.Owner
	}
	if c.Status != nil {
		status, _ = store.StatusOf(*c.Status)
	}
	if status == store.InProgress && owner == "" {
		return s.mayLook(ctx, team)
	}
	return s.mayOwn(ctx, team, owner, meantFor(c.Metadata))
}

// meantFor is whom a task is meant for by the metadata that it is given, "" for nobody.
func meantFor(metadata rawFields) string { return (&store.Task{Metadata: metadata}).AssignedTo() }

// mayOwn refuses a lead in delegate mode as the owner of a task, or the one it is meant for,
// under any of its names.
func (s *Server) mayOwn(ctx context.Context, team string, owners ...string) error {
	if s.o.Caller.Teammate || !slices.ContainsFunc(owners, func(owner string) bool { return owner != "" }) {
		return nil
	}
	t, err := s.svc.Team(ctx, team)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		owner = store.LocalName(owner, team, t.Name)
		if strings.EqualFold(owner, store.Lead) || strings.EqualFold(owner, store.LocalName(s.me(t))) {
			return s.mayLook(ctx, team)
		}
	}
	return nil
}
