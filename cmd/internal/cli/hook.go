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

func hookCommand(a *app) *cobra.Command { return plain(a, hookVerb, runHook) }

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
