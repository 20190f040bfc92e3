// Package profiles knows how to run each kind of agent: which command, and how it
// is spoken to. A profile is data; what is done with it is the business of the
// packages above.
package profiles

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/teams/fault"
)

// Kinds of agent.
const (
	Native      = "native"      // speaks the team files itself and is only supervised
	Interactive = "interactive" // a TUI or REPL: mail is typed into it
	Worker      = "worker"      // no conversation: one command a task
	Plain       = "plain"       // runs and is supervised; mail waits for it
)

// Kinds lists the kinds, for help and completion.
func Kinds() []string { return []string{Native, Interactive, Worker, Plain} }

// Profile says how one kind of agent is run.
type Profile struct {
	Name    string
	Summary string // one line, for help
	Kind    string
	// Command is the program and its arguments; empty for a profile that runs what
	// the spawn brings (exec) or the member's or task's own line (shell).
	Command []string
	Models  []string // names that --model takes; empty: the profile has no models
	// Arguments that are appended to Command when they are asked for. {model},
	// {agent} and {team} in them are replaced. Empty: the agent cannot do it.
	ModelArgs  []string
	PlanArgs   []string // makes it plan read-only until the plan is approved
	ResumeArgs []string // makes it go on with its last conversation
	Needs      []string // variables without which it cannot work
	Manner
}

// Manner is how an interactive agent is spoken to and what its screen says. It
// travels in the launch record, so that a host needs no profiles of its own.
type Manner struct {
	Submit    string        `json:"submit,omitempty"`    // the key that submits; "enter" by default
	Quit      string        `json:"quit,omitempty"`      // what is typed, and submitted, to ask it to end
	QuitKeys  []string      `json:"quitKeys,omitempty"`  // or the keys that ask it to end, instead of Quit
	Quiet     time.Duration `json:"quiet,omitempty"`     // without output for so long, it is quiet
	Multiline string        `json:"multiline,omitempty"` // without bracketed paste: "join" or "lines"
	MaxPaste  int           `json:"maxPaste,omitempty"`  // bytes; longer mail goes as a reference to a file
	// Regular expressions on the lines of its screen. Asking wins over Busy, and
	// Busy over Ready; without a Ready, a quiet agent is ready.
	Ready  []string `json:"ready,omitempty"`
	Busy   []string `json:"busy,omitempty"`
	Asking []string `json:"asking,omitempty"`
}

// The two profiles that run whatever they are given.
const (
	Exec  = "exec"
	Shell = "shell"
)

func builtin() []Profile {
	return []Profile{
		{Name: Exec, Kind: Plain, Summary: "runs the command after -- as it is"},
		{Name: Shell, Kind: Worker, Summary: "a worker: runs one command per task with sh -c"},
	}
}

// Set is the profiles there are: the built-in ones, and those of the user's and
// the team's files over them.
type Set map[string]Profile

// NewSet returns the built-in profiles with own over them. A field that own
// leaves empty keeps the built-in value.
func NewSet(own map[string]Profile) Set {
	s := Set{}
	for _, p := range builtin() {
		s[p.Name] = p
	}
	for name, p := range own {
		s[name] = p.over(s[name])
		q := s[name]
		q.Name = name
		s[name] = q
	}
	return s
}

func (p Profile) over(base Profile) Profile {
	if p.Kind == "" {
		p.Kind = base.Kind
	}
	if len(p.Command) == 0 {
		p.Command = base.Command
	}
	if len(p.Models) == 0 {
		p.Models = base.Models
	}
	for _, f := range []struct {
		to   *string
		from string
	}{{&p.Summary, base.Summary}, {&p.Submit, base.Submit}, {&p.Quit, base.Quit}} {
		if *f.to == "" {
			*f.to = f.from
		}
	}
	if p.Quiet == 0 {
		p.Quiet = base.Quiet
	}
	return p
}

// Names lists the profiles, sorted.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s)) }

// Get returns the profile of that name: fault.ProfileNotFound.
func (s Set) Get(name string) (Profile, error) {
	p, ok := s[name]
	if !ok {
		return Profile{}, fault.New(fault.ProfileNotFound, "there is no profile %q", name).
			WithHint("the profiles are: %s; leadlight help agents says how to add one", strings.Join(s.Names(), ", "))
	}
	return p, nil
}

// CheckKind says whether kind is one of the kinds.
func CheckKind(kind string) error {
	if !slices.Contains(Kinds(), kind) {
		return fault.New(fault.InvalidArgument, "%q is not a kind of agent", kind).
			WithHint("the kinds are: %s", strings.Join(Kinds(), ", "))
	}
	return nil
}

// CheckModel says whether the profile takes that model: fault.InvalidModel with
// the list.
func (p Profile) CheckModel(model string) error {
	switch {
	case model == "" || slices.Contains(p.Models, model):
		return nil
	case len(p.Models) == 0:
		return fault.New(fault.InvalidModel, "the profile %s has no models, so it cannot run %q", p.Name, model).
			WithHint("leave --model out")
	}
	return fault.New(fault.InvalidModel, "the profile %s does not know the model %q", p.Name, model).
		WithHint("it knows: %s", strings.Join(p.Models, ", "))
}
