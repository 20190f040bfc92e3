package cli

import (
	"context"
	"io"
	"strings"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type taskUpdateOptions struct {
	ID               string
	teams.TaskChange // until complete as it is written: not checked, and its lists of ids not split
	Meta             []string
}

func taskUpdateCommand(a *app, run func(context.Context, *app, taskUpdateOptions) error) *cobra.Command {
	var o taskUpdateOptions
	c := command(a, "task update", run, &o, oneTask(&o.ID), completeTasks(a))
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		change := false
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { change = change || f.Changed })
		if !change {
			return usage("%s: nothing to change", c.CommandPath()).WithHint("%s --help shows its flags", c.CommandPath())
		}
		return nil
	}
	f := c.Flags()
	f.Var(maybe(&o.Subject), "subject", "new subject `TEXT`")
	f.VarP(maybe(&o.Description), "description", "d", "new description `TEXT`; - is standard input")
	f.Var(maybe(&o.ActiveForm), "active-form", "new `TEXT` for it while it is done")
	f.Var(maybeChoice(&o.Status, updateWords()), "status", "new status `S`: "+strings.Join(updateWords(), ", "))
	f.Var(maybe(&o.Owner), "owner", "new owner `NAME`; '' for nobody, and what is in progress is pending again")
	f.StringArrayVar(&o.AddBlockedBy, "blocked-by", nil, "`ID,…` of more tasks that come before (also --add-blocked-by)")
	f.StringArrayVar(&o.AddBlocks, "blocks", nil, "`ID,…` of more tasks that come after (also --add-blocks)")
	f.StringArrayVar(&o.RemoveBlockedBy, "remove-blocked-by", nil, "`ID,…` of tasks that need not come before")
	f.StringArrayVar(&o.RemoveBlocks, "remove-blocks", nil, "`ID,…` of tasks that need not come after")
	f.StringArrayVar(&o.Meta, "meta", nil, "`K=V` kept with the task; K=null removes K; can be repeated")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.TrimPrefix(name, "add-"))
	})
	completeTaskFlags(a, c)
	return c
}

// updateWords are the statuses that an update sets. task fail says that a task failed; what a
// task waits for makes it blocked.
func updateWords() []string {
	return []string{store.Pending, store.InProgress, store.Completed, store.Deleted}
}

func (o *taskUpdateOptions) complete(a *app) (err error) {
	if err := a.maybeText(o.Description, "description"); err != nil {
		return err
	}
	for _, text := range []*string{o.Subject, o.ActiveForm} {
		if text != nil {
			if _, err := checkText(*text, "subject", store.MaxMessage); err != nil {
				return err
			}
		}
	}
	for _, l := range []struct {
		to   *[]string
		read func([]string) ([]string, error)
	}{{&o.AddBlockedBy, ids}, {&o.AddBlocks, ids}, {&o.RemoveBlockedBy, goingIDs}, {&o.RemoveBlocks, goingIDs}} {
		if *l.to, err = l.read(*l.to); err != nil {
			return err
		}
	}
	o.Metadata, err = metadata(o.Meta)
	return err
}

func runTaskUpdate(ctx context.Context, a *app, svc *teams.Service, team string, o taskUpdateOptions) error {
	return a.task(svc.UpdateTask(ctx, team, o.ID, o.TaskChange))
}

// taskEndOptions are those of done and fail; What is what the text is called.
type taskEndOptions struct{ ID, What, Text string }

func (o *taskEndOptions) complete(a *app) (err error) {
	if o.What == "reason" && store.Blank(o.Text) {
		return usage("leadlight task fail needs --reason TEXT")
	}
	o.Text, err = a.text(o.Text, o.What, store.MaxMessage)
	return err
}

func taskDoneCommand(a *app, run func(context.Context, *app, taskEndOptions) error) *cobra.Command {
	o := taskEndOptions{What: "result"}
	c := command(a, "task done", run, &o, oneTask(&o.ID), completeTasks(a))
	c.Flags().StringVar(&o.Text, o.What, "", "`TEXT` that came out of it; - is standard input")
	return c
}

func runTaskDone(ctx context.Context, a *app, svc *teams.Service, team string, o taskEndOptions) error {
	return a.task(svc.CompleteTask(ctx, team, o.ID, o.Text))
}

func taskFailCommand(a *app, run func(context.Context, *app, taskEndOptions) error) *cobra.Command {
	o := taskEndOptions{What: "reason"}
	c := command(a, "task fail", run, &o, oneTask(&o.ID), completeTasks(a))
	c.Flags().StringVar(&o.Text, o.What, "", "`TEXT` that says why (needed); - is standard input")
	return c
}

func runTaskFail(ctx context.Context, a *app, svc *teams.Service, team string, o taskEndOptions) error {
	return a.task(svc.FailTask(ctx, team, o.ID, o.Text))
}

func runTaskRelease(ctx context.Context, a *app, svc *teams.Service, team string, id string) error {
	t, err := svc.ReleaseTask(ctx, team, id)
	if who := teams.MeantFor(t); err == nil && who != "" {
		a.say("it is still meant for %s: %s", oneLine(who), a.forTeam("leadlight task update "+t.ID+" --owner NAME gives it to another, --owner '' to anybody"))
	}
	return a.task(t, err)
}

// removedTask is the answer of task rm.
type removedTask struct {
	ID      string `json:"id"`
	Removed bool   `json:"removed"`
}

func runTaskRemove(ctx context.Context, a *app, svc *teams.Service, team string, id string) error {
	err := svc.RemoveTask(ctx, team, id)
	return a.answer(removedTask{id, true}, err, func(io.Writer) { a.say("task %s is removed", id) })
}
