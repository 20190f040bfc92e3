package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/cmd/internal/tmuxshim"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

const shimVerb = "tmux-shim"

func shimCommand(a *app) *cobra.Command {
	c := page(shimVerb)
	c.Long += "\n"
	for _, v := range tmuxshim.Verbs() {
		c.Long += fmt.Sprintf("\n  %-16s %s (%s)", v.Name, v.Does, v.Clients)
	}
	c.DisableFlagParsing, c.ValidArgsFunction = true, noFiles
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
			return c.Help()
		}
		return a.shim(c.Context(), args)
	}
	return c
}

// shim answers one call of tmux, or is the host in a pane.
func (a *app) shim(ctx context.Context, args []string) error {
	s, err := a.set(nil)
	if err != nil {
		return err
	}
	c, err := a.compose(s, teams.Caller{})
	if err != nil {
		return err
	}
	k, err := a.shimKeeper(c)
	if err != nil {
		return err
	}
	if isTerminal(a.in) {
		k.Terminal, _ = a.in.(*os.File)
	}
	var status int
	if len(args) == 2 && args[0] == tmuxshim.HostWord {
		status, err = k.Host(ctx, args[1], a.logger())
	} else {
		status, err = tmuxshim.Shim{Keeper: k, Out: a.out, Err: a.err}.Run(ctx, args)
	}
	if err == nil && status != 0 {
		err = exitStatus(status)
	}
	return err
}

func (a *app) shimKeeper(c *composition) (tmuxshim.Keeper, error) {
	program, err := a.light()
	return tmuxshim.Keeper{
		Runtime: c.runtime, Executable: program, Environ: a.environ,
		Choose: func(ctx context.Context) (panes.Choice, error) { return a.chooseForShim(ctx, c) },
		Open:   func(kind, terminal string) (backend.Backend, error) { return a.openBackend(c, kind, terminal) },
	}, err
}

// shimOrphans is what killed calls of the shim have left; unless dryRun is set it is removed.
func (a *app) shimOrphans(ctx context.Context, dryRun bool) ([]api.Orphan, error) {
	k, err := a.shimKeeper(a.built)
	if err != nil {
		return nil, err
	}
	found, err := k.Look(ctx, !dryRun)
	return found.Litter, err
}

// probeShim tells of the servers that tmux-shim stands for; where there are none it is
// silent.
func (a *app) probeShim(ctx context.Context) []api.Check {
	k, err := a.shimKeeper(a.built)
	var found tmuxshim.Found
	if err == nil {
		found, err = k.Look(ctx, false)
	}
	check := api.Check{Name: shimVerb, Status: "ok", Detail: strings.Join(found.Servers, ", ")}
	switch {
	case err != nil:
		check = failing(shimVerb, err)
		check.Status = "warn"
	case len(found.Litter) > 0:
		left := fmt.Sprintf("%d things left by calls that were killed, the first is the %s %s", len(found.Litter), found.Litter[0].Kind, found.Litter[0].What)
		check.Status, check.Detail, check.Fix = "warn", joined(check.Detail, left), "leadlight gc removes them"
	case len(found.Servers) == 0:
		return nil
	}
	return []api.Check{check}
}

// chooseForShim chooses as ever, but never tmux: the tmux on the PATH may be we.
func (a *app) chooseForShim(ctx context.Context, c *composition) (panes.Choice, error) {
	named := c.settings.Backend.V
	if c.settings.Backend.Origin.Layer == config.Default {
		named = "auto" // what Claude's own setting says has led to us
	}
	switch {
	case named == "tmux":
		return panes.Choice{}, fault.New(fault.Unsupported, "tmux-shim cannot put panes into tmux").
			WithHint("inside tmux Claude Code needs no shim; else LEADLIGHT_BACKEND=headless or iterm2")
	case named == panes.ITerm2 || named == "auto" && a.besideITerm2(c.settings):
		choice, err := a.chooseITerm2(ctx, c, "")
		if err == nil || named == panes.ITerm2 {
			return choice, err
		}
	case named != "auto" && named != panes.Headless:
		b, err := a.openBackend(c, named, "")
		return panes.Choice{Type: named, Backend: b}, err
	}
	return a.chooseHeadless(c, "")
}
