package api

import "encoding/json"

// Scope is what nearly every live method takes.
type Scope struct {
	Team string `json:"team,omitempty"` // absent: the only one there is
	As   string `json:"as,omitempty"`   // who asks; absent: the lead
}

// TeamCreateParams are the parameters of live.team.create.
type TeamCreateParams struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Lead        string `json:"lead,omitempty"`
	AgentType   string `json:"agentType,omitempty"`
	Cwd         string `json:"cwd,omitempty"` // an absolute path
	Mailbox     string `json:"mailbox,omitempty"`
}

// TeamDeleteParams are the parameters of live.team.delete.
type TeamDeleteParams struct {
	Scope
	Force  bool   `json:"force,omitempty"`
	Backup string `json:"backup,omitempty"` // an absolute path
}

// SpawnParams are the parameters of live.spawn.
type SpawnParams struct {
	Scope
	Name           string   `json:"name"`
	Agent          string   `json:"agent,omitempty"` // the profile
	Command        []string `json:"command,omitempty"`
	Kind           string   `json:"kind,omitempty"`
	Model          string   `json:"model,omitempty"`
	AgentType      string   `json:"agentType,omitempty"`
	Prompt         string   `json:"prompt,omitempty"`
	Cwd            string   `json:"cwd,omitempty"` // an absolute path
	Color          string   `json:"color,omitempty"`
	Env            []string `json:"env,omitempty"` // K=V
	Placement      string   `json:"placement,omitempty"`
	Restart        string   `json:"restart,omitempty"`
	PlanMode       bool     `json:"planMode,omitempty"`
	ReadyTimeoutMs int64    `json:"readyTimeoutMs,omitempty"`
}

// PsParams are the parameters of live.ps.
type PsParams struct {
	Scope
	All bool `json:"all,omitempty"`
}

// StopParams are the parameters of live.stop and live.down.
type StopParams struct {
	Scope
	Names     []string `json:"names,omitempty"` // absent: all
	Reason    string   `json:"reason,omitempty"`
	TimeoutMs int64    `json:"timeoutMs,omitempty"`
	Force     bool     `json:"force,omitempty"`
	Keep      bool     `json:"keep,omitempty"` // live.down: keep the team
}

// NameParams name a member.
type NameParams struct {
	Scope
	Name string `json:"name"`
}

// CaptureParams are the parameters of live.capture and live.logs.
type CaptureParams struct {
	Scope
	Name  string `json:"name"`
	Lines int    `json:"lines,omitempty"`
	ANSI  bool   `json:"ansi,omitempty"`
}

// Text is an answer of text.
type Text struct {
	Text string `json:"text"`
}

// SendParams are the parameters of live.send and, without To, of live.broadcast.
type SendParams struct {
	Scope
	To      string `json:"to,omitempty"`
	Text    string `json:"text"`
	Summary string `json:"summary,omitempty"`
	Type    string `json:"type,omitempty"`
}

// InboxParams are the parameters of live.inbox.
type InboxParams struct {
	Scope
	Name    string `json:"name,omitempty"` // absent: the caller's
	Unread  bool   `json:"unread,omitempty"`
	From    string `json:"from,omitempty"`
	SinceMs int64  `json:"sinceMs,omitempty"`
}

// InboxReadParams are the parameters of live.inbox.read.
type InboxReadParams struct {
	Scope
	Name string   `json:"name,omitempty"`
	IDs  []string `json:"ids"`
}

// TaskAddParams are the parameters of live.task.add.
type TaskAddParams struct {
	Scope
	Subject     string                     `json:"subject"`
	Description string                     `json:"description,omitempty"`
	ActiveForm  string                     `json:"activeForm,omitempty"`
	Owner       string                     `json:"owner,omitempty"`
	BlockedBy   []string                   `json:"blockedBy,omitempty"`
	Blocks      []string                   `json:"blocks,omitempty"`
	Metadata    map[string]json.RawMessage `json:"metadata,omitempty"`
}

// TaskListParams are the parameters of live.task.ls.
type TaskListParams struct {
	Scope
	Status string `json:"status,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Ready  bool   `json:"ready,omitempty"`
}

// TaskParams name a task. Text is the result of live.task.done and the reason of
// live.task.fail.
type TaskParams struct {
	Scope
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// TaskClaimParams are the parameters of live.task.claim.
type TaskClaimParams struct {
	Scope
	ID     string `json:"id,omitempty"` // absent: the next one that is ready
	WaitMs int64  `json:"waitMs,omitempty"`
}

// TaskUpdateParams are the parameters of live.task.update; what is absent stays.
type TaskUpdateParams struct {
	Scope
	ID              string                     `json:"id"`
	Subject         *string                    `json:"subject,omitempty"`
	Description     *string                    `json:"description,omitempty"`
	ActiveForm      *string                    `json:"activeForm,omitempty"`
	Status          *string                    `json:"status,omitempty"`
	Owner           *string                    `json:"owner,omitempty"` // "" takes the owner away
	AddBlocks       []string                   `json:"addBlocks,omitempty"`
	AddBlockedBy    []string                   `json:"addBlockedBy,omitempty"`
	RemoveBlocks    []string                   `json:"removeBlocks,omitempty"`
	RemoveBlockedBy []string                   `json:"removeBlockedBy,omitempty"`
	Metadata        map[string]json.RawMessage `json:"metadata,omitempty"` // null deletes a key
}

// AnswerParams are the parameters of live.shutdown.approve and
// live.shutdown.refuse.
type AnswerParams struct {
	Scope
	RequestID string `json:"requestId,omitempty"` // absent: the newest one
	Reason    string `json:"reason,omitempty"`
}

// Answered names the request that was answered.
type Answered struct {
	RequestID string `json:"requestId"`
}

// Count is how many.
type Count struct {
	Count int `json:"count"`
}

// AllParams are the parameters of live.plan.ls and live.permission.ls.
type AllParams struct {
	Scope
	All bool `json:"all,omitempty"` // also those that were answered
}

// PlanSubmitParams are the parameters of live.plan.submit.
type PlanSubmitParams struct {
	Scope
	Text string `json:"text"`
	Path string `json:"path,omitempty"` // the file the text comes from
}

// RequestParams name a plan or a request for permission. Text is the feedback of
// live.plan.approve and live.plan.reject and the reason of live.permission.deny.
type RequestParams struct {
	Scope
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// ModeParams are the parameters of live.permission.mode.
type ModeParams struct {
	Scope
	Name string `json:"name"`
	Mode string `json:"mode"`
}

// DelegateParams are the parameters of live.delegate.
type DelegateParams struct {
	Scope
	Delegate bool `json:"delegate"`
}

// Delegation is the answer of delegate: whether the lead coordinates only.
type Delegation struct {
	Team     string `json:"team"`
	Delegate bool   `json:"delegate"`
}

// TakeoverParams are the parameters of live.takeover.
type TakeoverParams struct {
	Scope
	Session string `json:"session,omitempty"` // of Claude Code, if the caller is one
}

// AttachParams are the parameters of live.attach.
type AttachParams struct {
	Scope
	Name string `json:"name,omitempty"` // absent: the first live teammate
}

// Attachment is the answer of attach: the command that shows the pane in a terminal.
type Attachment struct {
	Argv []string `json:"argv"`
}

// DoctorParams are the parameters of live.doctor.
type DoctorParams struct {
	Team string `json:"team,omitempty"` // absent: all
	Fix  bool   `json:"fix,omitempty"`  // first mend what can be mended safely
}

// GCParams are the parameters of live.gc.
type GCParams struct {
	DryRun bool `json:"dryRun,omitempty"` // only say what would be removed
}
