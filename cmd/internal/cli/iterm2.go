package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/backend/iterm2"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// besideITerm2 tells whether nobody names a tmux server and we are in a session of iTerm2
// itself, not of an editor that was started from one.
func (a *app) besideITerm2(s *config.Settings) bool {
	program := a.getenv("TERM_PROGRAM")
	_, ok := iterm2.SessionOf(a.getenv(iterm2.Variable))
	return ok && (program == "" || program == "iTerm.app") && s.TmuxSocket.V == "" && a.getenv("TMUX") == ""
}

// openITerm2 returns the backend in iTerm2 behind a socket; "" is where iTerm2 puts it.
func (a *app) openITerm2(c *composition, socket string) (*iterm2.Backend, error) {
	return iterm2.New(iterm2.Options{Socket: socket, Dir: filepath.Join(c.runtime, panes.ITerm2), Getenv: a.getenv, Log: a.logger()})
}

// chooseITerm2 lets new panes be in iTerm2, if it lets us in.
func (a *app) chooseITerm2(ctx context.Context, c *composition, why string) (panes.Choice, error) {
	b, err := a.openITerm2(c, "")
	if err != nil {
		return panes.Choice{}, err
	}
	found, err := b.Probe(ctx)
	if err != nil {
		return panes.Choice{}, err
	}
	where := "not inside iTerm2: a window of our own"
	if found.Inside {
		where = "inside iTerm2"
	}
	c.choice = &panes.Choice{Type: panes.ITerm2, Socket: b.Socket(), Why: joined(why, where), Backend: b}
	return *c.choice, nil
}

// probeITerm2 says whether iTerm2 can be used. It says nothing outside iTerm2, unless
// iTerm2 is asked for.
func (a *app) probeITerm2(ctx context.Context) []api.Check {
	s := a.built.settings
	kind, _ := a.wantedBackend(s)
	if kind != panes.ITerm2 && !a.besideITerm2(s) {
		return nil
	}
	b, err := a.openITerm2(a.built, "")
	var found iterm2.Report
	if err == nil {
		found, err = b.Probe(ctx)
	}
	detail := ""
	if err == nil {
		detail = fmt.Sprintf("socket %s, %d sessions, %d of them ours", b.Socket(), found.Sessions, found.Ours)
	}
	out := probed("iTerm2", detail, err)
	if err != nil && kind == "auto" {
		out[0].Status = "warn" // there are other backends
	}
	return out
}
