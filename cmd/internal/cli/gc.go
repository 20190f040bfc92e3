package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

type gcOptions struct{ DryRun bool }

func gcCommand(a *app, run func(context.Context, *app, gcOptions) error) *cobra.Command {
	var o gcOptions
	c := &cobra.Command{
		Use: "gc", Short: "Remove what belongs to no living team",
		Long: "Remove panes, processes, sockets and records of ours that belong to no living team. What is not\n" +
			"proved to be ours is left alone.",
		Example: "  leadlight gc --dry-run", Args: takes(0, 0), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), a, o) },
	}
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would be removed")
	return c
}

func runGC(ctx context.Context, a *app, o gcOptions) error {
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	found, err := svc.GC(ctx, o.DryRun)
	if err != nil {
		return err
	}
	shim, shimErr := a.shimOrphans(ctx, o.DryRun)
	found = append(append([]api.Orphan{}, found...), shim...)
	if !o.DryRun {
		if err := a.tidyDaemon(); err != nil {
			return err
		}
	}
	err = a.answer(found, func(w io.Writer) {
		if len(found) == 0 {
			a.say("nothing to remove")
		}
		for _, l := range found {
			fmt.Fprintln(w, orphanLine(l))
		}
	})
	return errors.Join(err, shimErr) // what was removed is told first
}

// removals says what gc does with each kind of thing: before and after.
var removals = map[string][2]string{
	"member":  {"would record the end of", "recorded the end of"},
	"process": {"would end", "ended"},
	"pane":    {"would close", "closed"},
}

func orphanLine(l api.Orphan) string {
	verbs, ok := removals[l.Kind]
	if !ok {
		verbs = [2]string{"would remove", "removed"}
	}
	verb := verbs[0]
	switch {
	case l.Removed:
		verb = verbs[1]
	case l.Kept != "":
		verb = "kept"
	}
	line := fmt.Sprintf("%s %s %s: %s", verb, l.Kind, oneLine(l.What), oneLine(l.Why))
	if l.Kept != "" {
		line += " (" + oneLine(l.Kept) + ")"
	}
	return line
}
