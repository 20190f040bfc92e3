package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// ownBackends are the names that --backend takes without a program of their own.
func ownBackends() []string { return []string{"auto", "tmux", panes.ITerm2, panes.Headless} }

// openOutside returns the backend in a program of its own: the one that is named, or,
// where a pane was opened with it, that very program on that very terminal.
func (a *app) openOutside(c *composition, kind, address string) (*external.Backend, error) {
	program, terminal := backend.ParseAddress(address)
	if program == "" {
		err := a.own.err
		if err == nil {
			program, err = external.Find(kind, a.own.path)
		}
		if err != nil {
			return nil, fault.New(fault.BackendUnavailable, "there is no backend %q%s", store.Shown(kind), meant(kind, append(ownBackends(), panes.Kitty))).
				WithHint("the backends are: auto, tmux, iterm2, headless; kitty, or another NAME, wants a program %sNAME beside leadlight or on PATH", external.Prefix)
		}
	}
	b, err := external.New(external.Options{
		Name: kind, Argv: []string{program}, Environ: outsideEnviron(a.environ), Terminal: terminal,
		StateDir: filepath.Join(c.runtime, "backend-"+kind), Version: version().Version, Log: a.logger(),
	})
	if err == nil {
		c.stops = append(c.stops, b.Stop)
	}
	return b, err
}

// outsideEnviron is what a backend's program gets: all but what would make it, and the
// panes that come of it, a part of the session of whoever asks.
func outsideEnviron(list []string) []string {
	return environ.Set(environ.Without(list, environ.Session()...), environ.Only(list, "LEADLIGHT_BASE_DIR")...)
}

// chooseOutside lets new panes be where a program of its own puts them.
func (a *app) chooseOutside(ctx context.Context, c *composition, kind, why string) (panes.Choice, error) {
	b, err := a.openOutside(c, kind, "")
	if err != nil {
		return panes.Choice{}, err
	}
	address, err := b.Address(ctx)
	if err != nil {
		return panes.Choice{}, err
	}
	c.choice = &panes.Choice{Type: kind, Socket: address, Word: "program", Why: why, Backend: b}
	return *c.choice, nil
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
	var list []backend.Pane
	if err == nil { // a terminal that has ended has no panes of ours, and that is no error
		if _, err = b.ListAll(ctx); err == nil || errors.Is(err, fault.Unsupported) {
			list, err = b.List(ctx)
		}
	}
	detail := ""
	if err == nil {
		hello, failed := b.Hello(ctx)
		err, detail = failed, fmt.Sprintf("%s, %s %s, protocol %d (%d panes of ours)", choice.Socket, hello.Backend.Name, hello.Backend.Version, hello.Protocol, len(list))
	}
	return probed("backend "+kind, detail, err)
}
