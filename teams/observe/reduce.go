package observe

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// Reduce returns what the team is after a tool was used. It is pure: t is not
// changed, and is itself returned where nothing changed. nil is no team. Applied
// twice in a row a use changes nothing the second time; a use that was refused
// changes nothing at all.
func Reduce(t *Team, c Correlated) *Team {
	if _, refused := c.Result.refused(); refused {
		return t
	}
	reduce := map[string]func(*Team, Correlated) *Team{
		"TeamCreate":  createTeam,
		"TeamDelete":  deleteTeam,
		"Task":        addMember,
		"Agent":       addMember,
		"TaskCreate":  addTask,
		"TaskUpdate":  updateTask,
		"SendMessage": sendMessage,
	}[c.ToolName]
	if reduce == nil {
		return t // TaskList and TaskGet only read
	}
	return reduce(t, c)
}

// newTeam is a team that was just heard of, with the tasks it brings along.
func newTeam(name, role string, tasks []Task) *Team {
	if tasks == nil {
		tasks = []Task{}
	}
	return &Team{Name: name, Role: role, Members: []Member{}, Tasks: tasks}
}

func createTeam(t *Team, c Correlated) *Team {
	name := cmp.Or(c.Result.field("team_name"), scalar(c.input()["team_name"])) // the result names the team, not the request
	if !t.known() {
		return newTeam(name, RoleLead, nil)
	}
	if t.Role == RoleLead || !sameTeam(t.Name, name) {
		return t
	}
	lead := t.clone()
	lead.Role = RoleLead
	return lead
}

func deleteTeam(t *Team, c Correlated) *Team {
	if t.known() && c.deletes(t.Name) {
		return nil
	}
	return t
}

// addMember adds the teammate a spawn started. In a stream without TeamCreate
// the first one also makes the team known; its session leads if the team is its
// own implicit one, and else counts as a teammate. A member that had ended and is
// started again is the same member, active.
func addMember(t *Team, c Correlated) *Team {
	team, ok := c.spawned()
	if !ok {
		return t
	}
	in := c.input()
	m := Member{SpawnID: c.ToolUseID, MemberInfo: events.MemberInfo{
		Name:       cmp.Or(c.Result.field("name"), c.Result.line("name"), scalar(in["name"])),
		AgentType:  cmp.Or(c.Result.field("agent_type"), scalar(in["subagent_type"]), "general-purpose"),
		Status:     events.StatusActive,
		Model:      cmp.Or(c.Result.field("model"), scalar(in["model"])),
		Color:      c.Result.field("color"),
		TmuxPaneID: c.Result.field("tmux_pane_id"),
	}}
	m.AgentID = cmp.Or(c.agentID(), m.Name+"@"+team)
	switch {
	case !t.known():
		role := RoleTeammate
		if implied(team) {
			role = RoleLead
		}
		t = newTeam(team, role, t.clone().Tasks)
	case !sameTeam(t.Name, team):
		return t // one session has one team: a teammate of another does not end it
	}
	if old := t.Member(m.Name); old != nil && old.Status != events.StatusShutdown {
		return t
	} else if old != nil {
		return t.withMember(m.Name, func(old *Member) { *old = m })
	}
	joined := t.clone()
	joined.Members = append(joined.Members, m)
	return joined
}

func addTask(t *Team, c Correlated) *Team {
	id := c.Result.taskID()
	if id == "" || t.Task(id) != nil {
		return t
	}
	in := c.input()
	grown := t.clone()
	grown.Tasks = append(grown.Tasks, Task{
		ID: id, Subject: scalar(in["subject"]), Description: scalar(in["description"]), ActiveForm: scalar(in["activeForm"]),
		Status: pending, Owner: t.local(scalar(in["owner"])), BlockedBy: []string{}, Blocks: []string{},
	})
	return grown
}

func updateTask(t *Team, c Correlated) *Team {
	in := c.input()
	old := t.Task(scalar(in["taskId"]))
	if old == nil || cmp.Or(c.Result.field("taskId"), old.ID) != old.ID {
		return t
	}
	status := cmp.Or(scalar(c.Result.object("statusChange")["to"]), scalar(in["status"]))
	if status == deleted && c.Result.changed("deleted", "status") {
		return withoutTask(t, old.ID)
	}
	next := *old
	for name, field := range map[string]*string{
		"subject": &next.Subject, "description": &next.Description, "activeForm": &next.ActiveForm, "owner": &next.Owner,
	} {
		if raw, ok := in[name]; ok {
			*field = scalar(raw)
		}
	}
	next.Owner = t.local(next.Owner)
	if status == pending || status == inProgress || status == completed {
		next.Status = status
	}
	if by := actor(t, c.ToolUse); next.Status == inProgress && old.Status != inProgress && next.Owner == "" {
		next.Owner = by // the client does the same for a teammate that starts an unowned task
	}
	next.BlockedBy = links(old.BlockedBy, in, "blockedBy", "addBlockedBy")
	next.Blocks = links(old.Blocks, in, "blocks", "addBlocks")
	if sameTask(*old, next) {
		return t
	}
	changed := t.clone()
	*changed.Task(next.ID) = next
	mirror(changed, next)
	if m := changed.Member(next.Owner); m != nil && next.Status == inProgress && m.Status == events.StatusIdle {
		m.Status = events.StatusActive
	}
	return changed
}

// links returns a task's blockers: as set, with those that are added.
func links(old []string, in map[string]json.RawMessage, set, add string) []string {
	out := old
	if raw, ok := in[set]; ok {
		out = ids(raw)
	}
	for _, id := range ids(in[add]) {
		if !slices.Contains(out, id) {
			out = append(slices.Clip(out), id)
		}
	}
	return out
}

// ids reads a list of ids, which may be strings or numbers.
func ids(raw json.RawMessage) []string {
	out := []string{}
	for _, item := range items(raw) {
		if id := scalar(item); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// mirror keeps the two directions of a dependency in step, as the client does.
// t is ours to change.
func mirror(t *Team, k Task) {
	for i := range t.Tasks {
		o := &t.Tasks[i]
		if o.ID == k.ID {
			continue
		}
		o.Blocks = with(o.Blocks, k.ID, slices.Contains(k.BlockedBy, o.ID))
		o.BlockedBy = with(o.BlockedBy, k.ID, slices.Contains(k.Blocks, o.ID))
	}
}

// with returns list with id in it, or without it. list is not changed.
func with(list []string, id string, in bool) []string {
	i := slices.Index(list, id)
	switch {
	case in && i < 0:
		return append(slices.Clip(list), id)
	case !in && i >= 0:
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	return list
}

// withoutTask removes a task and frees those it blocked. Its id is never used
// again by the client.
func withoutTask(t *Team, id string) *Team {
	c := t.clone()
	c.Tasks = slices.DeleteFunc(c.Tasks, func(k Task) bool { return k.ID == id })
	mirror(c, Task{ID: id})
	return c
}

// sendMessage knows what mail does to the state: a request to shut down is
// noted, an approval by the member itself ends it.
func sendMessage(t *Team, c Correlated) *Team {
	m := readMail(c)
	switch m.kind {
	case "shutdown_request":
		id := cmp.Or(c.Result.field(rawjson.RequestKeys()...), m.requestID)
		return t.withMember(m.to, func(member *Member) {
			if member.Status != events.StatusShutdown {
				member.Shutdown, member.ShutdownRequestID = shutdownAsked, id
			}
		})
	case "shutdown_response":
		return t.withMember(responder(t, c.ToolUse, m), func(member *Member) {
			member.Shutdown = shutdownRejected
			if m.approve {
				member.Status, member.Shutdown = events.StatusShutdown, shutdownApproved
			}
		})
	}
	return t
}

// outgoing is the input of SendMessage, of either generation.
type outgoing struct {
	kind, to, content, summary, requestID string
	approve                               bool
}

func readMail(c Correlated) outgoing {
	in := c.input()
	body, raw := in, c.Input
	if inner := fields(in["message"]); inner != nil {
		body, raw = inner, in["message"] // newer: the structured part is the message itself
	}
	answer, _ := rawjson.ParseObject(raw) // of what is no object nothing is read
	m := outgoing{
		kind:    cmp.Or(scalar(body["type"]), scalar(in["type"]), "message"),
		to:      cmp.Or(scalar(in["recipient"]), scalar(in["to"])),
		content: cmp.Or(scalar(in["content"]), scalar(in["message"]), scalar(body["reason"]), scalar(body["feedback"]), scalar(body["plan"])),
		summary: scalar(in["summary"]),
		approve: agrees(answer, false),
	}
	for _, key := range rawjson.RequestKeys() {
		m.requestID = cmp.Or(m.requestID, scalar(body[key]))
	}
	if m.kind == "broadcast" || m.to == "*" {
		m.kind, m.to = "message", ""
	}
	return m
}

// yes reads a boolean, also one that was written as text.
func yes(raw json.RawMessage) bool {
	return string(raw) == "true" || scalar(raw) == "true"
}

// agrees tells whether an answer that says yes, or not yet, says yes in one spelling and in
// none anything else, however often it says it.
func agrees(answer *rawjson.Object, said bool) bool {
	if answer == nil {
		return said
	}
	no := func(raw json.RawMessage) bool { return !yes(raw) }
	for _, key := range []string{"approve", "approved"} {
		last, has := answer.Get(key)
		if has && no(last) || slices.ContainsFunc(answer.All(key), no) {
			return false
		}
		said = said || has
	}
	return said
}

// speaker returns who used a tool in a session whose own name is self if it said so: a
// teammate, the session itself, or "" for nobody who is known.
func speaker(t *Team, u ToolUse, self string) string {
	if name := actor(t, u); name != "" || u.ParentID != "" || u.Sidechain {
		return name
	}
	if self == "" && t.known() && t.Role == RoleLead {
		return leadName
	}
	return self
}

// actor returns the teammate that used the tool, or "" for the main agent and for one of
// which nothing is known.
func actor(t *Team, u ToolUse) string {
	if u.Agent != "" {
		return u.Agent
	}
	if m := t.spawnedBy(u.ParentID); m != nil {
		return m.Name
	}
	return ""
}

// responder returns the member that answers a request to shut down: who acts,
// else whom the request's id names (shutdown-<ms>@<name>), else the only one that
// was asked. No guess beyond that.
func responder(t *Team, u ToolUse, m outgoing) string {
	if name := actor(t, u); name != "" {
		return name
	}
	if _, name, ok := strings.Cut(m.requestID, "@"); ok {
		return name
	}
	var asked []string
	for _, member := range t.clone().Members {
		if member.Shutdown == shutdownAsked {
			asked = append(asked, member.Name)
		}
	}
	if len(asked) == 1 {
		return asked[0]
	}
	return ""
}
