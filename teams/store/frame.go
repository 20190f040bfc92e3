package store

import (
	"encoding/json"
	"strconv"
	"time"
)

// Types of frame: the structured messages that members exchange as JSON inside a
// message's text, as Claude Code writes them.
const (
	ShutdownRequest  = "shutdown_request"
	ShutdownApproved = "shutdown_approved"
	ShutdownRejected = "shutdown_rejected"
	IdleNotification = "idle_notification"
	TaskAssignment   = "task_assignment"
)

// frameTypes are all types that are shown as such; anything else is plain text.
var frameTypes = map[string]bool{
	ShutdownRequest: true, ShutdownApproved: true, ShutdownRejected: true, IdleNotification: true, TaskAssignment: true,
	"permission_request": true, "permission_response": true, "plan_approval_request": true, "plan_approval_response": true,
	"mode_set_request": true, "team_permission_update": true, "sandbox_permission_request": true,
	"sandbox_permission_response": true, "task_completed": true, "teammate_terminated": true,
}

// Frame is a structured message. Both spellings of the request id are read;
// requestId is written.
type Frame struct {
	Type            string `json:"type"`
	RequestID       string `json:"requestId,omitempty"`
	RequestIDSnake  string `json:"request_id,omitempty"`
	From            string `json:"from,omitempty"`
	Reason          string `json:"reason,omitempty"`
	Timestamp       string `json:"timestamp,omitempty"`
	PaneID          string `json:"paneId,omitempty"`
	BackendType     string `json:"backendType,omitempty"`
	IdleReason      string `json:"idleReason,omitempty"`
	Summary         string `json:"summary,omitempty"`
	CompletedTaskID string `json:"completedTaskId,omitempty"`
	CompletedStatus string `json:"completedStatus,omitempty"`
	FailureReason   string `json:"failureReason,omitempty"`
	Result          string `json:"result,omitempty"`
	TaskID          string `json:"taskId,omitempty"`
	Subject         string `json:"subject,omitempty"`
	Description     string `json:"description,omitempty"`
	AssignedBy      string `json:"assignedBy,omitempty"`
}

// ParseFrame reads a message's text as a frame. Text that only looks like one
// stays text.
func ParseFrame(text string) (Frame, bool) {
	if len(text) < 2 || text[0] != '{' {
		return Frame{}, false
	}
	var f Frame
	if err := json.Unmarshal([]byte(text), &f); err != nil || !frameTypes[f.Type] {
		return Frame{}, false
	}
	if f.RequestID == "" {
		f.RequestID = f.RequestIDSnake
	}
	f.RequestIDSnake = ""
	return f, true
}

// Text returns the frame as the text of a message.
func (f Frame) Text() string {
	b, err := json.Marshal(f)
	if err != nil {
		return "" // strings always encode
	}
	return string(b)
}

// Kind is the type of a message as people know it: that of its frame, else
// "message".
func (m *Message) Kind() string {
	if f, ok := ParseFrame(m.Text); ok {
		return f.Type
	}
	return "message"
}

// NewRequestID makes the id of a request to name, in Claude Code's form.
func NewRequestID(what, name string, now time.Time) string {
	return what + "-" + strconv.FormatInt(now.UnixMilli(), 10) + "@" + name
}
