package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/spf13/cobra"
)

// hookVerb is what a native teammate's client runs in place of the hooks of the team
// file.
const hookVerb = "hook"

func hookCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: hookVerb, Hidden: true, Args: takes(0, 0), ValidArgsFunction: noFiles,
		Short:   "Ask the hooks of the team file",
		Long:    "Ask the hooks of the team file, for a Claude Code that is a teammate: its settings name this. It is\nnot run by hand.",
		Example: "  leadlight " + hookVerb,
		RunE:    func(c *cobra.Command, _ []string) error { return runHook(c.Context(), a) },
	}
}

// runHook answers as a hook does: what it is asked comes on standard input, an
// objection goes to standard error, and whatever goes wrong is none.
func runHook(ctx context.Context, a *app) error {
	feedback, err := a.askHook(ctx)
	switch {
	case err != nil:
		fmt.Fprintf(a.err, "leadlight %s: %s\n", hookVerb, printable(fault.Of(err).Message))
		return exitStatus(fault.ExitOther)
	case feedback != "":
		fmt.Fprintln(a.err, printable(feedback))
		return errRefused
	}
	return nil
}

func (a *app) askHook(ctx context.Context) (feedback string, err error) {
	data, err := a.outside(func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.in, maxHookInput)) })
	if err != nil {
		return "", fmt.Errorf("read what is asked: %w", err)
	}
	in, err := hooks.ParseInput(data)
	if err != nil {
		return "", fmt.Errorf("what is asked cannot be read: %w", err)
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return "", err
	}
	return svc.AskKept(ctx, team, in)
}
