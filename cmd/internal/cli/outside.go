package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external"
	"github.com/leadlight-dev/leadlight/backend/kitty"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// ownBackends are the names that --backend takes without a program on PATH.
func ownBackends() []string {
	return []string{"auto", "tmux", panes.ITerm2, panes.Kitty, panes.Headless}
}

// openOutside returns the backend in a program of its own: the one that is named, or,
// where a pane was opened with it, that very program.
func (a *app) openOutside(c *composition, kind, program string) (*external.Backend, error) {
	if program == "" {
		var err error
		if program, err = external.Find(kind); err != nil {
			return nil, fault.New(fault.BackendUnavailable, "there is no backend %q%s", store.Shown(kind), meant(kind, ownBackends())).
				WithHint("the backends are: auto, tmux, iterm2, kitty, headless; another NAME wants a program %sNAME on PATH", external.Prefix)
		}
	}
	b, err := external.New(external.Options{
		Name: kind, Argv: []string{program}, Environ: outsideEnviron(a.environ), StateDir: filepath.Join(c.runtime, "backend-"+kind),
		Version: version().Version, Log: a.logger(),
	})
	if err == nil {
		c.stops = append(c.stops, b.Stop)
	}
	return b, err
}

// outsideEnviron is what a backend's program gets: all but what would make it, and the
// panes that come of it, a part of the teammate who asks.
func outsideEnviron(environ []string) []string {
	return backend.Without(environ, []string{"LEADLIGHT_AGENT", "LEADLIGHT_TASK", "LEADLIGHT_PANE", signals.Mark})
}

// chooseOutside lets new panes be where a program of its own puts them.
func (a *app) chooseOutside(c *composition, kind, why string) (panes.Choice, error) {
	program, err := external.Find(kind)
	if err != nil {
		program = "" // openOutside says what there is
	}
	b, err := a.openOutside(c, kind, program)
	if err != nil {
		return panes.Choice{}, err
	}
	c.choice = &panes.Choice{Type: kind, Socket: program, Word: "program", Why: why, Backend: b}
	return *c.choice, nil
}

// openKitty returns the backend in the kitty behind a socket, "" being the one we run in.
func (a *app) openKitty(socket string) (*kitty.Backend, error) {
	if socket == "" {
		var err error
		if socket, err = kitty.Socket(a.getenv); err != nil {
			return nil, err
		}
	}
	return kitty.New(kitty.Options{Socket: socket, Getenv: a.getenv, Log: a.logger()})
}

// chooseKitty lets new panes be in the kitty we run in.
func (a *app) chooseKitty(c *composition, why string) (panes.Choice, error) {
	socket, err := kitty.Socket(a.getenv)
	if err != nil {
		return panes.Choice{}, err
	}
	b, err := a.openKitty(socket)
	if err != nil {
		return panes.Choice{}, err
	}
	c.choice = &panes.Choice{Type: panes.Kitty, Socket: socket, Why: why, Backend: b}
	return *c.choice, nil
}

// probeKitty says whether kitty answers, if it is wanted.
func (a *app) probeKitty(ctx context.Context) []api.Check {
	if kind, _ := a.wantedBackend(a.built.settings); kind != panes.Kitty {
		return nil
	}
	check := api.Check{Name: panes.Kitty, Status: "ok"}
	b, err := a.openKitty("")
	var all []backend.Pane
	if err == nil {
		all, err = b.ListAll(ctx)
	}
	if err != nil {
		e := fault.Of(err)
		check.Status, check.Detail, check.Fix = "fail", e.Message, e.Hint
		return []api.Check{check}
	}
	ours := slices.DeleteFunc(slices.Clone(all), func(p backend.Pane) bool { return p.Mark == (backend.Mark{}) })
	check.Detail = fmt.Sprintf("it answers: %d windows, %d of them ours", len(all), len(ours))
	return []api.Check{check}
}

// probeOutside says what a backend in a program of its own is like, if one is wanted.
func (a *app) probeOutside(ctx context.Context) []api.Check {
	kind, _ := a.wantedBackend(a.built.settings)
	if slices.Contains(ownBackends(), kind) {
		return nil
	}
	choice, err := a.choose(ctx, a.built)
	b, ok := choice.Backend.(*external.Backend)
	if err == nil && !ok {
		return nil
	}
	check := api.Check{Name: "backend " + kind, Status: "ok"}
	var list []backend.Pane
	if err == nil {
		list, err = b.List(ctx)
	}
	if err != nil {
		e := fault.Of(err)
		check.Status, check.Detail, check.Fix = "fail", e.Message, e.Hint
		return []api.Check{check}
	}
	hello, err := b.Hello(ctx)
	if err == nil {
		check.Detail = fmt.Sprintf("%s, %s %s, protocol %d (%d panes of ours)", choice.Socket, hello.Backend.Name, hello.Backend.Version, hello.Protocol, len(list))
	}
	return []api.Check{check}
}
