package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

type logsOptions struct {
	Name   string
	Follow bool
	Lines  int
}

func logsCommand(a *app, run func(context.Context, *app, logsOptions) error) *cobra.Command {
	var o logsOptions
	c := &cobra.Command{
		Use: "logs NAME", Short: "Print a teammate's transcript",
		Long:    "Print what a teammate has written to its terminal, also after its pane is gone.",
		Example: "  leadlight logs bob --lines 100\n  leadlight logs bob --follow", Args: takes(1, 1), ValidArgsFunction: completeMembers(a, 1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Name = args[0]
			return run(c.Context(), a, o)
		},
	}
	c.Flags().BoolVarP(&o.Follow, "follow", "f", false, "go on with what it writes, until ^C")
	c.Flags().Var(count{&o.Lines}, "lines", "only the last `N` lines")
	return c
}

func runLogs(ctx context.Context, a *app, o logsOptions) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	if !a.json {
		return svc.Logs(ctx, team, o.Name, o.Lines, o.Follow, a.out)
	}
	if o.Follow {
		return svc.Logs(ctx, team, o.Name, o.Lines, true, jsonLines{a, o.Name})
	}
	var b strings.Builder
	if err := svc.Logs(ctx, team, o.Name, o.Lines, false, &b); err != nil {
		return err
	}
	return a.printJSON(paneText{o.Name, b.String()})
}

// jsonLines writes each piece of text as a JSON document of its own.
type jsonLines struct {
	a    *app
	name string
}

func (j jsonLines) Write(p []byte) (int, error) {
	return len(p), j.a.printJSON(paneText{j.name, string(p)})
}
