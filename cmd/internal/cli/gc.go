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
	c := command(a, "gc", run, &o, takes(0, 0), noFiles)
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
	err = a.answer(found, nil, func(w io.Writer) {
		if len(found) == 0 {
			a.say("nothing to remove")
		}
		for _, l := range found {
			fmt.Fprintln(w, oneLine(l.String()))
		}
	})
	return errors.Join(err, shimErr) // what was removed is told first
}
