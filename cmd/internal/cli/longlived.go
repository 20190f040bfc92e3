package cli

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
	"github.com/spf13/cobra"
)

// The two programs. leadlight is small and starts fast; leadlightd holds what is
// long-lived or needs a heavy library.
const (
	lightProgram = "leadlight"
	heavyProgram = "leadlightd"
)

// callerVersion is the variable by which leadlight tells leadlightd its version.
const callerVersion = "LEADLIGHT_CALLER_VERSION"

// LongLived is the work that only leadlightd can do.
type LongLived struct {
	Daemon func(context.Context, DaemonParts) error
	Engine func(p dial.Paths, m dial.Machine, version string, log *slog.Logger) (Engine, error) // of the machine's daemon
	Join   func(ctx context.Context, m dial.Machine, version string, log *slog.Logger, record func(dial.Machine) error) error
	Check  func(ctx context.Context, database string) error // whether it can be read
	Schema func(*config.Settings, dial.Paths) any
	MCP    func(context.Context, MCPParts) error
	Top    func(context.Context, TopParts) error
	Choose func(context.Context, TopParts, []api.TeamSummary) (team string, err error) // "": the person left
}

// Stores is where the teams of a base directory are kept, and what looks at their panes.
type Stores struct {
	store.Stores
	Files *claudefs.FS
	Panes *panes.Manager
}

// Engine is the connection to the engine that this machine has joined.
type Engine interface {
	Roster() store.Roster
	Mail() store.Mail
	Tasks() store.Tasks
	teams.Machines
	Close() error
}

// DaemonParts is what a daemon is made of.
type DaemonParts struct {
	Settings *config.Settings
	Paths    dial.Paths
	Version  string
	OnDemand bool
	Stores   Stores
	Engine   Engine      // nil: nothing was joined
	Current  func() bool // whether that is so still
	Serve    func() (*teams.Service, error)
	Log      *slog.Logger
}

// MCPParts is what a server of tools for models is made of.
type MCPParts struct {
	Settings          *config.Settings
	Service           *teams.Service
	Caller            teams.Caller
	Version           string
	Enabled, Delegate bool
	Stores            Stores
	HTTP, Token       string                        // address and secret; "": standard input and output
	Announce          func(url, token string) error // says where the server listens
	In                io.Reader
	Out               io.Writer
	Log               *slog.Logger
}

// TopParts is what the dashboard is made of.
type TopParts struct {
	Service *teams.Service
	Team    string
	Notify  string // off, bell or osc9
	Inside  bool   // the panes are in the terminal around us
	Program string // leadlight, which shows a pane
	Environ []string
	In      io.Reader
	Out     io.Writer
	Changes func(ctx context.Context, tell func(mail bool) error) // tells of the team's changes, of its mail too if mail is set
}

func (c *composition) stores() Stores {
	return Stores{Stores: c.kept, Files: c.files, Panes: c.panes}
}

// MainLongLived is Main for leadlightd.
func MainLongLived(long LongLived, args []string, std Stdio, list []string) int {
	a := newApp(std, environ.Without(list, callerVersion))
	a.long = &long
	if caller, ok := environ.Lookup(list, callerVersion); ok && caller != version().comparable() {
		a.json = asksForJSON(args)
		return a.finish(fault.New(fault.Failed, "%s is version %s, but %s, which started it, is version %s", cmp.Or(a.own.path, heavyProgram), version().comparable(), lightProgram, caller).
			WithHint("install both programs from one build: make build writes them to bin/"))
	}
	return a.main(args)
}

// comparable is the part of the version that must be the same in both programs.
func (v versionInfo) comparable() string {
	return strings.TrimSuffix(v.Version, "+dirty") + " " + v.Commit
}

// handOver makes the verbs of leadlightd be run by it, unless this is leadlightd.
func (a *app) handOver(c *cobra.Command) *cobra.Command {
	if a.long != nil {
		return c
	}
	for _, sub := range c.Commands() {
		a.handOver(sub)
	}
	if run := c.RunE; run != nil && (!c.HasSubCommands() || c.Name() == "mcp") {
		c.RunE = func(*cobra.Command, []string) error { return a.becomeLongLived() }
	}
	return c
}

// becomeLongLived puts leadlightd in this process's place, with the same command line.
func (a *app) becomeLongLived() error {
	program, err := a.besides(heavyProgram)
	if err != nil {
		return err
	}
	err = syscall.Exec(program, append([]string{program}, a.args...), a.longLivedEnviron())
	return fault.New(fault.Failed, "run %s: %w", program, err)
}

func (a *app) longLivedEnviron() []string {
	return append(slices.Clone(a.environ), callerVersion+"="+version().comparable())
}
