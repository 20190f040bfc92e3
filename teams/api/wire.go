// Package api holds what leadlight says to programs: the JSON shapes that the
// command line prints with --json and that the daemon speaks. Fields are only
// ever added. A field that is not known is absent, never invented.
package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/leadlight-dev/leadlight/panes/state"
)

// Time is a moment as our output shows it: RFC 3339 in UTC with milliseconds.
type Time time.Time

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := time.Parse(time.RFC3339Nano, s)
	*t = Time(v)
	return err
}

// String returns the moment as text.
func (t Time) String() string { return time.Time(t).UTC().Format("2006-01-02T15:04:05.000Z") }

// At returns a pointer to t as a Time, or nil for the zero moment.
func At(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return new(Time(t))
}

// Team is one team (team show, team create).
type Team struct {
	Name        string                     `json:"name"`
	Description string                     `json:"description"`
	CreatedAt   *Time                      `json:"createdAt,omitempty"`
	LeadAgentID string                     `json:"leadAgentId"`
	Members     []Member                   `json:"members"`
	Metadata    map[string]json.RawMessage `json:"metadata"`
	Path        string                     `json:"path"`
	File        string                     `json:"file,omitempty"` // the team file it was made from
	Mailbox     string                     `json:"mailbox"`
	Engine      string                     `json:"engine,omitempty"` // address of the engine that keeps it; absent: files
	LedBy       string                     `json:"ledBy"`            // "leadlight" or "claude"
	Warnings    []string                   `json:"warnings,omitempty"`
}

// TeamSummary is one line of team ls.
type TeamSummary struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	CreatedAt   *Time  `json:"createdAt,omitempty"`
	Teammates   int    `json:"teammates"`
	LedBy       string `json:"ledBy"`
	Path        string `json:"path"`
	Error       string `json:"error,omitempty"` // the roster cannot be read: why
}

// States of a member, as observed.
const (
	StateStarting = state.Starting
	StateActive   = state.Active
	StateWaiting  = state.Waiting
	StateIdle     = state.Idle
	StateStopping = state.Stopping
	StateStopped  = state.Stopped
	StateFailed   = state.Failed
	StateLost     = state.Lost
	StateUnknown  = state.Unknown
)

// Member is one member as observed (ps, spawn, restart, team show).
type Member struct {
	Name           string `json:"name"`
	AgentID        string `json:"agentId"`
	AgentType      string `json:"agentType,omitempty"`
	Kind           string `json:"kind,omitempty"`
	Profile        string `json:"profile,omitempty"`
	Model          string `json:"model,omitempty"`
	Color          string `json:"color,omitempty"`
	State          string `json:"state"`
	IsActive       *bool  `json:"isActive,omitempty"`
	BackendType    string `json:"backendType,omitempty"`
	TmuxPaneID     string `json:"tmuxPaneId"`
	PID            int    `json:"pid,omitempty"` // the agent's process; for a worker between tasks its host
	ExitCode       *int   `json:"exitCode,omitempty"`
	Signal         string `json:"signal,omitempty"`
	StartedAt      *Time  `json:"startedAt,omitempty"`
	LastActivityAt *Time  `json:"lastActivityAt,omitempty"`
	Unread         *int   `json:"unread,omitempty"`         // absent: the inbox cannot be read
	OldestUnreadAt *Time  `json:"oldestUnreadAt,omitempty"` // since then mail waits to be handed over
	Task           string `json:"task,omitempty"`           // id of the task it works on
	Cwd            string `json:"cwd,omitempty"`
	Reason         string `json:"reason,omitempty"`
	Worktree       string `json:"worktree,omitempty"`
	Branch         string `json:"branch,omitempty"` // of the worktree (ps)
	Added          *int   `json:"added,omitempty"`  // lines that it has changed there since it branched (ps)
	Removed        *int   `json:"removed,omitempty"`
	PermissionMode string `json:"permissionMode,omitempty"`
	Machine        string `json:"machine,omitempty"` // where it runs, if its team is on an engine
	// Metadata is what others have kept with it (set --metadata).
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
	Attach   string                     `json:"attach,omitempty"` // how a person gets to see the pane
	AtDialog bool                       `json:"-"`                // it waits for what a person does at its screen
	Lines    bool                       `json:"-"`                // its terminal edits lines: an answer there ends with Enter
	// Unsubmitted: it waits since a text in its input is not submitted, which nobody may have read.
	Unsubmitted bool `json:"-"`
}

// Live tells whether the state is one of a running member. Unknown counts as
// live: what could not be observed is never treated as dead.
func (m *Member) Live() bool { return state.Live(m.State) }

// Outcomes of a stop.
const (
	Approved       = state.Approved
	Exited         = state.Exited
	Terminated     = state.Terminated
	Killed         = state.Killed
	PaneKilled     = state.PaneKilled
	RejectedStop   = state.Rejected
	AlreadyStopped = state.AlreadyStopped
	UnprovenStop   = state.Unproven
)

// Ending is the outcome of one member's shutdown.
type Ending struct {
	Name       string   `json:"name"`
	Outcome    string   `json:"outcome"`
	RequestID  string   `json:"requestId,omitempty"`
	DurationMs int64    `json:"durationMs"`
	Leftovers  []string `json:"leftovers"` // what was left alone on purpose, and why
	Reason     string   `json:"reason,omitempty"`
	Code       string   `json:"code,omitempty"`    // error code: it has ended, but that could not be written down
	Machine    string   `json:"machine,omitempty"` // where it ran, if that is another one
}

// Endings is the answer of stop and down.
type Endings struct {
	Members []Ending `json:"members"`
	OK      bool     `json:"ok"`
	Run     string   `json:"run,omitempty"` // id of the run that the team works for
}

// Sent is the answer of send; broadcast answers with a list of them.
type Sent struct {
	ID string `json:"id"`
	// RequestID is the id of the request that the message carries, if it asks for an answer.
	RequestID string `json:"requestId,omitempty"`
	To        string `json:"to"`
	Timestamp Time   `json:"timestamp"`
}

// Message is one message of an inbox. Fields that we do not know are shown as
// they were found.
type Message struct {
	ID        string                     `json:"id"`
	From      string                     `json:"from"`
	Text      string                     `json:"text"`
	Summary   string                     `json:"summary,omitempty"`
	Timestamp string                     `json:"timestamp"`
	Color     string                     `json:"color,omitempty"`
	Read      bool                       `json:"read"`
	Type      string                     `json:"type"`           // kind of the message: message, shutdown_request, idle_notification, ...
	Note      string                     `json:"note,omitempty"` // such as "not a member", "expired"
	Unknown   map[string]json.RawMessage `json:"-"`
}

// MarshalJSON puts the unknown fields beside ours; ours win.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message
	own, err := json.Marshal(plain(m))
	if err != nil || len(m.Unknown) == 0 {
		return own, err
	}
	all := maps.Clone(m.Unknown)
	if err := json.Unmarshal(own, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// Task is one task.
type Task struct {
	ID          string                     `json:"id"`
	Subject     string                     `json:"subject"`
	Description string                     `json:"description"`
	ActiveForm  string                     `json:"activeForm,omitempty"`
	Status      string                     `json:"status"` // pending in_progress completed blocked failed
	Owner       string                     `json:"owner,omitempty"`
	Blocks      []string                   `json:"blocks"`
	BlockedBy   []string                   `json:"blockedBy"`
	Metadata    map[string]json.RawMessage `json:"metadata"`
	Ready       bool                       `json:"ready"`
	CreatedAt   *Time                      `json:"createdAt,omitempty"`
	UpdatedAt   *Time                      `json:"updatedAt,omitempty"`
	CompletedAt *Time                      `json:"completedAt,omitempty"`
	Result      string                     `json:"result,omitempty"`
	Failure     string                     `json:"failure,omitempty"`
	Usage       *Usage                     `json:"usage,omitempty"` // what its work has cost, where the agent tells
}

// Usage is what work has cost.
type Usage struct {
	InputTokens  int64   `json:"inputTokens"`
	OutputTokens int64   `json:"outputTokens"`
	CostUSD      float64 `json:"costUSD,omitempty"`
}

// Plus is the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens, u.CostUSD + v.CostUSD}
}

// And is the sum of what both tell, nil if neither tells.
func (u *Usage) And(v *Usage) *Usage {
	if u == nil || v == nil {
		return cmp.Or(u, v)
	}
	return new(u.Plus(*v))
}

// String is how it is shown: 1200 tokens in, 340 out, $0.02.
func (u Usage) String() string {
	s := fmt.Sprintf("%d tokens in, %d out", u.InputTokens, u.OutputTokens)
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.2f", u.CostUSD)
	}
	return s
}

// Takeover is the answer of takeover: who the team's members are now.
type Takeover struct {
	Team    string   `json:"team"`
	Was     string   `json:"was"`     // who led it, for people
	Adopted []string `json:"adopted"` // they run and go on
	Lost    []string `json:"lost"`    // found to be gone: their end is written down
	Removed []string `json:"removed"` // they were the old lead's and are gone: out of the roster
	Unknown []string `json:"unknown"` // they could not be observed
}

// Check is one finding of doctor.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, warn, fail
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do about it
}

// Checkup is the answer of doctor.
type Checkup struct {
	Checks []Check `json:"checks"`
	OK     bool    `json:"ok"` // no check failed
}

// Orphan is one thing that belongs to no living team (gc).
type Orphan struct {
	Kind    string `json:"kind"` // pane, process, socket, record, folder, file
	What    string `json:"what"`
	Why     string `json:"why"`
	Removed bool   `json:"removed"`
	Kept    string `json:"kept,omitempty"` // why it was not removed
	Usual   bool   `json:"-"`              // each team leaves it, so nothing has gone wrong
}
