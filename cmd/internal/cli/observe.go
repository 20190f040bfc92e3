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

type observeOptions struct {
	File   string
	Follow bool
	State  string
	Emit   string
}

func observeCommand(a *app, run func(context.Context, *app, observeOptions) error) *cobra.Command {
	var o observeOptions
	c := command(a, "observe", run, &o, optional(&o.File), anyFile)
	c.Flags().BoolVarP(&o.Follow, "follow", "f", false, "go on at the end of FILE, until ^C")
	c.Flags().Var(given(&o.State), "state", "go on from the state in `FILE`, and keep it there after each change")
	c.Flags().StringVar(&o.Emit, "emit", observe.EmitEvents, "what to print: `"+strings.Join(observe.Emits(), "|")+"` (default events)")
	complete(c, "emit", observe.Emits()...)
	return c
}

func runObserve(ctx context.Context, a *app, o observeOptions) error {
	err := observe.Run(ctx, observe.Options{
		File: a.fromHome(o.File), In: a.in, Out: a.out, Warn: a.err, Emit: o.Emit, Follow: o.Follow, StateFile: a.fromHome(o.State), Debug: a.verbose,
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR) {
		return fault.New(fault.InvalidArgument, "read the stream: %w", err).WithHint("name a file that is there, or - for standard input")
	}
	return err
}

// anyFile lets the shell complete the names of files.
func anyFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
