// Package store is the contract of what a team remembers: its roster, its mail
// and its tasks. It holds the types, the rules for names and the three
// contracts; the implementations lie in the folders below, and storetest is the
// suite each of them passes.
//
// # Rules for every implementation
//
// All methods are safe for concurrent use, within one process and between
// processes. Every wait is bounded: a lock that cannot be had in time is
// fault.LockTimeout and names its holder. A nil error of a writing method means
// that the change is on disk (for stores on disk) and visible to every later
// read. A failing method changes nothing.
//
// A function given to an Update method gets a private copy and may run more than
// once; it must have no effect but on that copy. If it returns an error, nothing
// is written and that error is returned as it is.
//
// Fields that are not ours survive every rewrite, at every level, in the form in
// which they were found. A file that cannot be read is fault.CorruptFile with its
// path and offset, and its bytes are kept; other teams, boxes and tasks go on.
//
// Watch methods give hints, lists are the truth: a hint may be late, doubled or
// about nothing; after a hint, read again.
package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Lead is the name of every team's lead.
const Lead = "team-lead"

// Team is the roster of one team: what teams/<team>/config.json holds.
type Team struct {
	Name          string // the folder's name, which is the team's identity
	DisplayName   string // the file's own "name", where it differs from Name
	Description   string
	CreatedAt     time.Time
	LeadAgentID   string
	LeadSessionID string
	LeadProcess   *LeadProcess // nil: unknown, or a team without a lead process
	Members       []Member     // join order, lead first (if the file has a lead)
	Metadata      map[string]json.RawMessage
	Ours          Ours   // our part of the metadata
	Path          string // the roster's file or name, for messages
	Engine        string // address of the engine that keeps the team; "": files
	Warnings      []string
	Odd           []string                   // what is odd in the roster, though the rest of it counts
	Unknown       map[string]json.RawMessage // top-level fields we do not know, for display
}

// Ours is metadata.leadlight of a team: what only leadlight knows of it.
type Ours struct {
	Schema  int    `json:"schema,omitempty"`  // version of our part; 0: leadlight did not make this team
	Mailbox string `json:"mailbox,omitempty"` // "claude" or "maildir"; "" is claude
	Cwd     string `json:"cwd,omitempty"`     // default working folder of its teammates
	// Delegate: the lead coordinates only, and does no work itself.
	Delegate bool `json:"delegate,omitempty"`
	// Once: no other team will have the name. With the team its locks go, too.
	Once bool `json:"once,omitempty"`
	// Run is the id of the run that the team works for, "" if it works for none.
	Run string `json:"run,omitempty"`
	// File is the team file from which the team was made, as an absolute path.
	File string `json:"file,omitempty"`
	// Assign is the lifecycle.assign of that file: auto or off; "": as the settings say.
	Assign string `json:"assign,omitempty"`
	// Hooks: that file has hooks. Without their record nobody may pass.
	Hooks bool `json:"hooks,omitempty"`
	// Unstarted are the members of that file that the last up could not start. Until they are
	// started the team has not finished.
	Unstarted []string `json:"unstarted,omitempty"`
}

// Schema is the version of our part of a team that this program writes. A team
// that carries a newer one is fault.VersionTooNew and is left untouched.
const Schema = 1

// Mailbox layouts.
const (
	MailboxClaude  = "claude"
	MailboxMaildir = "maildir"
)

// LedByUs tells whether leadlight made this team and so leads it. A team that
// Claude Code made is read, joined and repaired, but its lead is not us.
func (t *Team) LedByUs() bool { return t.Ours.Schema > 0 }

// Member returns the member that is meant by a name or an address of this team, or
// nil. The pointer points into t. Of several entries with one name it is the first
// that has not ended, else the last.
func (t *Team) Member(name string) *Member {
	name = t.Local(name)
	var found *Member
	for i := range t.Members {
		if m := &t.Members[i]; SameName(m.Name, name) && (found == nil || found.ended()) {
			found = m
		}
	}
	return found
}

// Local is the name that is meant by a name or an address, such as builder@alpha.
func (t *Team) Local(name string) string { return LocalName(name, t.Name, t.DisplayName) }

// ended tells whether the entry says of itself that the member's work has ended.
func (m *Member) ended() bool {
	return m.Leadlight != nil && slices.Contains([]string{"stopped", "failed", "lost"}, m.Leadlight.State)
}

// Teammates returns the members that are not the lead. Of several entries with one name it
// is the one that Member means.
func (t *Team) Teammates() []Member {
	meant := make(map[string]int, len(t.Members))
	for i := range t.Members {
		name := LocalName(t.Members[i].Name)
		if j, again := meant[name]; !again || t.Members[j].ended() {
			meant[name] = i
		}
	}
	var out []Member
	for i, m := range t.Members {
		if meant[LocalName(m.Name)] == i && !t.IsLead(m) {
			out = append(out, m)
		}
	}
	return out
}

// IsLead tells whether m is the team's lead.
func (t *Team) IsLead(m Member) bool {
	return (t.LeadAgentID != "" && m.AgentID == t.LeadAgentID) || m.Name == Lead
}

// LeadProcess is the proof of the process that leads (Claude Code writes the
// same object from 2.1.312 on).
type LeadProcess struct {
	PID       int
	PIDSpace  string // "<hostname>#pid:[<inode of the pid namespace>]"
	ClaimedAt time.Time
	ProcStart string // start time of the process in clock ticks since boot, as text
}

// Member is one member of a team.
type Member struct {
	AgentID          string // "<name>@<team>"
	Name             string
	AgentType        string
	Model            string
	Prompt           string
	Color            string
	PlanModeRequired bool
	JoinedAt         time.Time
	TmuxPaneID       string // "%5", a session UUID, or a marker such as "in-process", "leader", ""
	BackendType      string // "tmux", "iterm2", "in-process", ...; unknown ones are kept verbatim
	Cwd              string
	Mode             string
	WorktreePath     string
	IsActive         *bool // nil: absent. Never liveness
	Metadata         map[string]json.RawMessage
	Leadlight        *Bookkeeping // nil: not a member we host
	Unsafe           bool         // its name may not be used as a file name or target: list it, never act on it
	Unknown          map[string]json.RawMessage
}

// Bookkeeping is the object "leadlight" that we add to a member we host.
type Bookkeeping struct {
	Host      string     `json:"host,omitempty"`    // id of its host
	Kind      string     `json:"kind,omitempty"`    // native, interactive, acp, worker, plain
	Profile   string     `json:"profile,omitempty"` // how its agent is run
	State     string     `json:"state,omitempty"`   // last written: starting active waiting idle stopping stopped failed lost
	ExitCode  *int       `json:"exitCode,omitempty"`
	Signal    string     `json:"signal,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	RunTask   bool       `json:"runTask,omitempty"` // obeys metadata.run of any task
	Run       string     `json:"run,omitempty"`     // the worker's command for tasks that bring none
	Restart   string     `json:"restart,omitempty"` // never, on-failure
	SpawnedAt *time.Time `json:"spawnedAt,omitempty"`
	StoppedAt *time.Time `json:"stoppedAt,omitempty"`
	Replaced  *Replaced  `json:"replaced,omitempty"`
	Machine   string     `json:"machine,omitempty"` // where its host runs, of a team on an engine
	// Foreign: this does not stand in the roster, which is another lead's, as the pane is;
	// it is known from how the host was launched.
	Foreign bool `json:"-"`
}

// Replaced is how often in a row a lost member was started again without being asked:
// it stands in the roster because several may watch a team, and none of them for ever.
type Replaced struct {
	Times   int       `json:"times"`
	At      time.Time `json:"at"`                // of the latest
	GivenUp bool      `json:"givenUp,omitempty"` // it is left alone now
}

// Message is one message in a mailbox.
type Message struct {
	ID        string // our own or the file's msg_id; derived from the content where the file has none
	From      string
	To        string // the mailbox's owner; not stored in Claude's layout
	Text      string // plain text, or a JSON document (a frame)
	Summary   string
	Timestamp time.Time
	Stamp     string // the timestamp as found, when it is not ours
	Color     string
	Read      bool
	Type      string                     // envelope type; "message" unless found otherwise
	Odd       []string                   // what is odd in it, though the rest counts
	Unknown   map[string]json.RawMessage // other fields, for display
}

// Roster keeps the teams and their members.
type Roster interface {
	// Create makes a new team: fault.TeamExists if there is one of that name,
	// even a damaged one.
	Create(ctx context.Context, t Team) error
	// Get returns one team: fault.TeamNotFound, fault.CorruptFile,
	// fault.VersionTooNew.
	Get(ctx context.Context, team string) (Team, error)
	// List returns every team's name, sorted, the unreadable ones included.
	List(ctx context.Context) ([]string, error)
	// Update changes one team. See the package comment for change.
	Update(ctx context.Context, team string, change func(*Team) error) error
	// Delete removes the team with its mail, its tasks and our own records of it
	// (locks stay). It follows no link: of a linked team it removes the link.
	Delete(ctx context.Context, team string) error
	// Remains lists what removals that were cut off have left, and the folders of teams
	// that have no roster.
	Remains(ctx context.Context) ([]Remain, error)
	// Watch hints that a roster may have changed, until ctx ends; the channel is
	// then closed. team "" watches all of them.
	Watch(ctx context.Context, team string) (<-chan struct{}, error)
}

// Remain is something that a removal has left, or a folder that may be one of a team.
type Remain struct {
	Team      string
	What, Why string
	Kept      string // why it cannot be removed: it is not known whether the team was
	Usual     bool   // each team leaves it, so nothing has gone wrong
	Remove    func(context.Context) error
}

// Mail keeps the mailboxes of a team's members.
type Mail interface {
	// Put appends m to the box of to and returns it with its id and timestamp.
	// nil means it is on disk. A damaged box is fault.CorruptFile and untouched.
	Put(ctx context.Context, team, to string, m Message) (Message, error)
	// List returns the box in the order of the file. A box that does not exist
	// is empty. What MarkRead has recorded is read, also if another program writes
	// the message again.
	List(ctx context.Context, team, owner string) ([]Message, error)
	// MarkRead records the messages as handed over: in the ledger first, then by
	// the read flag. Unknown ids are passed over.
	MarkRead(ctx context.Context, team, owner string, ids []string) error
	// Prune moves read messages, all but the newest keep, into the archive and
	// returns how many. Unread ones always stay.
	Prune(ctx context.Context, team, owner string, keep int) (int, error)
	// Archive moves the whole box into the archive (a new teammate takes the
	// name) and returns how many messages it held.
	Archive(ctx context.Context, team, owner string) (int, error)
	// Watch hints that the box may have changed, until ctx ends; the channel is
	// then closed. The first hint comes at once, so that nothing that was there
	// before is missed. The read that follows a hint may say so with AfterHint.
	Watch(ctx context.Context, team, owner string) (<-chan struct{}, error)
}

// Tasks keeps the task list of a team.
type Tasks interface {
	// Create stores t under a new id (t.ID is ignored), keeps Blocks and
	// BlockedBy mutual, and refuses dangling blockers (fault.TaskNotFound) and
	// cycles (fault.InvalidArgument).
	Create(ctx context.Context, team string, t Task) (Task, error)
	// Get returns one task: fault.TaskNotFound, fault.CorruptFile.
	Get(ctx context.Context, team, id string) (Task, error)
	// List returns the tasks in numeric order of their ids, without deleted and
	// internal ones, and warnings about files that could not be read and cycles
	// found. A list that does not exist is empty.
	List(ctx context.Context, team string) ([]Task, []string, error)
	// Update changes one task. A change of Blocks or BlockedBy is made mutual; one
	// that would close a cycle is refused. The status may not leave Pending while a
	// blocker is open (fault.TaskBlocked).
	Update(ctx context.Context, team, id string, change func(*Task) error) (Task, error)
	// Claim makes who the owner of the task id and sets it in progress, if it is
	// ready for who, as one compare-and-set: fault.TaskClaimed, fault.TaskBlocked.
	Claim(ctx context.Context, team, id, who string) (Task, error)
	// ClaimNext claims the first task that is ready for who: fault.NoTaskReady.
	ClaimNext(ctx context.Context, team, who string) (Task, error)
	// Delete removes a task and its id from the others' dependencies. The id is
	// never used again.
	Delete(ctx context.Context, team, id string) error
	// Watch hints that the list may have changed, as Mail.Watch.
	Watch(ctx context.Context, team string) (<-chan struct{}, error)
}

// Stores are the three of one place.
type Stores struct {
	Roster Roster
	Mail   Mail
	Tasks  Tasks
}

// Limits of what a store takes.
const (
	MaxMessage = 1 << 20  // bytes of a message's text
	MaxPrompt  = 10 << 20 // bytes of a teammate's first message
)
