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
	return group("plan", only(a, "plan submit", runPlanSubmit, one, noFiles), only(a, "plan show", ofTeam(runPlanShow), one, completeRequests(a)))
}

func runPlanSubmit(ctx context.Context, a *app, arg string) error {
	text, err := a.textOrFile(arg, "plan", store.MaxMessage)
	if err != nil {
		return err
	}
	path, isFile := strings.CutPrefix(arg, "@")
	if !isFile {
		path = ""
	} else if path, err = filepath.Abs(path); err != nil {
		return err
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	p, err := svc.SubmitPlan(ctx, team, text, path)
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
