package tmux

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/GianlucaP106/gotmux/gotmux"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// chore runs one call of gotmux with what gotmux lacks: a time limit, our errors, and
// a panic turned into an error. The server is named by a literal, because NewTmux takes
// a server without sessions for an invalid one. gotmux runs the tmux on PATH. A call that
// is still stuck at the limit is left behind until tmux answers or ends.
func (b *Backend) chore(ctx context.Context, what string, call func(*gotmux.Tmux) error) error {
	ctx, _, cancel := b.within(ctx, b.opt.Timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("gotmux: %v", p)
			}
		}()
		done <- call(&gotmux.Tmux{Socket: &gotmux.Socket{Path: b.opt.Socket}})
	}()
	select {
	case err := <-done:
		if err != nil {
			return fault.New(fault.TmuxError, "%s: %w", what, err)
		}
		return nil
	case <-ctx.Done():
		return b.explain(context.WithoutCancel(ctx), what, context.Cause(ctx), "", b.opt.Timeout)
	}
}

// installed tells whether the program is there.
func (b *Backend) installed() bool {
	if b.opt.Program == "tmux" {
		return gotmux.IsInstalled()
	}
	_, err := exec.LookPath(b.opt.Program)
	return err == nil
}

// switchClient shows a session, given by its id, on a client.
func (b *Backend) switchClient(ctx context.Context, client, session string) error {
	return b.chore(ctx, "switch the terminal "+client, func(t *gotmux.Tmux) error {
		return t.SwitchClient(&gotmux.SwitchClientOptions{TargetClient: client, TargetSession: session})
	})
}
