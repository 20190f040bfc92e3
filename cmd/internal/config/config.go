// Package config knows how leadlight is set: the settings, each from the
// strongest of flag, environment, team file, user file and default, and each
// knowing its origin; and the team file itself, which it turns into a plan.
//
// A file with a mistake is refused as a whole, every mistake with file, line and
// column: a setting that is silently ignored is worse than none.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
)

// Layer is where a setting can come from, the weakest first.
type Layer int

// The layers.
const (
	Default     Layer = iota
	ClaudeFile        // Claude Code's own settings, for the one setting we share
	UserFile          // $XDG_CONFIG_HOME/leadlight/config.yaml
	FromTeam          // the team file
	Environment       // a variable
	Flag              // the command line
)

// Origin says where a value comes from.
type Origin struct {
	Layer Layer
	Where string // the flag, the variable, or file:line:col
}

// String returns the origin for people.
func (o Origin) String() string {
	if o.Layer == Default {
		return "default"
	}
	return o.Where
}

// Value is a setting with its origin.
type Value[T any] struct {
	V      T
	Origin Origin
}

func (v *Value[T]) set(x T, layer Layer, where string) { *v = Value[T]{x, Origin{layer, where}} }

// Settings are all settings.
type Settings struct {
	BaseDir, Team, As, Backend, TmuxSocket, Agent, Model  Value[string]
	Environment                                           Value[string] // OfLead or OfLoginShell
	Engine                                                Value[string] // that keeps a new team; "" or store.InFiles: files
	Placement, Arrange, Main, OnLeadExit, OnLoss          Value[string]
	MinCols, MinRows, MaxPanes, MaxTeammates, MaxParallel Value[int]
	Ask, Term, Kill, Ready, Silent                        Value[time.Duration]
	Keep                                                  Value[bool]   // up keeps the team when its tasks are done
	Assign                                                Value[string] // auto or off: offer tasks without owner to idle agents

	Profiles map[string]profiles.Profile
	Models   map[string]map[string]string // of a profile, for a run's preference: cheaper, smarter
	UserFile string                       // the user file's path, whether it exists or not
}

// What teammates inherit.
const (
	OfLead       = "lead"
	OfLoginShell = "login-shell"
)

// Sources is what settings are made from.
type Sources struct {
	Getenv func(string) string
	Flags  map[string]string // global flags that were given, by name
	Team   *TeamFile         // nil: none
}

// Load returns the settings, or the mistakes in the user file.
func Load(src Sources) (*Settings, error) {
	s := &Settings{Profiles: map[string]profiles.Profile{}}
	s.defaults()
	if err := s.readUserFile(src.Getenv); err != nil {
		return nil, err
	}
	if src.Team != nil {
		s.apply(fileOf{FromTeam, src.Team.Path}, &userSettings{teamFile: src.Team.settings})
		for name, p := range src.Team.Profiles {
			s.Profiles[name] = p.Over(s.Profiles[name])
		}
		if err := src.Team.checkAgents(profiles.NewSet(s.Profiles)); err != nil {
			return nil, err
		}
	}
	for _, v := range Variables() {
		if text := src.Getenv(v.Name); text != "" && v.setting != nil {
			v.setting(s).set(text, Environment, v.Name)
		}
	}
	for _, v := range Variables() {
		if text, given := src.Flags[v.Flag]; given && v.Flag != "" && v.setting != nil {
			v.setting(s).set(text, Flag, "--"+v.Flag)
		}
	}
	return s, s.findBase(src.Getenv)
}

func (s *Settings) defaults() {
	s.Backend.V = "auto"
	s.Agent.V, s.Environment.V = "claude", OfLead
	s.OnLeadExit.V, s.Assign.V = "keep", "auto"
	s.OnLoss.V = teams.ReleaseTasks
	s.Arrange.V = string(backend.MainVertical)
	s.Main.V = "40%"
	s.MaxTeammates.V, s.MaxParallel.V = 64, 8
	s.Models = defaultModels()
	s.Ask.V, s.Term.V, s.Kill.V, s.Ready.V, s.Silent.V = 30*time.Second, 5*time.Second, 2*time.Second, 20*time.Second, 10*time.Minute
}

// A setting is one that people see: what it says now, and how a file sets it.
type setting struct {
	line func() Line
	take func(fileOf)
}

// of makes a setting of its value and of what a file says of it, nil if no file sets it.
func of[T any](name string, v *Value[T], said *scalar[T]) setting {
	return setting{
		line: func() Line { return Line{name, fmt.Sprint(v.V), v.Origin.String()} },
		take: func(from fileOf) {
			if said != nil && said.Set {
				v.set(said.V, from.layer, said.Pos.in(from.path))
			}
		},
	}
}

// table lists the settings, and where they are in a file.
func (s *Settings) table(f *userSettings) []setting {
	l, d, c := &f.layout, &f.defaults, &f.lifecycle
	return []setting{
		of("base-dir", &s.BaseDir, nil),
		of("team", &s.Team, nil),
		of("as", &s.As, nil),
		of("backend", &s.Backend, &f.backend),
		of("tmux-socket", &s.TmuxSocket, &f.tmuxSocket),
		of("engine", &s.Engine, &f.engine),
		of("defaults.agent", &s.Agent, &d.agent),
		of("defaults.model", &s.Model, &d.model),
		of("defaults.environment", &s.Environment, &d.environment),
		of("layout.placement", &s.Placement, &l.placement),
		of("layout.arrange", &s.Arrange, &l.arrange),
		of("layout.main", &s.Main, &l.main),
		of("layout.min columns", &s.MinCols, &l.cols),
		of("layout.min rows", &s.MinRows, &l.rows),
		of("layout.maxPanes", &s.MaxPanes, &l.maxPanes),
		of("lifecycle.onLeadExit", &s.OnLeadExit, &c.onLeadExit),
		of("lifecycle.onLoss", &s.OnLoss, &c.onLoss),
		of("lifecycle.keep", &s.Keep, &c.keep),
		of("lifecycle.assign", &s.Assign, &c.assign),
		of("lifecycle.silent", &s.Silent, &c.silent),
		of("lifecycle.ask", &s.Ask, &c.ask),
		of("lifecycle.term", &s.Term, &c.term),
		of("lifecycle.kill", &s.Kill, &c.kill),
		of("lifecycle.ready", &s.Ready, &c.ready),
		of("lifecycle.maxTeammates", &s.MaxTeammates, &c.maxTeammates),
		of("lifecycle.maxParallel", &s.MaxParallel, &c.maxParallel),
	}
}

// apply puts the settings of a file over those there are.
func (s *Settings) apply(from fileOf, f *userSettings) {
	for _, one := range s.table(f) {
		one.take(from)
	}
}

// fileOf is a file of settings, and the layer that it is.
type fileOf struct {
	layer Layer
	path  string
}

// findBase settles the base directory: the flag, LEADLIGHT_BASE_DIR, Claude
// Code's own variable, its default; absolute in any case.
func (s *Settings) findBase(getenv func(string) string) error {
	if s.BaseDir.V == "" {
		if home := getenv("CLAUDE_CONFIG_DIR"); home != "" {
			s.BaseDir.set(home, Environment, "CLAUDE_CONFIG_DIR")
		} else if home := getenv("HOME"); home != "" {
			s.BaseDir.set(filepath.Join(home, ".claude"), Default, "")
		} else {
			return fault.New(fault.InvalidArgument, "no base directory: HOME is not set").
				WithHint("set HOME, or name a folder with --base-dir")
		}
	}
	if text := s.BaseDir.V; unexpanded(text) || !utf8.ValidString(text) {
		return fault.New(fault.InvalidArgument, "the base directory %q, from %s, is no path that can be kept in the files of a team", text, s.BaseDir.Origin).
			WithHint("write it whole, in UTF-8: a ~ is completed only as ~ or ~/…, with HOME, and a variable not at all")
	}
	abs, err := filepath.Abs(s.BaseDir.V)
	if err != nil {
		return fmt.Errorf("find the base directory: %w", err)
	}
	s.BaseDir.V = abs
	return nil
}

// unexpanded tells whether a path holds what a shell would have completed, or nothing but
// blanks, which is what an empty variable may leave.
func unexpanded(path string) bool {
	return path[0] == '~' || path[0] == '$' || strings.Contains(path, "/$") || strings.TrimSpace(filepath.Base(path)) == ""
}

// Layout returns how panes are arranged.
func (s *Settings) Layout() panes.Layout {
	return panes.Layout{
		Placement: backend.Place(s.Placement.V), Arrange: backend.LayoutKind(s.Arrange.V), Main: s.Main.V,
		MinCols: s.MinCols.V, MinRows: s.MinRows.V, MaxPanes: s.MaxPanes.V,
	}
}

// Limits returns what bounds a team's life.
func (s *Settings) Limits() teams.Limits {
	return teams.Limits{
		Ask: s.Ask.V, Term: s.Term.V, Kill: s.Kill.V, Ready: s.Ready.V,
		MaxTeammates: s.MaxTeammates.V, OnLeadExit: s.OnLeadExit.V, OnLoss: s.OnLoss.V, Silent: s.Silent.V, Assign: s.Assign.V,
	}
}

// Complete fills what the team file leaves open from the other settings.
func (s *Settings) Complete(p *teams.Plan) {
	p.Layout = s.Layout()
	p.Team.Assign = s.Assign.V
	for i := range p.Members {
		m := &p.Members[i]
		m.Layout = p.Layout
		if m.Profile == "" && len(m.Command) == 0 {
			m.Profile = s.Agent.V
		}
	}
}

// Line is one setting for people.
type Line struct{ Name, Value, Origin string }

// Lines returns every setting that has a value, with its origin.
func (s *Settings) Lines() []Line {
	var out []Line
	for _, one := range s.table(&userSettings{}) {
		if l := one.line(); l.Value != "" && l.Value != "0" {
			out = append(out, l)
		}
	}
	return out
}

// readUserFile applies $XDG_CONFIG_HOME/leadlight/config.yaml, if there is one.
func (s *Settings) readUserFile(getenv func(string) string) error {
	s.UserFile = userFile(getenv)
	if s.UserFile == "" {
		return nil
	}
	data, err := readLimited(s.UserFile)
	if os.IsNotExist(err) || errors.Is(err, syscall.ENOTDIR) { // HOME=/dev/null, too
		return nil
	}
	if errors.Is(err, os.ErrPermission) {
		return fault.New(fault.PermissionDenied, "read the user's settings: %w", err).WithHint("check its owner and its mode; if HOME is not yours (sudo, a container), set it, or XDG_CONFIG_HOME")
	}
	if err != nil {
		return fmt.Errorf("read the user's settings: %w", err)
	}
	f, err := parseUserFile(s.UserFile, data)
	if err != nil {
		return err
	}
	s.addModels(f.models)
	s.apply(fileOf{UserFile, s.UserFile}, f)
	for _, p := range f.profiles {
		s.Profiles[p.name.V] = p.profile
	}
	return nil
}

func userFile(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "leadlight", "config.yaml")
}

// Bare returns the default settings with a base directory, without reading
// anything: a teammate is told all it needs.
func Bare(base string) *Settings {
	s := &Settings{Profiles: map[string]profiles.Profile{}}
	s.defaults()
	s.BaseDir.set(base, Flag, "--base-dir")
	return s
}
