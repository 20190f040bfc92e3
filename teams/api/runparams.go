package api

// IDParams are the parameters of a method on one thing.
type IDParams struct {
	ID string `json:"id"`
}

// AgentTeamsParams are the parameters of team:list.
type AgentTeamsParams struct {
	WorkspaceID string `json:"workspaceId,omitempty"`
	Name        string `json:"name,omitempty"`
}

// AgentTeamParams are the parameters of team:create.
type AgentTeamParams struct {
	WorkspaceID            string `json:"workspaceId,omitempty"` // default
	Name                   string `json:"name"`
	Description            string `json:"description,omitempty"`
	LeadAgentRoleID        string `json:"leadAgentRoleId,omitempty"`   // lead
	MaxParallelAgents      *int   `json:"maxParallelAgents,omitempty"` // absent: 4
	DefaultModelPreference string `json:"defaultModelPreference,omitempty"`
	DefaultPersonality     string `json:"defaultPersonality,omitempty"`
	IsActive               *bool  `json:"isActive,omitempty"` // true
}

// AgentTeamChange are the parameters of team:update: what is absent stays.
type AgentTeamChange struct {
	ID                     string  `json:"id"`
	Name                   *string `json:"name,omitempty"`
	Description            *string `json:"description,omitempty"`
	LeadAgentRoleID        *string `json:"leadAgentRoleId,omitempty"`
	MaxParallelAgents      *int    `json:"maxParallelAgents,omitempty"`
	DefaultModelPreference *string `json:"defaultModelPreference,omitempty"`
	DefaultPersonality     *string `json:"defaultPersonality,omitempty"`
	IsActive               *bool   `json:"isActive,omitempty"`
}

// TeamIDParams are the parameters of what is asked of a team.
type TeamIDParams struct {
	TeamID string `json:"teamId"`
}

// AgentTeamMemberParams are the parameters of teamMember:add.
type AgentTeamMemberParams struct {
	TeamID       string `json:"teamId"`
	AgentRoleID  string `json:"agentRoleId"`
	MemberOrder  *int   `json:"memberOrder,omitempty"` // the last
	IsRequired   bool   `json:"isRequired,omitempty"`
	RoleGuidance string `json:"roleGuidance,omitempty"`
}

// AgentTeamMemberChange are the parameters of teamMember:update.
type AgentTeamMemberChange struct {
	ID           string  `json:"id"`
	MemberOrder  *int    `json:"memberOrder,omitempty"`
	IsRequired   *bool   `json:"isRequired,omitempty"`
	RoleGuidance *string `json:"roleGuidance,omitempty"`
}

// ReorderParams are the parameters of teamMember:reorder: every member, once.
type ReorderParams struct {
	TeamID    string   `json:"teamId"`
	MemberIDs []string `json:"memberIds"`
}

// RunCreateParams are the parameters of teamRun:create. The items, if any, come
// with it, so that the run does not end before the last one is there.
type RunCreateParams struct {
	TeamID string     `json:"teamId"`
	Cwd    string     `json:"cwd,omitempty"` // where its teammates work; the home folder
	Items  []ItemSpec `json:"items,omitempty"`
	// RootTaskID is a task of runTask:create that the run is about; a new one.
	RootTaskID string `json:"rootTaskId,omitempty"`
}

// RunTaskParams are the parameters of runTask:create.
type RunTaskParams struct {
	Title string `json:"title"`
}

// ItemSpec is an item of a run that is created. BlockedBy holds positions in the
// list, from 1.
type ItemSpec struct {
	Title            string `json:"title"`
	Description      string `json:"description,omitempty"`
	OwnerAgentRoleID string `json:"ownerAgentRoleId,omitempty"`
	BlockedBy        []int  `json:"blockedBy,omitempty"`
	Run              string `json:"run,omitempty"` // a worker runs this line for it
}

// RunsParams are the parameters of teamRun:list: the newest come first.
type RunsParams struct {
	TeamID string `json:"teamId,omitempty"`
	Limit  int    `json:"limit,omitempty"` // 100
}

// ItemsParams are the parameters of teamItem:list, which answers in the order of
// the checklist.
type ItemsParams struct {
	TeamRunID string `json:"teamRunId"`
	After     string `json:"after,omitempty"` // id of the last item of the page before
	Limit     int    `json:"limit,omitempty"` // all
}

// ItemParams are the parameters of teamItem:create.
type ItemParams struct {
	TeamRunID        string   `json:"teamRunId"`
	Title            string   `json:"title"`
	Description      string   `json:"description,omitempty"`
	ParentItemID     string   `json:"parentItemId,omitempty"`
	OwnerAgentRoleID string   `json:"ownerAgentRoleId,omitempty"`
	SourceTaskID     string   `json:"sourceTaskId,omitempty"` // a task of runTask:create; a new one when it begins
	SortOrder        *int64   `json:"sortOrder,omitempty"`    // the last
	BlockedBy        []string `json:"blockedBy,omitempty"`
}

// ItemChange are the parameters of teamItem:update.
type ItemChange struct {
	ID               string  `json:"id"`
	Title            *string `json:"title,omitempty"`
	Description      *string `json:"description,omitempty"`
	OwnerAgentRoleID *string `json:"ownerAgentRoleId,omitempty"` // "": nobody
	Status           *string `json:"status,omitempty"`
	ResultSummary    *string `json:"resultSummary,omitempty"`
	SourceTaskID     *string `json:"sourceTaskId,omitempty"` // "": none
}

// ItemMove are the parameters of teamItem:move: to a number, or beside another
// item, and below a parent.
type ItemMove struct {
	ID           string  `json:"id"`
	ParentItemID *string `json:"parentItemId,omitempty"` // "": none
	SortOrder    *int64  `json:"sortOrder,omitempty"`
	BeforeID     string  `json:"beforeId,omitempty"`
	AfterID      string  `json:"afterId,omitempty"`
}

// TeamRunFilter are the parameters of teamRun:event: absent, all is told.
type TeamRunFilter struct {
	TeamID    string `json:"teamId,omitempty"`
	TeamRunID string `json:"teamRunId,omitempty"`
}

// TeamDefinition are the parameters of team:define: a team with its members, as a
// team file has them. A team of that name becomes so.
type TeamDefinition struct {
	AgentTeamParams
	Members []MemberDefinition `json:"members"`
	Hooks   []TeamHook         `json:"hooks,omitempty"`
}

// TeamHook is a program that is asked in every run of the team, see hooks.
type TeamHook struct {
	Event     string `json:"event"`
	Command   string `json:"command"`             // a line for sh -c
	Dir       string `json:"dir,omitempty"`       // where it runs
	TimeoutMs int64  `json:"timeoutMs,omitempty"` // 0: the usual
	Source    string `json:"source,omitempty"`    // the file it stands in, for messages
}

// MemberDefinition is a member with a role of its own, NAME of TEAM being the role
// TEAM/NAME.
type MemberDefinition struct {
	Name         string   `json:"name"`
	Profile      string   `json:"profile"`
	Spec         RoleSpec `json:"spec"`
	IsRequired   bool     `json:"isRequired,omitempty"`
	RoleGuidance string   `json:"roleGuidance,omitempty"`
}
