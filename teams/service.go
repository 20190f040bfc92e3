// Package teams is what can be done with a team: the verbs. A Service acts
// itself, on the files and on the panes; it goes through no daemon. What it
// answers was observed at the moment of the call.
//
// A Service is safe for concurrent use. Every method is bounded in time by its
// own limits, besides the context's. Errors carry a code of package fault.
package teams

import (
	"cmp"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Caller is who asks.
type Caller struct {
	Name     string `json:"name"`              // a member's name, or store.Lead
	Teammate bool   `json:"teammate"`          // it runs inside a teammate's pane: the verbs of the lead are refused
	Session  bool   `json:"session,omitempty"` // it is a session of its own: it leads the team it made and cleans up no other's
}

// Limits are the settings that bound a team's life. The zero value of each field
// means its default.
type Limits struct {
	Ask          time.Duration // how long a teammate may think about a shutdown request; 30 s
	Term         time.Duration // from SIGTERM to SIGKILL; 5 s
	Kill         time.Duration // from SIGKILL to the closing of the pane; 2 s
	Ready        time.Duration // how long a new host may take to answer; 20 s
	MaxTeammates int           // live ones in a team; 64
	OnLeadExit   string        // "keep" or "shutdown", for up
	OnLoss       string        // ReleaseTasks or KeepTasks: what becomes of the tasks of a lost teammate
	Silent       time.Duration // how long a machine may be silent until that holds for its teammates' tasks; 10 min
	Assign       string        // AssignOff: ready tasks without an owner are offered to nobody
}

// What becomes of the tasks that a lost teammate had in progress.
const (
	ReleaseTasks = "release" // they are free again, for anybody
	KeepTasks    = "keep"    // they stay with it
)

// Config is what a Service is made of.
type Config struct {
	Base     string // the base directory, for messages
	Roster   store.Roster
	Mail     store.Mail
	Tasks    store.Tasks
	Panes    *panes.Manager
	Profiles profiles.Set
	Caller   Caller
	Limits   Limits
	Cwd      string   // of whoever asks; "": in no folder, so that paths must be absolute
	Environ  []string // of whoever asks: what hooks get
	Log      *slog.Logger
	Trust    hooks.Trust       // may the hooks that a project brings be run; nil: no
	Machine  string            // name of this machine, if it has joined an engine
	Machines Machines          // the others; nil: they cannot be asked
	Notice   func(line string) // told what a person should know and no answer says; may be nil
}

// New returns a Service.
func New(c Config) *Service {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Profiles == nil {
		c.Profiles = profiles.NewSet(nil)
	}
	if c.Notice == nil {
		c.Notice = func(string) {}
	}
	c.Caller.Name = cmp.Or(c.Caller.Name, store.Lead)
	return assemble(&common{
		base: c.Base, roster: c.Roster, mail: c.Mail, tasks: c.Tasks,
		panes: c.Panes, profiles: c.Profiles, caller: c.Caller, limits: c.Limits.withDefaults(), cwd: c.Cwd,
		environ: c.Environ, log: c.Log, trust: c.Trust, machine: c.Machine, machines: c.Machines, deaf: &deaf{}, silence: &silence{}, notice: c.Notice,
	})
}

// WithProgress returns the same verbs, which tell what they do to a teammate while they
// start it, or stop it to start it again. It is told so concurrently.
func (s *Service) WithProgress(progress func(name, what string)) *Service {
	return s.with(func(c *common) { c.progress = progress })
}

// telling is WithProgress for those who are told lines.
func (c *common) telling(progress func(string)) *Service {
	var mu sync.Mutex
	return c.with(func(c *common) {
		c.progress = func(name, what string) {
			mu.Lock()
			defer mu.Unlock()
			progress(name + ": " + what)
		}
	})
}

// WithProfiles returns the same verbs with profiles of a team file over those that there
// are.
func (s *Service) WithProfiles(own map[string]profiles.Profile) *Service {
	return s.with(func(c *common) {
		c.profiles = maps.Clone(c.profiles)
		maps.Copy(c.profiles, own)
	})
}

func (l Limits) withDefaults() Limits {
	l.Ask = cmp.Or(max(0, l.Ask), 30*time.Second)
	l.Term = cmp.Or(max(0, l.Term), 5*time.Second)
	l.Kill = cmp.Or(max(0, l.Kill), 2*time.Second)
	l.Ready = cmp.Or(max(0, l.Ready), 20*time.Second)
	l.Silent = cmp.Or(max(0, l.Silent), 10*time.Minute)
	l.MaxTeammates = cmp.Or(max(0, l.MaxTeammates), 64)
	l.OnLeadExit = cmp.Or(l.OnLeadExit, "keep")
	l.OnLoss = cmp.Or(l.OnLoss, ReleaseTasks)
	return l
}

// lockWait is how long a verb waits for another one that starts or ends the same
// teammate: as long as a restart may take.
func (l Limits) lockWait() time.Duration {
	return l.Ask + l.Ready + l.Term + 2*l.Kill + 10*time.Second
}
