package cli

import (
	"context"
	"io"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

func restartCommand(a *app, run func(context.Context, *app, string) error) *cobra.Command {
	return &cobra.Command{
		Use: "restart NAME", Short: "End a teammate and start it again",
		Long: "End a teammate and start it again as it was started: same command, folder and place. An agent that can\n" +
			"goes on with its conversation. Variables that were given with spawn are kept as long as it runs.",
		Example: "  leadlight restart bob", Args: takes(1, 1), ValidArgsFunction: completeMembers(a, 1),
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), a, args[0]) },
	}
}

func runRestart(ctx context.Context, a *app, name string) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	m, err := svc.Restart(ctx, team, name)
	a.sayChoice()
	if err != nil {
		return err
	}
	return a.answer(m, func(w io.Writer) { a.memberTable(w, []api.Member{m}) })
}
