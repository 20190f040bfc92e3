package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/leadlight-dev/leadlight/cmd/internal/tui"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/fault"
	"github.com/spf13/cobra"
)

type topOptions struct{ Notify string }

func topCommand(a *app, run func(context.Context, *app, topOptions) error) *cobra.Command {
	o := topOptions{Notify: "off"}
	c := &cobra.Command{
		Use: "top", Short: "Watch and steer the team on one screen",
		Long: "Show the team on one screen: the teammates with state, task, unread mail and last activity, the live\n" +
			"pane of the selected one, the tasks and what they wait for, messages, events. Enter types into the\n" +
			"teammate, Escape comes back and interrupts the current turn, ? shows all keys. The team goes on when\n" +
			"the dashboard is left.",
		Example: "  leadlight top\n  leadlight top --notify bell", Args: takes(0, 0), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), a, o) },
	}
	c.Flags().Var(choice{&o.Notify, []string{"off", "bell", "osc9"}}, "notify", "`off|bell|osc9`: call when a teammate waits for a person or fails")
	return c
}

func runTop(ctx context.Context, a *app, o topOptions) error {
	if a.json {
		return usage("the dashboard is for a person: --json is not for it").WithHint("leadlight ps --json --watch tells the same to a program")
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	notice := map[string]tui.Notice{"bell": tui.Bell, "osc9": tui.Desktop}[o.Notify]
	return a.dashboard(ctx, svc, team, notice, nil)
}

// dashboard shows the team until it is left, or until leave is closed.
func (a *app) dashboard(ctx context.Context, svc *teams.Service, team string, notice tui.Notice, leave <-chan struct{}) error {
	if !isTerminal(a.in) || !isTerminal(a.out.w) {
		return fault.New(fault.Unsupported, "the dashboard needs a terminal as standard input and output").
			WithHint("leadlight ps --watch does without")
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	env := a.environ
	if a.noColor {
		env = append(append([]string{}, env...), "NO_COLOR=1")
	}
	return tui.Run(ctx, tui.Options{
		Service: svc, Team: team, Program: program, Environ: env, Inside: a.inside(), Notify: notice, In: a.in, Out: a.out.w, Leave: leave,
	})
}
