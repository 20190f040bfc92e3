package api

import "encoding/json"

// Statuses of plans and of requests for permission.
const (
	RequestOpen     = "open"
	RequestApproved = "approved"
	RequestRejected = "rejected"
	RequestReplaced = "replaced" // its author has handed in another one
)

// Plan is a teammate's proposal (plan ls, show, submit, approve, reject).
type Plan struct {
	ID          string `json:"id"`
	From        string `json:"from"`
	Status      string `json:"status"`
	Plan        string `json:"plan"`
	Path        string `json:"path,omitempty"` // the file it stands in, as its author says
	Feedback    string `json:"feedback,omitempty"`
	SubmittedAt *Time  `json:"submittedAt,omitempty"` // when it was first seen
	ResolvedAt  *Time  `json:"resolvedAt,omitempty"`
}

// Permission is a native teammate's request to use a tool (permission ls, allow,
// deny).
type Permission struct {
	ID          string          `json:"id"`
	From        string          `json:"from"`
	Status      string          `json:"status"`
	Tool        string          `json:"tool"`
	ToolUseID   string          `json:"toolUseId,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Host        string          `json:"host,omitempty"` // which it wants to reach from its sandbox, instead of a tool
	Reason      string          `json:"reason,omitempty"`
	RequestedAt *Time           `json:"requestedAt,omitempty"` // when it was first seen
	ResolvedAt  *Time           `json:"resolvedAt,omitempty"`
}

// ModeChange is the answer of permission mode.
type ModeChange struct {
	Name string `json:"name"`
	Mode string `json:"mode"`
	How  string `json:"how"` // "asked": it was sent a request; "restarted"
}
