package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/pflag"
)

// app is one run of leadlight: where it reads and writes, how it is set, and
// what it has put together so far.
type app struct {
	in      io.Reader
	out     *sink
	err     io.Writer
	environ []string
	cwd     string     // where it runs; "" if that folder is gone
	args    []string   // of the command line
	long    *LongLived // nil in leadlight
	own     program

	json    bool
	allHelp bool // --help --all: with the global flags
	noColor bool
	verbose bool
	flags   map[string]string // global flags that were given
	pairs   []string          // K=V of set --team
	unnamed func() bool       // a command that does not name the team is about another one, or about none
	named   string            // the team that was named

	mu       sync.Mutex // guards held, and lines on stderr against each other
	held     []string   // narration kept back until all went well
	atOnce   bool       // it is not kept back: the verb takes long
	settings *config.Settings
	engine   Engine // that this process, a daemon, holds; else it asks the daemon
	built    *composition
	conn     *rpc.Client // to the daemon, once the verb has asked it

	begun   atomic.Bool  // it may have begun a deed
	waiting atomic.Int32 // for what is outside: standard input, or a file that a person has named

	trusting sync.Mutex      // guards trusted, and keeps to one question at a time
	trusted  map[string]bool // what was answered about a folder's hooks in this run
}

func newApp(std Stdio, list []string) *app {
	cwd, _ := os.Getwd() // a folder that is gone: then only whole paths mean something
	return &app{
		in: std.In, out: &sink{w: std.Out}, err: std.Err, cwd: cwd, environ: environ.WholePaths(list, cwd), flags: map[string]string{},
		own: findSelf(os.Args[0]),
	}
}

// path is the whole path of one that a person has written.
func (a *app) path(path string) string { return environ.WholePath(path, a.getenv("HOME"), a.cwd) }

// fromHome completes the ~ of a path where the shell has left it, as in --file=~/x; one that
// is relative stays so.
func (a *app) fromHome(path string) string { return environ.WholePath(path, a.getenv("HOME"), "") }

// run parses the command line and runs the verb.
func (a *app) run(ctx context.Context, args []string) (err error) {
	defer a.close()
	defer func() { err = a.hintForTeam(err) }()
	args = a.helpArgs(args)
	root := rootCommand(a, first(args))
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	return root.ExecuteContext(ctx)
}

// helpArgs takes --all out of a command line that asks for help.
func (a *app) helpArgs(args []string) []string {
	ours := args
	if i := slices.Index(args, "--"); i >= 0 {
		ours = args[:i]
	}
	if i := slices.Index(ours, "--all"); i >= 0 && (slices.Contains(ours, "--help") || slices.Contains(ours, "-h")) {
		a.allHelp = true
		return slices.Delete(slices.Clone(args), i, i+1)
	}
	return args
}

func (a *app) getenv(name string) string {
	for i := len(a.environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(a.environ[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// globalFlags adds the flags that every verb takes.
func (a *app) globalFlags(fs *pflag.FlagSet) {
	text := func(name, short, usage string) {
		fs.VarP(flagValue{take: func(v string) error { return a.keepGlobal(name, v) }}, name, short, usage)
	}
	text("base-dir", "", "`DIR` of the teams' files (LEADLIGHT_BASE_DIR, CLAUDE_CONFIG_DIR; ~/.claude)")
	text("team", "t", "`NAME` of the team (LEADLIGHT_TEAM; the only one there is, or that of the leadlight.yaml here)")
	text("as", "", "`NAME` of who asks (LEADLIGHT_AGENT; the lead)")
	text("backend", "", "terminal that holds the panes: auto, tmux, iterm2, kitty, headless or another `NAME` (LEADLIGHT_BACKEND)")
	text("tmux-socket", "", "`PATH` of the tmux server's socket (LEADLIGHT_TMUX_SOCKET)")
	fs.BoolVar(&a.json, "json", false, "answer with JSON, errors too")
	fs.BoolVar(&a.noColor, "no-color", false, "no colours (NO_COLOR)")
	fs.BoolVarP(&a.verbose, "verbose", "v", false, "verbose output on stderr (LEADLIGHT_DEBUG=1)")
}

// keepGlobal remembers that a global flag was given. An empty value is refused: a script whose
// variable is empty must not mean the only team there is.
func (a *app) keepGlobal(name, v string) error {
	if v == "" {
		return fmt.Errorf("it is empty")
	}
	if name == "team" && strings.Contains(v, "=") && slices.Contains(a.args, "set") { // set --team K=V: no team's name holds a =
		a.pairs = append(a.pairs, v)
		return nil
	}
	if name == "base-dir" || name == "tmux-socket" {
		v = a.path(v)
	}
	a.flags[name] = v
	return nil
}

// passed are those of some global flags that were given, for another process.
func (a *app) passed(names ...string) (args []string) {
	for _, name := range names {
		if v, ok := a.flags[name]; ok {
			args = append(args, "--"+name, v)
		}
	}
	return args
}

// set returns the settings, those of a team file among them.
func (a *app) set(file *config.TeamFile) (*config.Settings, error) {
	if a.settings != nil {
		return a.settings, nil
	}
	s, err := config.Load(config.Sources{Getenv: a.getenv, Flags: a.flags, Team: file})
	if err == nil {
		a.settings = s
	}
	return s, err
}

// caller is who asks: inside a teammate, that teammate and nobody else.
func (a *app) caller(s *config.Settings) (teams.Caller, error) {
	agent, err := local(a.getenv("LEADLIGHT_AGENT"), s)
	if err != nil {
		return teams.Caller{}, err
	}
	as, err := local(s.As.V, s)
	if err != nil {
		return teams.Caller{}, err
	}
	if team, above, ok := panes.Above(s.BaseDir.V, os.Getpid()); ok { // also who has taken its name away
		if agent != "" && !store.SameName(agent, store.Lead) && !store.SameName(agent, above) {
			return teams.Caller{}, actsAs(above, agent, "LEADLIGHT_AGENT")
		}
		if agent = above; s.Team.V == "" {
			s.Team = config.Value[string]{V: team, Origin: s.As.Origin}
		}
	}
	name := as
	if agent != "" {
		name = agent
		if as != "" && !store.SameName(as, agent) {
			return teams.Caller{}, actsAs(agent, as, "--as")
		}
	}
	if name == "" {
		return teams.Caller{Name: store.Lead}, nil
	}
	if name, err = store.CheckAddress(name); err != nil {
		return teams.Caller{}, fmt.Errorf("who asks: %w", err)
	}
	return teams.Caller{Name: name, Teammate: agent != "" && name != store.Lead}, nil
}

// who is who asks, by the settings.
func (a *app) who() (teams.Caller, error) {
	s, err := a.set(nil)
	if err != nil {
		return teams.Caller{}, err
	}
	return a.caller(s)
}

// actsAs refuses that a teammate acts as another; by is how it says so.
func actsAs(agent, other, by string) error {
	return fault.New(fault.NotLead, "teammate %s cannot act as %s", store.Shown(agent), store.Shown(other)).
		WithHint("leave %s out: inside a teammate every verb acts as that teammate", by)
}

// local takes the team off the address of who asks; it is the team that is meant.
func local(name string, s *config.Settings) (string, error) {
	local, team, address := strings.Cut(name, "@")
	switch {
	case !address, local == "", team == "":
		return name, nil
	case s.Team.V == "":
		s.Team = config.Value[string]{V: team, Origin: s.As.Origin}
	case s.Team.V != team:
		return "", usage("two teams: that of %s, and %q", store.Shown(name), store.Shown(s.Team.V))
	}
	return local, nil
}

// team is the team that a verb is about. positional is what the command line
// says besides --team, if it says anything.
func (a *app) team(ctx context.Context, svc *teams.Service, positional ...string) (string, error) {
	s, err := a.set(nil)
	if err != nil {
		return "", err
	}
	explicit := s.Team.V
	if named := first(positional); named != "" {
		if given, ok := a.flags["team"]; ok && given != named {
			return "", usage("two teams: %q and --team %q", named, given)
		}
		explicit = named
	}
	a.named, a.unnamed = explicit, func() bool {
		picked, err := svc.PickTeam(context.WithoutCancel(ctx), a.getenv("LEADLIGHT_TEAM"), teamHere)
		return err != nil || picked != explicit
	}
	return svc.PickTeam(ctx, explicit, teamHere)
}

// hintForTeam lets the commands of a hint name the team.
func (a *app) hintForTeam(err error) error {
	e := fault.Of(err)
	if e == nil {
		return err
	}
	named := *e
	if named.Hint = a.forTeam(e.Hint); named.Hint == e.Hint {
		return err
	}
	return &named
}

// forTeam lets the commands in a text name the team, where they would not find it by themselves.
func (a *app) forTeam(text string) string {
	if a.named == "" || strings.Contains(text, " -t ") || strings.Contains(text, " --team ") {
		return text
	}
	verbs := regexp.MustCompile(`\bleadlight (ps|stop|restart|attach|capture|logs|keys|diff|send|inbox|requests|approve|deny|plan|task|set|spawn)\b`)
	if !verbs.MatchString(text) || !a.unnamed() {
		return text
	}
	return verbs.ReplaceAllString(text, "leadlight -t "+strings.ReplaceAll(shell.Line(a.named), "$", "$$")+" $1")
}

// teamHere is the team of the team file in this folder, and that file's identity; "" if
// there is none that can be read.
func teamHere() (name, path string) {
	file, path, err := teamFile(config.TeamFileName)
	if err != nil {
		return "", ""
	}
	return file.Plan.Team.Name, path
}

// teamFile reads a team file, and returns its identity, too.
func teamFile(path string) (file *config.TeamFile, identity string, err error) {
	if file, err = config.ReadTeamFile(path); err == nil {
		identity, err = config.Identity(path)
	}
	return file, identity, err
}

// serve returns the Service and the team that the verb is about.
func (a *app) serve(ctx context.Context, positional ...string) (*teams.Service, string, error) {
	svc, err := a.service(ctx)
	if err != nil {
		return nil, "", err
	}
	team, err := a.team(ctx, svc, positional...)
	return svc, team, err
}
