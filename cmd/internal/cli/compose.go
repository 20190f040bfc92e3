package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/headless"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
	"github.com/leadlight-dev/leadlight/teams/store/maildir"
)

// composition is what one run of leadlight has put together.
type composition struct {
	settings *config.Settings
	runtime  string
	program  string // this one, the light one
	files    *claudefs.FS
	panes    *panes.Manager
	mail     store.Mail
	config   teams.Config
	service  *teams.Service
	choice   *panes.Choice // nil: nobody has asked yet
	hangUp   func()        // ends the connection to the engine; may be nil
	stops    []func()      // ends the programs of backends that were asked
}

// service returns the Service, put together at the first call.
func (a *app) service(context.Context) (*teams.Service, error) {
	who, err := a.who()
	if err != nil {
		return nil, err
	}
	c, err := a.compose(a.settings, who)
	if err != nil {
		return nil, err
	}
	return c.service, nil
}

// archiveAbove is how many messages a teammate's box holds until those that were read
// begin to go: each message that is sent writes the whole box.
const archiveAbove = 1000

// compose is the one place where stores, panes and the Service are put together.
func (a *app) compose(s *config.Settings, who teams.Caller) (*composition, error) {
	if a.built != nil {
		return a.built, nil
	}
	log := a.logger()
	fs, err := claudefs.Open(s.BaseDir.V, claudefs.Options{ArchiveAbove: archiveAbove, Log: log, Notice: func(line string) { a.warn([]string{line}) }})
	if err != nil {
		err = fmt.Errorf("open the base directory: %w", err)
		switch {
		case errors.Is(err, syscall.ENOTDIR), errors.Is(err, os.ErrNotExist):
			err = fault.New(fault.InvalidArgument, "%w", err).WithHint("name another folder with --base-dir or LEADLIGHT_BASE_DIR")
		case errors.Is(err, os.ErrPermission):
			err = fault.New(fault.PermissionDenied, "%w", err).WithHint("check its owner and its mode; if HOME is not yours (sudo, a container), set it, or name a folder with --base-dir")
		}
		return nil, err
	}
	c := &composition{settings: s, files: fs}
	a.built = c
	a.begun.Store(true)
	c.runtime = panes.RuntimeDir(a.getenv)
	if c.program, err = a.light(); err != nil {
		return nil, err
	}
	c.mail = fs.Mail(map[string]store.Mail{
		store.MailboxMaildir: maildir.New(fs.Dir(), maildir.Options{Watcher: fs.Watcher()}),
	})
	all, err := a.stores(s, c)
	if err != nil {
		return nil, err
	}
	c.mail = all.Mail
	c.panes = panes.NewManager(panes.Options{
		Dir: fs.Dir(), Base: s.BaseDir.V, Runtime: c.runtime, Executable: c.program, Environ: a.environ,
		Inherited: a.inherited(s),
		Claims:    teams.Claims(all.Roster, panes.NewRecords(fs.Dir())),
		Choose:    func(ctx context.Context) (panes.Choice, error) { return a.choose(ctx, c) },
		Open:      func(kind, socket string) (backend.Backend, error) { return a.openBackend(c, kind, socket) },
	})
	c.config = teams.Config{
		Base: s.BaseDir.V, Roster: all.Roster, Mail: all.Mail, Tasks: all.Tasks, Machine: c.config.Machine, Machines: c.config.Machines, Panes: c.panes, Profiles: profiles.NewSet(s.Profiles),
		Limits: s.Limits(), Cwd: a.cwd, Environ: a.environ, Log: log,
		Trust:  a.trustHooks,
		Notice: func(line string) { a.warn([]string{line}) },
	}
	c.service = c.serviceOf(who)
	return c, nil
}

// serviceOf gives the verbs in another caller's name.
func (c *composition) serviceOf(who teams.Caller) *teams.Service {
	config := c.config
	config.Caller = who
	return teams.New(config)
}

func (a *app) close() {
	a.hangUp()
	if a.built == nil {
		return
	}
	for _, stop := range a.built.stops {
		stop()
	}
	if a.built.hangUp != nil {
		a.built.hangUp()
	}
	_ = a.built.files.Close()
}

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
	return strings.Join(slices.DeleteFunc(reasons, func(s string) bool { return s == "" }), ", ")
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
	if dir, given := a.flags["base-dir"]; given {
		see = append(see, "--base-dir", dir)
	}
	a.say("see it with: %s", shell.Line(see...))
	return shell.Line(words...)
}
