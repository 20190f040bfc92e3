package cli

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/observe"
	"github.com/spf13/cobra"
)

func observeCommand(a *app, run func(context.Context, *app, observe.Options) error) *cobra.Command {
	var o observe.Options
	c := command(a, "observe", run, &o, optional(&o.File), anyFile)
	c.Flags().BoolVarP(&o.Follow, "follow", "f", false, "go on at the end of FILE, until ^C")
	c.Flags().Var(given(&o.StateFile), "state", "go on from the state in `FILE`, and keep it there after each change")
	c.Flags().StringVar(&o.Emit, "emit", observe.EmitEvents, "what to print: `"+strings.Join(observe.Emits(), "|")+"` (default events)")
	complete(c, "emit", observe.Emits()...)
	return c
}

func runObserve(ctx context.Context, a *app, o observe.Options) error {
	o.In, o.Out, o.Warn, o.Debug = a.in, a.out, a.err, a.verbose
	o.File, o.StateFile = a.fromHome(o.File), a.fromHome(o.StateFile)
	err := observe.Run(ctx, o)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR) {
		return fault.New(fault.InvalidArgument, "read the stream: %w", err).WithHint("name a file that is there, or - for standard input")
	}
	return err
}

// anyFile lets the shell complete the names of files.
func anyFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
