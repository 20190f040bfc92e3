package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

func planCommand(a *app) *cobra.Command {
	return group("plan", planSubmitCommand(a, ofTeam(runPlanSubmit)), only(a, "plan show", ofTeam(runPlanShow), one, completeRequests(a)))
}

// planOptions are a plan and the file that it comes from, if it comes from one.
type planOptions struct{ Text, Path string }

func planSubmitCommand(a *app, run func(context.Context, *app, planOptions) error) *cobra.Command {
	var o planOptions
	return command(a, "plan submit", run, &o, one(&o.Text), noFiles)
}

func (o *planOptions) complete(a *app) (err error) {
	if path, isFile := strings.CutPrefix(o.Text, "@"); isFile {
		if o.Path, err = filepath.Abs(path); err != nil {
			return err
		}
	}
	o.Text, err = a.textOrFile(o.Text, "plan", store.MaxMessage)
	return err
}

func runPlanSubmit(ctx context.Context, a *app, svc *teams.Service, team string, o planOptions) error {
	p, err := svc.SubmitPlan(ctx, team, o.Text, o.Path)
	return a.answer(p, err, func(w io.Writer) { fmt.Fprintln(w, p.ID) })
}

func runPlanShow(ctx context.Context, a *app, svc *teams.Service, team string, id string) error {
	plans, err := svc.Plans(ctx, team, true)
	if err != nil {
		return err
	}
	if r, err := requestOf(mapped(plans, planShown), team, id); err == nil {
		id = r.ID
	} else if fault.CodeOf(err) != fault.RequestNotFound {
		return err
	}
	p, err := svc.Plan(ctx, team, id)
	return a.answer(p, err, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s, from %s\n", oneLine(p.ID), p.Status, oneLine(p.From))
		if p.Feedback != "" {
			fmt.Fprintf(w, "  feedback  %s\n", oneLine(p.Feedback))
		}
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(printable(p.Plan), "\n"))
	})
}
