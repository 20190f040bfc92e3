package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/style"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

func taskCommand(a *app) *cobra.Command {
	return group("task", taskAddCommand(a, ofTeam(runTaskAdd)), taskListCommand(a, ofTeam(runTaskList)), only(a, "task show", ofTeam(runTaskShow), oneTask, completeTasks(a)),
		taskClaimCommand(a, ofTeam(runTaskClaim)), taskUpdateCommand(a, ofTeam(runTaskUpdate)), taskDoneCommand(a, ofTeam(runTaskDone)),
		taskFailCommand(a, ofTeam(runTaskFail)), only(a, "task release", ofTeam(runTaskRelease), oneTask, completeTasks(a)), only(a, "task rm", ofTeam(runTaskRemove), oneTask, completeTasks(a)))
}

type taskAddOptions struct {
	teams.TaskSpec // until complete as it is written: not checked, and its lists of ids not split
	Meta           []string
}

func taskAddCommand(a *app, run func(context.Context, *app, taskAddOptions) error) *cobra.Command {
	var o taskAddOptions
	c := command(a, "task add", run, &o, one(&o.Subject), noFiles)
	f := c.Flags()
	f.StringVarP(&o.Description, "description", "d", "", "`TEXT` of the whole task; - is standard input")
	f.StringVar(&o.ActiveForm, "active-form", "", "`TEXT` for it while it is done, such as 'Reading the code'")
	f.StringVar(&o.Owner, "owner", "", "`NAME` of the only member that may claim it")
	f.StringArrayVar(&o.BlockedBy, "blocked-by", nil, "`ID,…` of the tasks that come before")
	f.StringArrayVar(&o.Blocks, "blocks", nil, "`ID,…` of the tasks that come after")
	f.StringArrayVar(&o.Meta, "meta", nil, "`K=V` kept with the task, V as JSON if it is JSON; can be repeated")
	completeTaskFlags(a, c)
	return c
}

func (o *taskAddOptions) complete(a *app) (err error) {
	if store.Blank(o.Subject) {
		return usage("the subject of the task is empty")
	}
	if _, err := checkText(o.Subject+o.ActiveForm, "subject", store.MaxMessage); err != nil {
		return err
	}
	if o.Description, err = a.text(o.Description, "description", store.MaxMessage); err != nil {
		return err
	}
	if o.BlockedBy, err = ids(o.BlockedBy); err != nil {
		return err
	}
	if o.Blocks, err = ids(o.Blocks); err != nil {
		return err
	}
	o.Metadata, err = metadata(o.Meta)
	return err
}

func runTaskAdd(ctx context.Context, a *app, svc *teams.Service, team string, o taskAddOptions) error {
	return a.task(svc.AddTask(ctx, team, o.TaskSpec))
}

func taskListCommand(a *app, run func(context.Context, *app, teams.TaskFilter) error) *cobra.Command {
	var o teams.TaskFilter
	c := command(a, "task ls", run, &o, takes(0, 0), noFiles)
	c.Flags().Var(choice(&o.Status, statusWords()), "status", "only tasks of status `S`: "+strings.Join(statusWords(), ", "))
	c.Flags().Var(given(&o.Owner), "owner", "only those of `NAME`")
	c.Flags().BoolVar(&o.Ready, "ready", false, "only those that can be claimed now")
	completeTaskFlags(a, c)
	return c
}

func statusWords() []string {
	return []string{store.Pending, store.InProgress, store.Completed, store.Blocked, store.FailedTask}
}

func runTaskList(ctx context.Context, a *app, svc *teams.Service, team string, filter teams.TaskFilter) error {
	list, warnings, err := svc.TaskList(ctx, team, filter)
	if err != nil {
		return err
	}
	a.warn(warnings)
	return a.answer(mapped(list, whole), nil, func(w io.Writer) { a.table(w, taskRows(list)) })
}

func taskRows(list []api.Task) *table {
	t := &table{head: []string{"ID", "STATUS", "OWNER", "BLOCKED BY", "SUBJECT"}, less: []string{"BLOCKED BY", "OWNER"}, none: "no tasks"}
	for _, task := range list {
		blockers := "" // of what is blocked: what is done blocks nothing any more
		if task.Status == store.Blocked {
			blockers = strings.Join(task.BlockedBy, ",")
		}
		t.add(task.ID, cell{task.Status, style.Task(task.Status).Color}, task.Owner, blockers, task.Subject)
	}
	return t
}

// whole gives a task empty lists where it has none.
func whole(t api.Task) api.Task {
	t.Blocks, t.BlockedBy = listed(t.Blocks), listed(t.BlockedBy)
	if t.Metadata == nil {
		t.Metadata = noMetadata()
	}
	return t
}

func noMetadata() map[string]json.RawMessage { return map[string]json.RawMessage{} }

// task answers with a task to which something was done: with its id for a person.
func (a *app) task(t api.Task, err error) error {
	err = a.answer(whole(t), err, func(w io.Writer) { fmt.Fprintln(w, t.ID) })
	if untold := a.untold(); untold != nil {
		return fmt.Errorf("task %s is as asked for, but %w", t.ID, untold)
	}
	return err
}

func runTaskShow(ctx context.Context, a *app, svc *teams.Service, team string, id string) error {
	t, err := svc.Task(ctx, team, id)
	return a.answer(whole(t), err, func(w io.Writer) { showTask(w, t) })
}

func showTask(w io.Writer, t api.Task) {
	fmt.Fprintf(w, "%s  %s\n", t.ID, oneLine(t.Subject))
	meant := ""
	if t.Owner == "" {
		meant = teams.MeantFor(t)
	}
	at := func(t *api.Time) string {
		if t == nil {
			return ""
		}
		return localTime(time.Time(*t), time.Now())
	}
	fields(w, 12, [][2]string{
		{"status", t.Status}, {"owner", t.Owner}, {"meant for", meant}, {"active form", t.ActiveForm}, {"blocked by", strings.Join(t.BlockedBy, ", ")},
		{"blocks", strings.Join(t.Blocks, ", ")}, {"created", at(t.CreatedAt)}, {"updated", at(t.UpdatedAt)}, {"failure", t.Failure}, {"usage", usageShown(t.Usage)},
	})
	for _, text := range []struct{ name, value string }{{"description", t.Description}, {"result", t.Result}} {
		if text.value != "" {
			fmt.Fprintf(w, "\n%s:\n%s\n", text.name, strings.TrimRight(printable(text.value), "\n"))
		}
	}
}

type taskClaimOptions struct {
	ID   string // "": the next one that is ready
	Wait time.Duration
}

func taskClaimCommand(a *app, run func(context.Context, *app, taskClaimOptions) error) *cobra.Command {
	var o taskClaimOptions
	var next bool
	args := func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return takes(0, 1)(c, args)
		}
		if next || c.Flags().Changed("wait") {
			return usage("%s takes an ID, or --next and --wait", c.CommandPath())
		}
		return oneTask(&o.ID)(c, args)
	}
	c := command(a, "task claim", run, &o, args, completeTasks(a))
	c.Flags().BoolVar(&next, "next", false, "the first one that is ready (as without an ID)")
	c.Flags().Var(span(&o.Wait), "wait", "wait up to the time `D` for one to become ready")
	return c
}

func runTaskClaim(ctx context.Context, a *app, svc *teams.Service, team string, o taskClaimOptions) error {
	if o.ID != "" {
		return a.task(svc.ClaimTask(ctx, team, o.ID))
	}
	t, err := svc.ClaimNext(ctx, team, 0)
	if o.Wait > 0 && fault.CodeOf(err) == fault.NoTaskReady {
		a.say("waits for a task, up to %s", o.Wait)
		t, err = svc.ClaimNext(ctx, team, o.Wait)
	}
	return a.task(t, err)
}
