package observe

import (
	"cmp"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// Roles of the observed session in its team.
const (
	RoleLead     = "lead"
	RoleTeammate = "teammate"
)

// leadName is what the lead is called as a sender.
const leadName = "team-lead"

// Statuses of a task.
const (
	pending    = "pending"
	inProgress = "in_progress"
	completed  = "completed"
	deleted    = "deleted"
)

// What became of a request to shut down.
const (
	shutdownAsked    = "requested"
	shutdownApproved = "approved"
	shutdownRejected = "rejected"
)

// maxRefusals bounds Team.Refusals; older ones are forgotten.
const maxRefusals = 16

// Team is what the stream told of the team. It is never changed in place: the
// reducer makes a new one, so a pointer once handed out stays as it was.
//
// A Team without a name is the task list of a session that has no team yet: it
// is kept, and becomes the team's when the first spawn names one.
type Team struct {
	Name     string    `json:"name"`
	Role     string    `json:"role"`
	Members  []Member  `json:"members"` // without the lead; in the order they joined
	Tasks    []Task    `json:"tasks"`   // in the order they were made
	Refusals []Refusal `json:"refusals,omitempty"`
}

// Member is a teammate. Its status shutdown means that the end was observed; an
// approval alone is only noted in Shutdown.
type Member struct {
	events.MemberInfo
	Shutdown          string `json:"shutdown,omitempty"` // requested, approved, rejected
	ShutdownRequestID string `json:"shutdownRequestId,omitempty"`
	SpawnID           string `json:"spawnToolUseId,omitempty"` // its own lines name this as their parent
}

// Task is a task of the team's list.
type Task = events.TaskInfo

// Refusal is a tool use that did nothing, with what was said about it.
type Refusal struct {
	ToolName  string `json:"toolName"`
	ToolUseID string `json:"toolUseId"`
	Message   string `json:"message"`
}

// known tells whether t is a team and not just a list of tasks.
func (t *Team) known() bool { return t != nil && t.Name != "" }

// local is the name that is meant by a name or an address, such as builder@alpha.
func (t *Team) local(name string) string {
	if !t.known() {
		return name
	}
	return cmp.Or(strings.TrimSuffix(name, "@"+t.Name), name)
}

// Member returns the member that is meant by a name or an address, or nil.
func (t *Team) Member(name string) *Member {
	if t == nil || name == "" {
		return nil
	}
	name = t.local(name)
	return first(t.Members, func(m Member) bool { return m.Name == name })
}

// first returns the first of a list that is as wanted, or nil.
func first[T any](list []T, wanted func(T) bool) *T {
	if i := slices.IndexFunc(list, wanted); i >= 0 {
		return &list[i]
	}
	return nil
}

// Task returns the task with that id, or nil.
func (t *Team) Task(id string) *Task {
	if t == nil || id == "" {
		return nil
	}
	return first(t.Tasks, func(k Task) bool { return k.ID == id })
}

// taskNear is Task for one that is probably at index i: lists of tasks are long,
// and change one by one.
func (t *Team) taskNear(i int, id string) *Task {
	if t != nil && i < len(t.Tasks) && t.Tasks[i].ID == id {
		return &t.Tasks[i]
	}
	return t.Task(id)
}

// Names returns the names of the members, in the order they joined.
func (t *Team) Names() []string {
	names := []string{}
	if t != nil {
		for _, m := range t.Members {
			names = append(names, m.Name)
		}
	}
	return names
}

// spawnedBy returns the member whose spawn had that id, or nil.
func (t *Team) spawnedBy(toolUseID string) *Member {
	if t == nil || toolUseID == "" {
		return nil
	}
	return first(t.Members, func(m Member) bool { return m.SpawnID == toolUseID })
}

// clone returns a copy whose lists may be changed element by element.
func (t *Team) clone() *Team {
	if t == nil {
		return &Team{Role: RoleTeammate, Members: []Member{}, Tasks: []Task{}}
	}
	c := *t
	c.Members = slices.Clone(t.Members)
	c.Tasks = slices.Clone(t.Tasks)
	c.Refusals = slices.Clone(t.Refusals)
	return &c
}

// withMember returns t with the named member changed by f, or t itself if there
// is no such member or f changed nothing.
func (t *Team) withMember(name string, f func(*Member)) *Team {
	m := t.Member(name)
	if m == nil {
		return t
	}
	changed := *m
	f(&changed)
	if changed == *m {
		return t
	}
	c := t.clone()
	*c.Member(name) = changed
	return c
}

// withRefusal returns t with one refusal more.
func (t *Team) withRefusal(r Refusal) *Team {
	c := t.clone()
	c.Refusals = append(c.Refusals, r)
	if n := len(c.Refusals); n > maxRefusals {
		c.Refusals = slices.Clone(c.Refusals[n-maxRefusals:])
	}
	return c
}

func sameTask(a, b Task) bool {
	return a.ID == b.ID && a.Subject == b.Subject && a.Description == b.Description && a.Status == b.Status &&
		a.Owner == b.Owner && a.ActiveForm == b.ActiveForm &&
		slices.Equal(a.BlockedBy, b.BlockedBy) && slices.Equal(a.Blocks, b.Blocks)
}
