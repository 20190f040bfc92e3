package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

func planCommand(a *app) *cobra.Command {
	return group("plan", "Hand in plans, and approve or reject them",
		"A teammate that is to plan first hands its plan in, and goes on when the lead has approved it. After\n"+
			"a rejection it hands in another one.",
		planSubmitCommand(a, runPlanSubmit), planListCommand(a, runPlanList), planShowCommand(a, runPlanShow),
		planApproveCommand(a, runPlanAnswer), planRejectCommand(a, runPlanAnswer))
}

func planSubmitCommand(a *app, run func(context.Context, *app, string) error) *cobra.Command {
	return &cobra.Command{
		Use: "submit TEXT|@FILE|-", Short: "Hand in a plan, as a teammate",
		Long:    "Hand in a plan, as a teammate. It takes the place of a plan of yours that is still open. The answer\ncomes by mail.",
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

func planListCommand(a *app, run func(context.Context, *app, bool) error) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "ls", Short: "List the plans that wait for an answer", Long: "List the plans that wait for an answer, oldest first.",
		Example: "  leadlight plan ls --all", Args: takes(0, 0), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), a, all) },
	}
	c.Flags().BoolVar(&all, "all", false, "also those that were answered")
	return c
}

func runPlanList(ctx context.Context, a *app, all bool) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	list, err := svc.Plans(ctx, team, all)
	if err != nil {
		return err
	}
	return a.answer(list, func(w io.Writer) {
		if len(list) == 0 {
			a.say("no plans")
			return
		}
		t := &table{head: []string{"ID", "FROM", "STATUS", "SINCE", "PLAN"}}
		for _, p := range list {
			t.add(plain("%s", p.ID), plain("%s", p.From), cell{p.Status, requestColor(p.Status)}, plain("%s", since(p.SubmittedAt)), plain("%s", p.Plan))
		}
		t.write(w, width(a.out.w), a.colors(a.out.w))
	})
}

func requestColor(status string) string {
	return map[string]string{api.RequestOpen: "yellow", api.RequestApproved: "green", api.RequestRejected: "red", api.RequestReplaced: "dim"}[status]
}

func planShowCommand(a *app, run func(context.Context, *app, string) error) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a plan", Long: "Show a plan and what was said to it.", Example: "  leadlight plan show ID",
		Args: takes(1, 1), ValidArgsFunction: completePlans(a),
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), a, args[0]) },
	}
}

func runPlanShow(ctx context.Context, a *app, id string) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
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

type planAnswer struct {
	ID, Feedback string
	Approve      bool
}

func planApproveCommand(a *app, run func(context.Context, *app, planAnswer) error) *cobra.Command {
	o := planAnswer{Approve: true}
	c := planAnswerCommand(a, &o, run, &cobra.Command{
		Use: "approve ID", Short: "Approve a plan", Long: "Approve a plan, as the lead. Its author is told and goes on.",
		Example: "  leadlight plan approve ID --feedback 'and run the tests'",
	})
	c.Flags().StringVar(&o.Feedback, "feedback", "", "`TEXT` for its author")
	return c
}

func planRejectCommand(a *app, run func(context.Context, *app, planAnswer) error) *cobra.Command {
	var o planAnswer
	c := planAnswerCommand(a, &o, run, &cobra.Command{
		Use: "reject ID --feedback TEXT", Short: "Reject a plan, and say what is to be changed",
		Long: "Reject a plan, as the lead, and say what is to be changed. Its author hands in another one.", Example: "  leadlight plan reject ID --feedback 'add tests'",
	})
	c.Flags().StringVar(&o.Feedback, "feedback", "", "`TEXT` for its author (needed)")
	return c
}

func planAnswerCommand(a *app, o *planAnswer, run func(context.Context, *app, planAnswer) error, c *cobra.Command) *cobra.Command {
	c.Args, c.ValidArgsFunction = takes(1, 1), completePlans(a)
	c.RunE = func(c *cobra.Command, args []string) error {
		o.ID = args[0]
		if !o.Approve && o.Feedback == "" {
			return usage("%s needs --feedback TEXT", c.CommandPath())
		}
		return run(c.Context(), a, *o)
	}
	return c
}

func runPlanAnswer(ctx context.Context, a *app, o planAnswer) error {
	feedback, err := checkText(o.Feedback, "feedback", store.MaxMessage)
	if err != nil {
		return err
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	p, err := svc.ResolvePlan(ctx, team, o.ID, o.Approve, feedback)
	if err != nil {
		return err
	}
	return a.answer(p, func(io.Writer) { a.say("plan %s of %s is %s", p.ID, p.From, p.Status) })
}

// completePlans offers the open plans.
func completePlans(a *app) words {
	return upTo(1, a.offer(func(ctx context.Context, built *composition, team string) []string {
		team, err := built.service.PickTeam(ctx, team, teamHere)
		if err != nil {
			return nil
		}
		list, _ := built.service.Plans(ctx, team, false)
		var out []string
		for _, p := range list {
			out = append(out, p.ID+"\t"+store.Shown(oneLine(p.Plan)))
		}
		return out
	}))
}
