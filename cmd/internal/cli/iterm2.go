package cli

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
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

// openITerm2 returns the backend in iTerm2 behind a socket, "" being where iTerm2 puts it,
// or, where a pane was opened by the command line it2, that with its folder of notes.
func (a *app) openITerm2(c *composition, terminal string) (backend.Backend, error) {
	if iterm2.IsIt2(terminal) {
		return a.openIt2(terminal)
	}
	return a.openNative(c, terminal)
}

func (a *app) openNative(c *composition, socket string) (*iterm2.Backend, error) {
	return iterm2.New(iterm2.Options{Socket: socket, Dir: filepath.Join(c.runtime, panes.ITerm2), Getenv: a.getenv, Log: a.logger()})
}

// openIt2 returns the backend by the it2 on PATH; folder is where its panes are noted.
func (a *app) openIt2(folder string) (*iterm2.It2, error) {
	program, err := exec.LookPath(iterm2.It2Name)
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, fault.New(fault.BackendUnavailable, "there is no it2 on PATH").WithHint("put it where it was when the pane was opened")
	}
	return iterm2.NewIt2(iterm2.It2Options{Program: program, Dir: folder, Environ: outsideEnviron(a.environ), Getenv: a.getenv, Log: a.logger()})
}

// chooseITerm2 lets new panes be in iTerm2, if it lets us in, or lets it2.
func (a *app) chooseITerm2(ctx context.Context, c *composition, why string) (panes.Choice, error) {
	b, err := a.openNative(c, "")
	if err != nil {
		return panes.Choice{}, err
	}
	found, err := b.Probe(ctx)
	if err != nil {
		return a.chooseIt2(ctx, c, why, err)
	}
	where := "not inside iTerm2: a window of our own"
	if found.Inside {
		where = "inside iTerm2"
	}
	c.choice = &panes.Choice{Type: panes.ITerm2, Socket: b.Socket(), Why: joined(why, where), Backend: b}
	return *c.choice, nil
}

// chooseIt2 lets new panes be in iTerm2 by it2, when iTerm2's own interface has refused.
func (a *app) chooseIt2(ctx context.Context, c *composition, why string, refused error) (panes.Choice, error) {
	b, _, err := a.probeIt2(ctx, c)
	if err != nil {
		e := fault.Of(refused)
		return panes.Choice{}, fault.New(e.Code, "%w; its command line cannot be used either: %s", refused, fault.Of(err).Message).WithHint("%s", e.Hint)
	}
	where := fmt.Sprintf("inside iTerm2, by %s, because its interface cannot be used (%s)", b.Program(), fault.Of(refused).Message)
	c.choice = &panes.Choice{Type: panes.ITerm2, Socket: b.Folder(), Word: "folder", Why: joined(why, where), Backend: b}
	return *c.choice, nil
}

// probeIt2 finds it2, and out whether it works here.
func (a *app) probeIt2(ctx context.Context, c *composition) (*iterm2.It2, iterm2.Report, error) {
	b, err := a.openIt2(filepath.Join(c.runtime, iterm2.It2Name))
	if err != nil {
		return nil, iterm2.Report{}, err
	}
	found, err := b.Probe(ctx)
	if err == nil && !found.Inside {
		err = fault.New(fault.BackendUnavailable, "%s does not list the session of this process", b.Program())
	}
	return b, found, err
}

// probeITerm2 says whether iTerm2 can be used, and if not, whether it2 can; outside it, and
// unless it is asked for, it is silent.
func (a *app) probeITerm2(ctx context.Context) []api.Check {
	s := a.built.settings
	kind, _ := a.wantedBackend(s)
	if kind != panes.ITerm2 && !a.besideITerm2(s) {
		return nil
	}
	b, err := a.openNative(a.built, "")
	var found iterm2.Report
	if err == nil {
		found, err = b.Probe(ctx)
	}
	if err == nil {
		return []api.Check{{Name: "iTerm2", Status: "ok", Detail: fmt.Sprintf("socket %s, %d sessions, %d of them ours", b.Socket(), found.Sessions, found.Ours)}}
	}
	e := fault.Of(err)
	native := api.Check{Name: "iTerm2", Status: "fail", Detail: e.Message, Fix: e.Hint}
	if kind == "auto" {
		native.Status = "warn" // there are other backends
	}
	other, found, err := a.probeIt2(ctx, a.built)
	if err != nil {
		native.Detail = joined(native.Detail, "and its command line: "+fault.Of(err).Message)
		return []api.Check{native}
	}
	native.Status = "warn"
	return []api.Check{native, {
		Name: "iTerm2 by it2", Status: "warn", Fix: "enable iTerm2's Python API (Settings, General, Magic)",
		Detail: fmt.Sprintf("%s, %d sessions, %d of them ours; it is a stopgap: %s", other.Program(), found.Sessions, found.Ours, strings.Join(other.Weaknesses(), "; ")),
	}}
}
