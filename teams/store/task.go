package store

import (
	"encoding/json"
	"time"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// Statuses of a task on disk. The richer ones of the surface are derived:
// blocked from the blockers, failed from Task.Failure.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
	Deleted    = "deleted"
	Blocked    = "blocked" // derived, never stored
	FailedTask = "failed"  // derived, never stored: pending with a Failure
)

// Task is one task of a team's list.
type Task struct {
	ID          string // decimal, never used twice
	Subject     string
	Description string
	ActiveForm  string
	Status      string // Pending, InProgress, Completed as stored; anything else as found
	Owner       string
	Blocks      []string
	BlockedBy   []string
	Metadata    map[string]json.RawMessage // all of it, ours included
	// The next are kept in metadata (the client drops unknown fields of a task).
	CreatedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
	// CompletedAt is when it was completed; zero while it is not.
	CompletedAt time.Time
	Result      string
	Failure     string // reason of the failure; not claimable until released
	// Internal marks a client's own bookkeeping task: hidden and never claimable.
	Internal bool
	// Open lists the blockers that are not completed; one whose file cannot be read
	// is among them. Missing are those of them whose id no task has had yet. Filled by
	// Get, List and Update.
	Open    []string
	Missing []string
	// Odd is what is odd in its file, though the rest of it counts. Misnamed: the file calls
	// the task by another id than its own; the next change mends that.
	Odd      []string
	Misnamed bool
	Unknown  map[string]json.RawMessage
}

// State is the task's state on the surface: its status, or blocked or failed.
func (t *Task) State() string {
	switch {
	case t.Status == Pending && t.Failure != "":
		return FailedTask
	case t.Status == Pending && (len(t.Open) > 0 || t.AwaitsHooks()):
		return Blocked
	}
	return t.Status
}

// metaAssignedTo names, in a task's metadata, the one it is meant for. It stays
// when the owner goes: work that was given to one is not done by another.
const metaAssignedTo = "assignedTo"

// AssignedTo is the one t is meant for, "" for anybody.
func (t *Task) AssignedTo() string {
	var name string
	if raw, ok := t.Metadata[metaAssignedTo]; ok && json.Unmarshal(raw, &name) != nil {
		return ""
	}
	return name
}

// Assign makes name the owner of t and the only one who may claim it; "" gives it
// free for anybody.
func (t *Task) Assign(name string) {
	t.Owner = name
	if name == "" {
		delete(t.Metadata, metaAssignedTo)
		return
	}
	t.SetMeta(metaAssignedTo, rawjson.Quote(name))
}

// SetMeta puts a value into the metadata.
func (t *Task) SetMeta(key string, value json.RawMessage) {
	if t.Metadata == nil {
		t.Metadata = map[string]json.RawMessage{}
	}
	t.Metadata[key] = value
}

// metaAwaitsHooks marks, in a task's metadata, one that is written, because hooks want its
// id, but that nobody may take until they have answered.
const metaAwaitsHooks = "awaitsHooks"

// AwaitsHooks tells whether the hooks that were asked about t have not answered yet.
func (t *Task) AwaitsHooks() bool { return string(t.Metadata[metaAwaitsHooks]) == "true" }

// SetAwaitsHooks marks t as one whose hooks are asked, or takes the mark away.
func (t *Task) SetAwaitsHooks(on bool) {
	if !on {
		delete(t.Metadata, metaAwaitsHooks)
		return
	}
	t.SetMeta(metaAwaitsHooks, json.RawMessage("true"))
}

// Ready tells whether who may claim t now: pending, not failed, no open
// blocker, no hook that is still asked, owned by and meant for nobody or who. With who "",
// only those that are free for anybody count.
func (t *Task) Ready(who string) bool {
	meant := t.AssignedTo()
	return t.State() == Pending && !t.Internal && (t.Owner == "" || SameName(t.Owner, who)) && (meant == "" || SameName(meant, who))
}
