package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

func planCommand(a *app) *cobra.Command {
	return group("plan", "Submit a plan, or show one",
		"A teammate in plan mode submits a plan and waits until the lead approves it. The lead answers with\n"+
			"leadlight approve or leadlight deny. After a denial the teammate submits another plan.",
		planSubmitCommand(a, runPlanSubmit), planShowCommand(a, runPlanShow))
}

func planSubmitCommand(a *app, run func(context.Context, *app, string) error) *cobra.Command {
	return &cobra.Command{
		Use: "submit TEXT|@FILE|-", Short: "Submit a plan, as a teammate",
		Long:    "Submit a plan, as a teammate. It replaces an earlier plan of yours that is still open. The answer\ncomes as a message.",
		Example: "  leadlight plan submit @plan.md", Args: takes(1, 1), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), a, args[0]) },
	}
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
	if err != nil {
		return err
	}
	return a.answer(p, func(w io.Writer) { fmt.Fprintln(w, p.ID) })
}

func planShowCommand(a *app, run func(context.Context, *app, string) error) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a plan", Long: "Show a plan, and the answer if there is one. An ID may be its beginning.", Example: "  leadlight plan show plan-3f2a",
		Args: takes(1, 1), ValidArgsFunction: completeRequests(a),
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), a, args[0]) },
	}
}

func runPlanShow(ctx context.Context, a *app, id string) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
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
	if err != nil {
		return err
	}
	return a.answer(p, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s, from %s\n", oneLine(p.ID), p.Status, oneLine(p.From))
		if p.Feedback != "" {
			fmt.Fprintf(w, "  feedback  %s\n", oneLine(p.Feedback))
		}
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(printable(p.Plan), "\n"))
	})
}
