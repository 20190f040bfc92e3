// Package profiles knows how to run each kind of agent: which command, and how it
// is spoken to. A profile is data; what is done with it is the business of the
// packages above.
package profiles

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/screen"
)

// Kinds of agent.
const (
	Native      = "native"      // speaks the team files itself and is only supervised
	Interactive = "interactive" // a TUI or REPL: mail is typed into it
	Worker      = "worker"      // no conversation: one command a task
	ACP         = "acp"         // speaks the Agent Client Protocol: nothing is typed, nothing is read from its screen
	Plain       = "plain"       // runs and is supervised; mail waits for it
)

// Kinds lists the kinds, for help and completion.
func Kinds() []string { return []string{Native, Interactive, ACP, Worker, Plain} }

// Profile says how one kind of agent is run. Its lists of arguments are put
// together by Argv, which also replaces the words that Words lists. A list that
// is nil says nothing; one that is empty says that there is nothing, which counts
// where one profile overrides another.
type Profile struct {
	Name    string
	Summary string // one line, for help
	Kind    string
	// Command is the program and its arguments; empty for a profile that runs what
	// the spawn brings (exec) or the member's or task's own line (shell).
	Command []string
	// ACP is the program and its arguments with which it speaks the Agent Client Protocol;
	// none: it does not. One whose own kind is acp does so by its Command.
	ACP []string
	// Program is what must be installed, if Command begins with a shell that runs it.
	Program string
	// Models are the names that --model takes; a * in one stands for any text. Empty:
	// the profile has no models.
	Models []string

	JoinArgs    []string // native: tells it who it is and of which team
	TypeArgs    []string // tells it the type of agent it is to be
	ModelArgs   []string // makes it use a model
	SessionArgs []string // gives its conversation an id, by which ResumeArgs find it again
	// SessionShown fits what it prints when it ends of the id that it gave its conversation
	// itself: the first group is the id. An agent that takes SessionArgs needs none.
	SessionShown string
	PlanArgs     []string // makes it plan read-only until the plan is approved; none: it cannot
	ResumeArgs   []string // makes it go on with its conversation; none: it cannot
	// ModeArgs gives it the permissions that its lead has, by the name of the lead's
	// mode in Claude Code. A mode without arguments is the agent's own default.
	ModeArgs map[string][]string

	Env   []string // K=V that the program needs, under what the spawn asks for
	Needs []string // names of variables without which it cannot work
	// AgentTypes are the types of agent for which it stands where Claude Code leads,
	// besides its own name.
	AgentTypes []string
	PromptProtocol
}

// PromptProtocol is how an interactive agent is spoken to and what its screen says. It
// travels in the launch record, so that a host needs no profiles of its own.
type PromptProtocol struct {
	Submit    string        `json:"submit,omitempty"`    // the key that submits; "enter" by default
	Quit      string        `json:"quit,omitempty"`      // what is typed, and submitted, to ask it to end
	QuitKeys  []string      `json:"quitKeys,omitempty"`  // or the keys that ask it to end, instead of Quit
	Quiet     time.Duration `json:"quiet,omitempty"`     // without output for so long, it is quiet
	Multiline string        `json:"multiline,omitempty"` // without bracketed paste: "join" or "lines"
	MaxPaste  int           `json:"maxPaste,omitempty"`  // bytes; longer mail goes as a reference to a file
	// How its screen is read, see screen.Rules.
	Ready  []string `json:"ready,omitempty"`
	Frame  string   `json:"frame,omitempty"`
	Footer []string `json:"footer,omitempty"`
	Busy   []string `json:"busy,omitempty"`
	Asking []string `json:"asking,omitempty"`
	// OnUnknown says what to do with mail while the screen is not recognized: "wait", or
	// "type" once it has been quiet for half a minute.
	OnUnknown string `json:"onUnknown,omitempty"`
}

// Screen returns the rules by which its screen is read.
func (m PromptProtocol) Screen() screen.Rules {
	return screen.Rules{Ready: m.Ready, Frame: m.Frame, Footer: m.Footer, Busy: m.Busy, Asking: m.Asking, TypeUnknown: m.OnUnknown == Type}
}

// What a PromptProtocol is where it does not say.
const (
	DefaultSubmit   = "enter"
	DefaultQuiet    = 800 * time.Millisecond
	DefaultMaxPaste = 16 << 10
	Join            = "join"  // the lines of a text are joined with spaces
	Lines           = "lines" // each line is submitted
	Wait            = "wait"  // nothing is typed into an unknown screen
	Type            = "type"  // text is typed into an unknown screen that is quiet
)

// WithDefaults returns the protocol with what it leaves open filled in.
func (m PromptProtocol) WithDefaults() PromptProtocol {
	m.Submit = cmp.Or(m.Submit, DefaultSubmit)
	m.Quiet = cmp.Or(m.Quiet, DefaultQuiet)
	m.Multiline = cmp.Or(m.Multiline, Join)
	m.MaxPaste = cmp.Or(m.MaxPaste, DefaultMaxPaste)
	m.OnUnknown = cmp.Or(m.OnUnknown, Wait)
	return m
}

// Set is the profiles there are: the built-in ones, and those of the user's and
// the team's files over them.
type Set map[string]Profile

// NewSet returns the built-in profiles with own over them. What own leaves open
// keeps the built-in value.
func NewSet(own map[string]Profile) Set {
	s := Set{}
	for _, p := range builtin() {
		s[p.Name] = p
	}
	for name, p := range own {
		p = p.Over(s[name])
		p.Name = name
		s[name] = p
	}
	return s
}

// Over returns p, and for what p leaves open, base.
func (p Profile) Over(base Profile) Profile {
	if p.Command == nil {
		p.Program = base.Program
	}
	if p.Ready == nil { // these three say together where the input is
		p.Ready, p.Frame, p.Footer = base.Ready, base.Frame, base.Footer
	}
	base.Program, base.Frame, base.Footer = p.Program, p.Frame, p.Footer // said by now
	fill(reflect.ValueOf(&p).Elem(), reflect.ValueOf(base))
	return p
}

// fill gives the fields of a struct that are left open what they are in base.
func fill(to, base reflect.Value) {
	for i := range to.NumField() {
		switch f := to.Field(i); {
		case f.Kind() == reflect.Struct:
			fill(f, base.Field(i))
		case f.IsZero():
			f.Set(base.Field(i))
		}
	}
}

// Needed is the program that must be installed; "" if the profile names none.
func (p Profile) Needed() string {
	if p.Program == "" && len(p.Command) > 0 {
		return p.Command[0]
	}
	return p.Program
}

// WithoutValues returns the profile with the names of its variables only.
func (p Profile) WithoutValues() Profile {
	p.Env = slices.Clone(p.Env)
	for i, kv := range p.Env {
		p.Env[i], _, _ = strings.Cut(kv, "=")
	}
	return p
}

// Names lists the profiles, sorted.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s)) }

// Get returns the profile of that name: fault.ProfileNotFound, or
// fault.InvalidArgument for one that does not say what kind it is.
func (s Set) Get(name string) (Profile, error) {
	p, ok := s[name]
	switch {
	case !ok:
		return Profile{}, fault.New(fault.ProfileNotFound, "there is no profile %q", name).
			WithHint("the profiles are: %s; leadlight help agents says how to add one", strings.Join(s.Names(), ", "))
	case p.Kind == "":
		return Profile{}, fault.New(fault.InvalidArgument, "the profile %q does not say of which kind its agent is", name).
			WithHint("give it a kind: %s", strings.Join(Kinds(), ", "))
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
	case model == "" || slices.ContainsFunc(p.Models, func(m string) bool { return like(m, model) }):
		return nil
	case len(p.Models) == 0:
		return fault.New(fault.InvalidModel, "the profile %s has no models, so it cannot run %q", p.Name, model).
			WithHint("leave out --model, or the key model")
	}
	return fault.New(fault.InvalidModel, "the profile %s does not know the model %q", p.Name, model).
		WithHint("it knows: %s", strings.Join(p.Models, ", "))
}

// like tells whether text has the form of pattern, in which * stands for any text.
// A text that begins like an option is like none.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 || strings.HasPrefix(text, "-") {
		return pattern == text
	}
	last := len(parts) - 1
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[last])
}
