package cli

import (
	"context"
	"io"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/spf13/cobra"
)

// whereabouts is the answer of focus.
type whereabouts struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

func focusCommand(a *app, run func(context.Context, *app, string) error) *cobra.Command {
	return &cobra.Command{
		Use: "focus NAME", Short: "Take me to a teammate's pane",
		Long: "Take this terminal to a teammate's pane, or say how to get there.", Example: "  leadlight focus bob",
		Args: takes(1, 1), ValidArgsFunction: completeMembers(a, 1),
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), a, args[0]) },
	}
}

func runFocus(ctx context.Context, a *app, name string) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	member, kind, err := svc.Where(ctx, team, name)
	if err != nil {
		return err
	}
	if kind == panes.Headless && isTerminal(a.in) && !a.json {
		return a.view(ctx, svc, team, member)
	}
	if err := svc.Focus(ctx, team, name); err != nil {
		return err
	}
	note := ""
	if a.json || !a.inside() {
		if argv, err := svc.Attach(ctx, team, name); err == nil {
			note = shellLine(argv) // advice: the pane is in front already
		}
	}
	return a.answer(whereabouts{name, note}, func(io.Writer) {
		if note != "" {
			a.say("see it with: %s", note)
		}
	})
}
