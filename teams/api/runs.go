package api

import "encoding/json"

// Statuses of a run. A run without items stays pending.
const (
	RunPending   = "pending"
	RunRunning   = "running"
	RunPaused    = "paused"
	RunCompleted = "completed"
	RunFailed    = "failed"
	RunCancelled = "cancelled"
)

// Statuses of an item.
const (
	ItemTodo       = "todo"
	ItemInProgress = "in_progress"
	ItemBlocked    = "blocked"
	ItemDone       = "done"
	ItemFailed     = "failed"
)

// AgentTeam is a team as it is defined: once, for many runs. Moments in the shapes
// of runs are milliseconds since 1970.
type AgentTeam struct {
	ID                     string `json:"id"`
	WorkspaceID            string `json:"workspaceId"`
	Name                   string `json:"name"`
	Description            string `json:"description,omitempty"`
	LeadAgentRoleID        string `json:"leadAgentRoleId"`
	MaxParallelAgents      int    `json:"maxParallelAgents"`
	DefaultModelPreference string `json:"defaultModelPreference,omitempty"` // same, cheaper, smarter
	DefaultPersonality     string `json:"defaultPersonality,omitempty"`
	IsActive               bool   `json:"isActive"`
	CreatedAt              int64  `json:"createdAt"`
	UpdatedAt              int64  `json:"updatedAt"`
}

// AgentTeamMember is a role's place in a team.
type AgentTeamMember struct {
	ID           string `json:"id"`
	TeamID       string `json:"teamId"`
	AgentRoleID  string `json:"agentRoleId"`
	MemberOrder  int    `json:"memberOrder"`
	IsRequired   bool   `json:"isRequired"` // it must be up before a run starts
	RoleGuidance string `json:"roleGuidance,omitempty"`
	CreatedAt    int64  `json:"createdAt"`
}

// AgentTeamRun is one run of a team.
type AgentTeamRun struct {
	ID          string `json:"id"`
	TeamID      string `json:"teamId"`
	RootTaskID  string `json:"rootTaskId"`
	Status      string `json:"status"`
	StartedAt   int64  `json:"startedAt"`
	CompletedAt int64  `json:"completedAt,omitempty"`
	Error       string `json:"error,omitempty"`
	Summary     string `json:"summary,omitempty"`
	Recorded    bool   `json:"recorded,omitempty"` // another process has carried it out: up, or a lead and down
}

// Final tells whether nothing more happens to the run.
func (r AgentTeamRun) Final() bool {
	return r.Status == RunCompleted || r.Status == RunFailed || r.Status == RunCancelled
}

// AgentTeamItem is one item of a run's checklist.
type AgentTeamItem struct {
	ID               string   `json:"id"`
	TeamRunID        string   `json:"teamRunId"`
	ParentItemID     string   `json:"parentItemId,omitempty"`
	Title            string   `json:"title"`
	Description      string   `json:"description,omitempty"`
	OwnerAgentRoleID string   `json:"ownerAgentRoleId,omitempty"`
	SourceTaskID     string   `json:"sourceTaskId,omitempty"`
	Status           string   `json:"status"`
	ResultSummary    string   `json:"resultSummary,omitempty"`
	SortOrder        int64    `json:"sortOrder"`
	CreatedAt        int64    `json:"createdAt"`
	UpdatedAt        int64    `json:"updatedAt"`
	BlockedBy        []string `json:"blockedBy,omitempty"` // items that come first
}

// AgentRole is what a member is: how its teammates are run. Its id is its name.
// There is the role lead, one for each profile, and those that team files define.
type AgentRole struct {
	ID      string   `json:"id"`
	Profile string   `json:"profile"`
	Spec    RoleSpec `json:"spec"`
}

// RoleSpec is how a role's teammates are started, beyond their profile.
type RoleSpec struct {
	Kind      string   `json:"kind,omitempty"`
	Command   []string `json:"command,omitempty"`
	Run       string   `json:"run,omitempty"` // a worker's command for tasks
	Model     string   `json:"model,omitempty"`
	AgentType string   `json:"agentType,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Cwd       string   `json:"cwd,omitempty"` // "": the run's
	Color     string   `json:"color,omitempty"`
	Env       []string `json:"env,omitempty"` // K=V
	PlanMode  bool     `json:"planMode,omitempty"`
	RunTask   bool     `json:"runTask,omitempty"` // a worker obeys the commands that tasks bring
	Placement string   `json:"placement,omitempty"`
	Worktree  *string  `json:"worktree,omitempty"` // a git worktree of its own: on this branch, "" one of its own
	// Git is a repository of which it gets a worktree, instead of Cwd.
	Git *GitSource `json:"git,omitempty"`
	// Definition is the whole of the profile, if the team file brings it.
	Definition json.RawMessage `json:"definition,omitempty"`
}

// GitSource is a repository that is elsewhere, at a branch, a tag or a commit; without Ref
// where its own HEAD is.
type GitSource struct {
	URL string `json:"url"`
	Ref string `json:"ref,omitempty"`
}

// RunTask is the child task of an item, the root task of a run, or one that is neither yet.
type RunTask struct {
	ID            string `json:"id"`
	ParentTaskID  string `json:"parentTaskId,omitempty"` // the root task of its run
	Title         string `json:"title"`
	ItemID        string `json:"itemId,omitempty"`
	Assignee      string `json:"assignee,omitempty"` // the teammate
	Status        string `json:"status"`             // as an item's
	ResultSummary string `json:"resultSummary,omitempty"`
	Attempts      int    `json:"attempts"` // times that it was begun
	StartedAt     int64  `json:"startedAt,omitempty"`
	CompletedAt   int64  `json:"completedAt,omitempty"`
	Usage         *Usage `json:"usage,omitempty"` // what it has cost, where the agent told
}

// RunMember is one teammate of a run.
type RunMember struct {
	Name        string `json:"name"`
	AgentRoleID string `json:"agentRoleId"`
	StartedAt   int64  `json:"startedAt"`
	EndedAt     int64  `json:"endedAt,omitempty"`
	Items       int    `json:"items"`  // it has worked on
	BusyMs      int64  `json:"busyMs"` // spent on them
	Retries     int    `json:"retries"`
}

// RunReport is a run with everything that belongs to it.
type RunReport struct {
	Run      AgentTeamRun    `json:"run"`
	Team     AgentTeam       `json:"team"`
	LiveTeam string          `json:"liveTeam"` // whose teammates work, or worked, on it
	Members  []RunMember     `json:"members"`
	Items    []AgentTeamItem `json:"items"`
	Tasks    []RunTask       `json:"tasks"`
	Usage    *Usage          `json:"usage,omitempty"` // what its tasks have cost together
}

// RunRecord is what a process that carries a team out itself leaves of it, for the
// history. Moments are milliseconds since 1970, 0 if they are not known.
type RunRecord struct {
	ID          string            `json:"id"`
	Team        string            `json:"team"`
	Description string            `json:"description,omitempty"`
	Status      string            `json:"status"`
	Error       string            `json:"error,omitempty"`
	StartedAt   int64             `json:"startedAt"`
	CompletedAt int64             `json:"completedAt,omitempty"`
	Members     []RunRecordMember `json:"members"`
	Tasks       []RunRecordTask   `json:"tasks"`
}

// RunRecordMember is one of its teammates.
type RunRecordMember struct {
	Name      string `json:"name"`
	Profile   string `json:"profile"`
	StartedAt int64  `json:"startedAt,omitempty"`
	EndedAt   int64  `json:"endedAt,omitempty"`
}

// RunRecordTask is one of its tasks.
type RunRecordTask struct {
	ID          string   `json:"id"` // in its team
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Owner       string   `json:"owner,omitempty"`
	Status      string   `json:"status"`             // as an item's
	Attempts    int      `json:"attempts,omitempty"` // times that it was begun
	Result      string   `json:"result,omitempty"`
	BlockedBy   []string `json:"blockedBy,omitempty"`
	StartedAt   int64    `json:"startedAt,omitempty"`
	CompletedAt int64    `json:"completedAt,omitempty"`
	Usage       *Usage   `json:"usage,omitempty"`
}

// TeamRunEvent is what teamRun:event tells: what happened, and the whole of what it
// happened to.
type TeamRunEvent struct {
	Type      string            `json:"type"`
	Timestamp int64             `json:"timestamp"`
	TeamID    string            `json:"teamId,omitempty"`
	TeamRunID string            `json:"teamRunId,omitempty"`
	Team      *AgentTeam        `json:"team,omitempty"`
	Member    *AgentTeamMember  `json:"member,omitempty"`
	Members   []AgentTeamMember `json:"members,omitempty"`
	Run       *AgentTeamRun     `json:"run,omitempty"`
	Item      *AgentTeamItem    `json:"item,omitempty"`
	Items     []AgentTeamItem   `json:"items,omitempty"` // of a run that is loaded
}

// Types of a TeamRunEvent.
const (
	EvTeamCreated      = "team_created"
	EvTeamUpdated      = "team_updated"
	EvTeamDeleted      = "team_deleted"
	EvMemberAdded      = "team_member_added"
	EvMemberUpdated    = "team_member_updated"
	EvMemberRemoved    = "team_member_removed"
	EvMembersReordered = "team_members_reordered"
	EvRunCreated       = "team_run_created"
	EvRunUpdated       = "team_run_updated"
	EvRunLoaded        = "team_run_loaded" // to a new subscriber, for each run
	EvItemCreated      = "team_item_created"
	EvItemUpdated      = "team_item_updated"
	EvItemDeleted      = "team_item_deleted"
	EvItemMoved        = "team_item_moved"
	EvItemSpawned      = "team_item_spawned"
)

// LeadRole is the role of whoever leads a run.
const LeadRole = "lead"

// RoleOf is the id of a member's own role.
func RoleOf(team, member string) string { return team + "/" + member }
