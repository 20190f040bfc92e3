package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external"
	"github.com/leadlight-dev/leadlight/backend/headless"
	"github.com/leadlight-dev/leadlight/backend/iterm2"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// ownSocket is the socket of the tmux server that is ours alone.
func (c *composition) ownSocket() string { return panes.OwnSocket(c.runtime) }

// openBackend returns the backend of a kind: the explicit list of those there are.
func (a *app) openBackend(c *composition, kind, socket string) (backend.Backend, error) {
	switch kind {
	case "tmux":
		return a.openTmux(c, socket)
	case panes.Headless:
		return headless.New(headless.Options{Dir: cmp.Or(socket, panes.HeadlessFolder(c.runtime)), Environ: a.environ, Viewer: c.viewer})
	case panes.ITerm2:
		return a.openITerm2(c, socket)
	}
	return a.openOutside(c, kind, socket)
}

// openTmux returns the backend in the tmux server behind a socket; "" is the one that is picked.
func (a *app) openTmux(c *composition, socket string) (*tmux.Backend, error) {
	if socket == "" {
		where, err := a.socket(c)
		if err != nil {
			return nil, err
		}
		socket = where.path
	}
	return tmux.New(tmux.Options{Socket: socket, Own: socket == c.ownSocket(), Status: c.status, Getenv: a.getenv, Log: a.logger()})
}

// choose decides where new panes go, and says why.
func (a *app) choose(ctx context.Context, c *composition) (panes.Choice, error) {
	kind, why := a.wantedBackend(c.settings)
	if kind == panes.ITerm2 || kind == "auto" && a.besideITerm2(c.settings) {
		choice, err := a.chooseITerm2(ctx, c, why)
		if err == nil || kind == panes.ITerm2 {
			return choice, err
		}
		why = fmt.Sprintf("inside iTerm2, which cannot be used (%s)", fault.Of(err).Message)
	}
	if kind == "auto" && a.withoutTmux(c.settings) {
		kind, why = panes.Headless, joined(why, "tmux is not on PATH, so the teammates run without a terminal")
	}
	if kind == panes.Headless {
		return a.chooseHeadless(c, why)
	}
	if kind != "auto" && kind != "tmux" {
		return a.chooseOutside(ctx, c, kind, why)
	}
	where, err := a.socket(c)
	if err != nil {
		return panes.Choice{}, err
	}
	b, err := a.openBackend(c, "tmux", where.path)
	if err != nil {
		return panes.Choice{}, noTmux(err, kind)
	}
	choice := panes.Choice{Type: "tmux", Socket: where.path, Own: where.path == c.ownSocket(), Why: joined(why, where.why), Backend: b}
	c.choice = &choice
	return choice, nil
}

// joined joins the reasons there are.
func joined(reasons ...string) string {
	return strings.Join(filled(reasons...), ", ")
}

// chooseHeadless lets new panes be without a terminal.
func (a *app) chooseHeadless(c *composition, why string) (panes.Choice, error) {
	dir := panes.HeadlessFolder(c.runtime)
	b, err := a.openBackend(c, panes.Headless, dir)
	if err != nil {
		return panes.Choice{}, err
	}
	c.choice = &panes.Choice{Type: panes.Headless, Socket: dir, Own: true, Why: why, Backend: b}
	return *c.choice, nil
}

// withoutTmux tells whether nobody names a tmux server and there is no program to start
// one.
func (a *app) withoutTmux(s *config.Settings) bool {
	if s.TmuxSocket.V != "" || a.getenv("TMUX") != "" {
		return false
	}
	_, err := exec.LookPath("tmux")
	return err != nil
}

// status is the command that tells the status line of a team's session how many requests
// wait.
func (c *composition) status(m backend.Mark) []string {
	return []string{c.program, "requests", "--format", "tmux", "--team", m.Team, "--base-dir", c.settings.BaseDir.V}
}

// viewer is the command line that shows a headless pane.
func (c *composition) viewer(m backend.Mark) []string {
	return []string{"leadlight", "attach", m.Agent, "--team", m.Team, "--base-dir", c.settings.BaseDir.V}
}

// inProcess is the client's word for teammates without a pane. They are processes here.
const inProcess = "in-process"

// wantedBackend is the backend that is asked for, auto if none is, and by what.
func (a *app) wantedBackend(s *config.Settings) (kind, why string) {
	if s.Backend.Origin.Layer != config.Default {
		if s.Backend.V == inProcess {
			return panes.Headless, inProcess + ", asked for by " + s.Backend.Origin.String() + ", is headless here"
		}
		return s.Backend.V, "asked for by " + s.Backend.Origin.String()
	}
	mode, file := config.ClaudeMode(a.getenv)
	switch mode {
	case "tmux":
		return "tmux", "teammateMode in " + file
	case inProcess:
		return panes.Headless, "teammateMode " + inProcess + " in " + file + ", is headless here"
	case panes.ITerm2:
		if a.besideITerm2(s) {
			return panes.ITerm2, "teammateMode iterm2 in " + file
		}
		return "auto", "teammateMode iterm2 in " + file + ", but not inside iTerm2"
	case "", "auto":
		return "auto", ""
	}
	return "auto", fmt.Sprintf("teammateMode %q in %s is no mode that is known", mode, file)
}

// noTmux adds, where nothing else can hold panes, what to do about it.
func noTmux(err error, kind string) error {
	e := fault.Of(err)
	if kind == "auto" && errors.Is(err, fault.BackendUnavailable) {
		return fault.New(fault.BackendUnavailable, "no terminal that can hold panes: %w", err).
			WithHint("install tmux (apt-get install tmux, brew install tmux), or work without a terminal: --backend headless")
	}
	return e
}

// A server is a tmux server's socket and why it is that one.
type server struct{ path, why string }

// socket picks the tmux server: the one that is named, the one we are in, our own.
func (a *app) socket(c *composition) (server, error) {
	if s := c.settings.TmuxSocket; s.V != "" {
		path, err := filepath.Abs(s.V)
		return server{path, "the server named by " + s.Origin.String()}, err
	}
	in, inside, err := tmux.ParseInside(a.getenv("TMUX"))
	switch {
	case err != nil:
		return server{}, err
	case inside:
		return server{in.Socket, "inside tmux"}, nil
	}
	return server{c.ownSocket(), "not inside tmux: a session of our own"}, nil
}

// sayChoice tells where panes went, and why.
func (a *app) sayChoice() {
	if a.built == nil || a.built.choice == nil {
		return
	}
	c := a.built.choice
	a.say("backend %s: %s (%s %s)", c.Type, c.Why, c.Place(), c.Socket)
}

// inside tells whether this process runs inside the terminal that is in use.
func (a *app) inside() bool {
	if c := a.built.choice; c != nil && c.Type != "tmux" {
		return c.Type == panes.ITerm2 && a.besideITerm2(a.built.settings)
	}
	where, err := a.socket(a.built)
	in, inside, bad := tmux.ParseInside(a.getenv("TMUX"))
	return err == nil && bad == nil && inside && in.Socket == where.path
}

// sayAttach tells a person who is not in the terminal that holds the panes how to
// get to see them, and returns the terminal's own command line for that.
func (a *app) sayAttach(ctx context.Context, svc *teams.Service, team, name string) (argv string) {
	if a.inside() {
		return ""
	}
	words, err := svc.Attach(ctx, team, name)
	if err != nil {
		return "" // advice only: whoever asks for attach is told why
	}
	see := []string{"leadlight", "attach"}
	if name != "" {
		see = append(see, name)
	}
	see = append(see, "--team", team)
	a.say("see it with: %s", shell.Line(append(see, a.passed("base-dir")...)...))
	return shell.Line(words...)
}

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
