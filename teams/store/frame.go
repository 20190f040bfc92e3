package store

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// Types of frame: the structured messages that members exchange as JSON inside a
// message's text, as Claude Code writes them.
const (
	ShutdownRequest  = "shutdown_request"
	ShutdownApproved = "shutdown_approved"
	ShutdownRejected = "shutdown_rejected"
	ShutdownResponse = "shutdown_response" // what a client's tool calls its answer: read as one of the two before
	IdleNotification = "idle_notification"
	TaskAssignment   = "task_assignment"

	PlanRequest        = "plan_approval_request"
	PlanResponse       = "plan_approval_response"
	PermissionRequest  = "permission_request"
	PermissionResponse = "permission_response"
	ModeSetRequest     = "mode_set_request"

	SandboxRequest  = "sandbox_permission_request" // to reach a host
	SandboxResponse = "sandbox_permission_response"
)

// Subtypes of a permission response.
const (
	PermissionSuccess = "success"
	PermissionError   = "error"
)

// frameTypes are all types that are shown as such; anything else is plain text.
var frameTypes = map[string]bool{
	ShutdownRequest: true, ShutdownApproved: true, ShutdownRejected: true, ShutdownResponse: true, IdleNotification: true, TaskAssignment: true,
	PermissionRequest: true, PermissionResponse: true, PlanRequest: true, PlanResponse: true,
	ModeSetRequest: true, "team_permission_update": true, SandboxRequest: true,
	SandboxResponse: true, "task_completed": true, "teammate_terminated": true,
}

// leadTypes are those that only the lead sends.
var leadTypes = map[string]bool{
	ShutdownRequest: true, PermissionResponse: true, PlanResponse: true, ModeSetRequest: true, "team_permission_update": true,
	SandboxResponse: true,
}

// LeadOnly tells whether frames of that type come from the lead alone.
func LeadOnly(kind string) bool { return leadTypes[kind] }

// Frame is a structured message. Each spelling of the request id is read; request_id is
// written in what is about permissions, requestId everywhere else.
type Frame struct {
	Type            string `json:"type"`
	RequestID       string `json:"requestId,omitempty"`
	RequestIDSnake  string `json:"request_id,omitempty"`
	From            string `json:"from,omitempty"`
	Reason          string `json:"reason,omitempty"`
	Content         string `json:"content,omitempty"` // the reason, as other programs call it
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

	PlanFilePath   string `json:"planFilePath,omitempty"`
	PlanContent    string `json:"planContent,omitempty"`
	Plan           string `json:"plan,omitempty"` // the same, as other programs call it
	Approved       *bool  `json:"approved,omitempty"`
	Feedback       string `json:"feedback,omitempty"`
	PermissionMode string `json:"permissionMode,omitempty"`
	Mode           string `json:"mode,omitempty"`

	AgentID    string          `json:"agent_id,omitempty"` // the name of who asks for permission
	WorkerName string          `json:"workerName,omitempty"`
	ToolName   string          `json:"tool_name,omitempty"`
	ToolCamel  string          `json:"toolName,omitempty"`
	ToolUseID  string          `json:"tool_use_id,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Subtype    string          `json:"subtype,omitempty"`
	Response   json.RawMessage `json:"response,omitempty"`
	Error      string          `json:"error,omitempty"`

	HostPattern *HostPattern `json:"hostPattern,omitempty"`
	Host        string       `json:"host,omitempty"`
	Allow       *bool        `json:"allow,omitempty"`

	several []string // the requests that it names, if it names more than one
}

// Requests returns the requests that a frame names. One that names several has no
// RequestID: a yes in it is for none of them.
func (f Frame) Requests() []string {
	if f.RequestID != "" {
		return []string{f.RequestID}
	}
	return f.several
}

// HostPattern is what a sandboxed teammate asks to reach.
type HostPattern struct {
	Host string `json:"host"`
}

// SenderMismatch returns the sender that the frame names and that is another than from,
// who sent the message that carries it; "" if all that it says of its sender is true. In
// the team called teams a name and its address are one.
func (f Frame) SenderMismatch(from string, teams ...string) string {
	from = LocalName(from, teams...)
	for _, named := range []string{f.AgentID, f.WorkerName, f.From, f.AssignedBy} {
		if named != "" && LocalName(named, teams...) != from {
			return named
		}
	}
	return ""
}

// ParseFrame reads a message's text as a frame. Text that only looks like one
// stays text: of a type that is not known, or under keys in another spelling, which
// are other keys. A part of another kind than expected is passed over, so that a
// frame of a newer version is still one.
func ParseFrame(text string) (Frame, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if !strings.HasPrefix(text, "{") {
		return Frame{}, false
	}
	o, err := rawjson.ParseObject([]byte(text))
	if err != nil {
		return Frame{}, false
	}
	kind, _ := o.Get("type")
	if kind, ok := rawjson.String(kind); !ok || !frameTypes[kind] {
		return Frame{}, false
	}
	var f Frame
	f.take(o)
	f.RequestID, f.RequestIDSnake = "", ""
	if ids := o.Texts(rawjson.RequestKeys()...); len(ids) > 1 {
		f.several = ids
	} else if len(ids) == 1 {
		f.RequestID = ids[0]
	}
	f.Approved = agreed(o.All("approved", "approve"))
	f.settle()
	f.ToolName = cmp.Or(f.ToolName, f.ToolCamel)
	f.ToolCamel = ""
	return f, true
}

// agreed makes one answer of all that says yes or no, each as true or false or as text:
// what is there and is no yes is a no, and a no counts wherever it stands.
func agreed(said []json.RawMessage) *bool {
	if len(said) == 0 {
		return nil
	}
	yes := !slices.ContainsFunc(said, func(raw json.RawMessage) bool { return !rawjson.Yes(raw) })
	return &yes
}

// settle takes what other programs call otherwise for what it is, and gives an answer to a
// request to stop the type that it means: one that does not say yes ends nobody.
func (f *Frame) settle() {
	if f.Type == ShutdownRequest {
		f.Reason, f.Content = cmp.Or(f.Reason, f.Content), ""
	}
	f.PlanContent, f.Plan = cmp.Or(f.PlanContent, f.Plan), ""
	no := f.Approved != nil && !*f.Approved
	switch {
	case f.Type == ShutdownResponse && f.Approved != nil && !no:
		f.Type = ShutdownApproved
	case f.Type == ShutdownResponse, f.Type == ShutdownApproved && no:
		f.Type = ShutdownRejected
	}
	if f.Type == ShutdownRejected {
		f.Reason = cmp.Or(f.Reason, f.Feedback, f.Content)
	}
}

// take fills the fields in, each from the part under exactly its key.
func (f *Frame) take(o *rawjson.Object) {
	for field, part := range reflect.ValueOf(f).Elem().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if raw, ok := o.Get(key); ok && key != "" {
			to := reflect.New(field.Type)
			if json.Unmarshal(raw, to.Interface()) == nil {
				part.Set(to.Elem())
			}
		}
	}
}

// Text returns the frame as the text of a message.
func (f Frame) Text() string {
	if f.Type == PermissionRequest || f.Type == PermissionResponse {
		f.RequestID, f.RequestIDSnake = "", f.RequestID
	}
	b, err := json.Marshal(f)
	if err != nil {
		return "" // strings always encode, and raw parts were decoded before
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
