package hooks

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// Events that a hook can be set on.
const (
	TeammateIdle  = "TeammateIdle"  // a teammate is about to go idle
	TaskCompleted = "TaskCompleted" // a task is about to be completed
	TaskCreated   = "TaskCreated"   // a task is about to be made
)

// Events lists the events.
func Events() []string { return []string{TeammateIdle, TaskCompleted, TaskCreated} }

// Limits of a hook.
const (
	DefaultTimeout = time.Minute
	MaxTimeout     = time.Hour
	// MaxObjections is how often in a row a hook may object to the same thing.
	// Then whoever tries stops, and the lead is told.
	MaxObjections = 3
)

// Hook is one program that is asked.
type Hook struct {
	Event   string        `json:"event"`
	Command string        `json:"command"`           // a line for sh -c; with Exec, the program itself
	Exec    bool          `json:"exec,omitempty"`    // Command is run with Args, and no shell is in between
	Args    []string      `json:"args,omitempty"`    // with Exec
	Dir     string        `json:"dir,omitempty"`     // where it runs; "": where the asker works
	Project string        `json:"project,omitempty"` // what CLAUDE_PROJECT_DIR names; "": where the asker works
	Plugin  string        `json:"plugin,omitempty"`  // the folder of the plugin that brings it
	Timeout time.Duration `json:"timeout,omitempty"` // 0 or less: DefaultTimeout
	Source  string        `json:"source,omitempty"`  // the file it stands in, for messages

	// Refusal is why the hook cannot be asked as it is written; "" if it can. A gate
	// that is not understood stays shut: the hook objects, with this reason.
	Refusal string `json:"refusal,omitempty"`
}

// String is the hook's program as a person would write it.
func (h Hook) String() string {
	if h.Command == "" {
		return "in " + h.Source
	}
	return strings.Join(append([]string{h.Command}, h.Args...), " ")
}

// same tells whether two hooks would run the same thing.
func (h Hook) same(o Hook) bool {
	return h.Command == o.Command && h.Exec == o.Exec && h.Dir == o.Dir && h.Plugin == o.Plugin && h.Refusal == o.Refusal && slices.Equal(h.Args, o.Args)
}

// Limit is how long the hook may take: never without end.
func (h Hook) Limit() time.Duration {
	if h.Timeout <= 0 {
		return DefaultTimeout
	}
	return min(h.Timeout, MaxTimeout)
}

// Of returns the hooks of one event, in order, each command once.
func Of(all []Hook, event string) []Hook {
	var out []Hook
	for _, h := range all {
		asks := strings.TrimSpace(h.Command) != "" || h.Refusal != ""
		if h.Event == event && asks && !slices.ContainsFunc(out, h.same) {
			out = append(out, h)
		}
	}
	return out
}

// Input is what a hook gets as JSON on standard input. The names of the fields are
// those that Claude Code gives its hooks.
type Input struct {
	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path"`
	Cwd            string `json:"cwd"`
	PermissionMode string `json:"permission_mode,omitempty"` // TeammateIdle only
	HookEventName  string `json:"hook_event_name"`

	TaskID          string `json:"task_id,omitempty"`
	TaskSubject     string `json:"task_subject,omitempty"`
	TaskDescription string `json:"task_description,omitempty"`
	TeammateName    string `json:"teammate_name,omitempty"` // absent when the lead acts
	TeamName        string `json:"team_name,omitempty"`
	AgentType       string `json:"agent_type,omitempty"` // of the teammate
	AgentID         string `json:"agent_id,omitempty"`   // of the child of an agent that acts, if it is one
}

// ParseInput reads what a hook is given, by us or by Claude Code. Fields that are
// not there are empty: which team is meant is then for the caller to find out, and
// never guessed from a folder.
func ParseInput(data []byte) (Input, error) {
	var in Input
	if err := json.Unmarshal(data, &in); err != nil {
		return Input{}, err
	}
	if in.HookEventName == "" {
		return Input{}, errors.New("the input of a hook names no hook_event_name")
	}
	return in, nil
}

// Objection is a hook's no.
type Objection struct {
	Hook   Hook
	Reason string // what it wrote on standard error; "" if nothing
}

// About says the objection in a sentence: what was asked, who objects, and why.
func (o Objection) About(in Input) string {
	what := in.HookEventName
	if in.TaskID != "" {
		what += " of task " + in.TaskID
	} else if in.TeammateName != "" {
		what += " of " + in.TeammateName
	}
	return "the hook " + o.Hook.String() + " objects (" + what + "): " + cmp.Or(o.Reason, "no reason given")
}

// Failure is a hook that gave no answer: it could not be started, failed, or took
// too long. It is no objection.
type Failure struct {
	Hook Hook
	Why  string
}

// String is the failure in a line.
func (f Failure) String() string {
	return "hook " + f.Hook.String() + " (" + f.Hook.Event + ") gave no answer: " + f.Why
}

// Answer is what all hooks of an event said.
type Answer struct {
	Objections []Objection
	Failures   []Failure
}

// Objects tells whether a hook objects.
func (a Answer) Objects() bool { return len(a.Objections) > 0 }

// WayOut is what whoever was refused may do: what is asked for, unless a hook cannot be asked.
func (a Answer) WayOut(asked string) string {
	if slices.ContainsFunc(a.Objections, func(o Objection) bool { return o.Hook.Refusal != "" }) {
		return "mend that hook where it is written: until then it objects to everything"
	}
	return asked
}

// Feedback is what is told to the one who was refused.
func (a Answer) Feedback(in Input) string {
	var lines []string
	for _, o := range a.Objections {
		lines = append(lines, o.About(in))
	}
	return strings.Join(lines, "\n")
}
