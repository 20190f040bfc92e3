package events

// Data is what an event carries: a pointer to one of this package's structs.
// Each says in its "type" field which kind of thing happened, so that a consumer
// that got the data alone can still tell.
type Data interface {
	// Kind is the value of the "type" field.
	Kind() string
	// Stamp writes the fields that all data have.
	Stamp(kind, session string)
	closed()
}

// Head are the fields that all data have.
type Head struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionId,omitempty"` // that was observed
}

// Kind implements Data.
func (h *Head) Kind() string { return h.Type }

// Stamp implements Data.
func (h *Head) Stamp(kind, session string) { h.Type, h.SessionID = kind, session }

func (*Head) closed() {}

// Kinds of data. The kinds of members and tasks stand with their structs.
const (
	KindTeamCreated    = "team_created"
	KindTeamDeleted    = "team_deleted"
	KindMessage        = "message"
	KindIdle           = "idle"
	KindShutdownAsk    = "shutdown_request"
	KindShutdownAnswer = "shutdown_response"
	KindPlanAsk        = "plan_approval_request"
	KindPlanAnswer     = "plan_approval_response"
)

// Kinds of a Member: what happened to it.
const (
	KindMemberJoined  = "member_joined"
	KindMemberLeft    = "member_left"
	KindMemberIdle    = "member_idle"
	KindMemberActive  = "member_active"
	KindMemberWaiting = "member_waiting"
	KindMemberFailed  = "member_failed"
	KindMemberLost    = "member_lost"
)

// Kinds of a Task: what happened to it. A deleted task is task_updated with the
// status "deleted".
const (
	KindTaskCreated   = "task_created"
	KindTaskClaimed   = "task_claimed"
	KindTaskCompleted = "task_completed"
	KindTaskUpdated   = "task_updated"
	KindTaskFailed    = "task_failed"
)

// Statuses of a member, as far as events speak of them.
const (
	StatusActive   = "active"
	StatusIdle     = "idle"
	StatusShutdown = "shutdown"
)

// MemberInfo describes a member at the moment of the event.
type MemberInfo struct {
	Name       string `json:"name"`
	AgentID    string `json:"agentId"`
	AgentType  string `json:"agentType"`
	Status     string `json:"status"` // active, idle, shutdown
	Model      string `json:"model,omitempty"`
	Color      string `json:"color,omitempty"`
	TmuxPaneID string `json:"tmuxPaneId,omitempty"`
}

// TaskInfo describes a task at the moment of the event.
type TaskInfo struct {
	ID          string   `json:"id"`
	Subject     string   `json:"subject"`
	Description string   `json:"description,omitempty"`
	Status      string   `json:"status"` // pending, in_progress, completed, deleted
	Owner       string   `json:"owner,omitempty"`
	ActiveForm  string   `json:"activeForm,omitempty"`
	BlockedBy   []string `json:"blockedBy"`
	Blocks      []string `json:"blocks"`
}

// Team: the team came to be, or ceased.
type Team struct {
	Head
	TeamName string `json:"teamName"`
	Role     string `json:"role,omitempty"` // of the observed session: lead, teammate
}

// Message: somebody wrote to a member, or, with To empty, to all.
type Message struct {
	Head
	From    string `json:"from"`
	To      string `json:"to,omitempty"`
	Content string `json:"content"`
	Summary string `json:"summary,omitempty"`
}

// Idle: a member has nothing to do.
type Idle struct {
	Head
	From            string     `json:"from"`
	CompletedTaskID string     `json:"completedTaskId,omitempty"`
	Member          MemberInfo `json:"member"`
}

// ShutdownAsk: a member was asked to end.
type ShutdownAsk struct {
	Head
	From      string `json:"from"`
	To        string `json:"to"`
	RequestID string `json:"requestId"`
	Reason    string `json:"reason,omitempty"`
}

// ShutdownAnswer: a member said yes or no to that. It is a claim, not an end.
type ShutdownAnswer struct {
	Head
	From      string `json:"from"`
	Member    string `json:"member"` // same as From
	RequestID string `json:"requestId"`
	Approved  bool   `json:"approved"`
	Reason    string `json:"reason,omitempty"`
}

// PlanAsk: a member submitted a plan.
type PlanAsk struct {
	Head
	From      string `json:"from"`
	To        string `json:"to"`
	RequestID string `json:"requestId"`
	Plan      string `json:"plan"`
}

// PlanAnswer: the plan was approved or rejected.
type PlanAnswer struct {
	Head
	From      string `json:"from"`
	To        string `json:"to"`
	RequestID string `json:"requestId"`
	Approved  bool   `json:"approved"`
	Feedback  string `json:"feedback,omitempty"`
}

// Member: something happened to a member. Reason says why where that is known.
type Member struct {
	Head
	Member    MemberInfo `json:"member"`
	Reason    string     `json:"reason,omitempty"`
	ToolName  string     `json:"toolName,omitempty"`  // waiting: for leave to use this tool
	ToolUseID string     `json:"toolUseId,omitempty"` // waiting: the use in question
}

// Task: something happened to a task.
type Task struct {
	Head
	Task TaskInfo `json:"task"`
}

// Run: something happened to the definition of a team, to a run, or to an item of
// one. The ids lead to the whole of it; of an item, Title and Status are its own, of
// a run the status.
type Run struct {
	Head
	TeamID   string `json:"teamId,omitempty"`
	MemberID string `json:"memberId,omitempty"`
	RunID    string `json:"teamRunId,omitempty"`
	ItemID   string `json:"itemId,omitempty"`
	Title    string `json:"title,omitempty"`
	Status   string `json:"status,omitempty"`
}
