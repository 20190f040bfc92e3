package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// composition is what one run of leadlight has put together.
type composition struct {
	settings *config.Settings
	runtime  string
	program  string // this one, the light one
	files    *claudefs.FS
	panes    *panes.Manager
	kept     store.Stores
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
	if c.kept, err = a.stores(s, c); err != nil {
		return nil, err
	}
	c.panes = panes.NewManager(panes.Options{
		Dir: fs.Dir(), Base: s.BaseDir.V, Runtime: c.runtime, Executable: c.program, Environ: a.environ,
		Inherited: a.inherited(s),
		Claims:    teams.Claims(c.kept.Roster, panes.NewRecords(fs.Dir())),
		Choose:    func(ctx context.Context) (panes.Choice, error) { return a.choose(ctx, c) },
		Open:      func(kind, socket string) (backend.Backend, error) { return a.openBackend(c, kind, socket) },
	})
	c.config = teams.Config{
		Base: s.BaseDir.V, Roster: c.kept.Roster, Mail: c.kept.Mail, Tasks: c.kept.Tasks, Machine: c.config.Machine, Machines: c.config.Machines, Panes: c.panes, Profiles: profiles.NewSet(s.Profiles),
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

// loginLimit is how long a login shell may take to tell its environment.
const loginLimit = 5 * time.Second

// inherited returns what teammates get of this process's environment, found out at
// the first start of one; nil: all of it as it is.
func (a *app) inherited(s *config.Settings) func() []string {
	if s.Environment.V != config.OfLoginShell {
		return nil
	}
	return sync.OnceValue(func() []string {
		env, err := panes.LoginEnvironment(context.Background(), a.environ, loginLimit)
		if err != nil {
			a.warn([]string{fault.Of(err).Message + "; the teammates get what is set here"})
		}
		return env
	})
}
