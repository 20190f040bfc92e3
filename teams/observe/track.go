package observe

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// Step is what one line led to. Most lines lead to nothing: the zero Step.
type Step struct {
	Messages []Message
	Events   []events.Event
	Changed  bool // the view of the team is another one
	Dirty    bool // the state is another one, if only in its bookkeeping
	Warnings []Warning
}

// Stats counts what went by.
type Stats struct {
	Skipped int64 // lines that are not JSON objects; blank ones do not count
	Foreign int64 // objects of a type we do not know
	Expired int64 // uses that never got a result in time
}

// Tracker turns the lines of one session into team state, events and
// supplementary messages. It reads nothing and writes nothing. Not safe for
// concurrent use.
type Tracker struct {
	state   State
	open    *Buffer
	clock   func() time.Time
	stats   Stats
	step    Step
	at      time.Time // of the current line
	last    []byte    // the last message line, for Quiet; valid until hold or the next line
	lastBy  kind
	waits   string   // the member last said to be waiting
	strange []string // unknown tools that were told
}

// NewTracker goes on from a state, the zero one for a new session.
func NewTracker(s State) *Tracker { return newTracker(s, time.Now) }

func newTracker(s State, clock func() time.Time) *Tracker {
	t := &Tracker{state: s, open: new(Buffer), clock: clock}
	for _, o := range s.Open {
		t.open.Use(o.ToolUse, clock())
	}
	t.state.Open = nil // from here on they are the buffer's
	return t
}

// State returns the state after the last line. Nothing in it changes later.
func (t *Tracker) State() State {
	s := t.current()
	s.Open = slices.Clone(s.Open)
	s.Applied = NewApplied(s.Applied.ids...)
	return s
}

// current is State without copies: good until the next line.
func (t *Tracker) current() State {
	s := t.state
	s.Open = t.open.open
	return s
}

// Stats returns the counts so far.
func (t *Tracker) Stats() Stats { return t.stats }

// Line takes the next line, with or without its end. The line must stay as it is
// until the next call if that may be to Quiet.
func (t *Tracker) Line(line []byte) Step {
	if t.open.Pending() > 0 {
		t.expire()
	}
	for n := 0; len(line) > 0; n++ {
		if n == mostObjects {
			t.stats.Skipped++
			break
		}
		line = t.object(line)
	}
	return t.take()
}

// mostObjects bounds how many objects are looked for in a line: each costs a look at all of it.
const mostObjects = 100

// object takes the first object of a line, and returns what of it may be another one.
func (t *Tracker) object(line []byte) (rest []byte) {
	v, k := scan(line, t.open)
	if v == noise {
		line = shown(line)
		v, k = scan(line, t.open)
	}
	if k != kindAssistant && v > noise && v < wanted { // the scan of an assistant's line has seen all of it
		if i := joint(line); i > 0 {
			line, rest = line[:i], line[i:]
		}
	}
	if k == kindAssistant || k == kindUser || k == kindResult {
		t.last, t.lastBy = line, k
	}
	switch v {
	case noise:
		t.stats.Skipped++
	case foreign:
		t.stats.Foreign++
	case plain:
		if len(t.state.Done) > 0 || t.waits != "" {
			l, _ := Decode(line) // for its time
			t.at = l.At
			t.turn()
			t.at = time.Time{}
		}
	case wanted:
		return t.decode(line, k)
	}
	return rest
}

// take hands out the step that has gathered.
func (t *Tracker) take() Step {
	s := t.step
	t.step = Step{}
	return s
}

// decode is object for one that matters.
func (t *Tracker) decode(line []byte, k kind) (rest []byte) {
	l, err := Decode(line)
	if err != nil {
		line, rest = firstObject(line)
		l, err = Decode(line)
	}
	if err != nil {
		t.stats.Skipped++
		t.warn(slog.LevelWarn, "a line is not complete JSON and was skipped: %v", err)
		return rest
	}
	t.at = l.At
	t.session(l)
	t.children(l)
	uses, warnings := Recognize(l)
	t.step.Warnings = append(t.step.Warnings, t.firstOfEach(warnings)...)
	for _, u := range uses {
		t.use(l, u)
	}
	if k != kindSystem {
		t.turn()
	}
	for _, r := range l.Results {
		c, ok := t.open.Result(r)
		if !ok && !t.state.Applied.Has(r.ToolUseID) {
			c, ok = infer(l, r)
		}
		if ok {
			t.step.Messages = append(t.step.Messages, supplementResult(l, c))
			t.apply(c)
		}
	}
	if l.Type == "user" {
		t.mails(l, line)
	}
	t.at = time.Time{}
	return rest
}

// session takes what a line says of the session itself: its id, its agents, and,
// in a teammate's transcript, who it is.
func (t *Tracker) session(l Line) {
	t.enter(l.SessionID)
	if l.Type == "system" && l.Agents != nil && !t.state.Team.known() && !t.state.Ended && !slices.Equal(l.Agents, t.state.Agents) {
		t.state.Agents, t.step.Dirty = l.Agents, true
	}
	if l.TeamName == "" || l.AgentName == "" || t.state.Team.known() {
		return
	}
	t.state.Self = l.AgentName
	team := newTeam(l.TeamName, RoleTeammate, t.state.Team.clone().Tasks)
	team.Members = append(team.Members, Member{MemberInfo: events.MemberInfo{
		Name: l.AgentName, AgentID: l.AgentName + "@" + l.TeamName, Status: events.StatusActive}})
	t.become(team, "")
}

func (t *Tracker) use(l Line, u ToolUse) {
	t.step.Messages = append(t.step.Messages, supplement(l, u))
	if !t.state.Applied.Has(u.ToolUseID) { // a replay is nothing to save, and decides nothing
		t.step.Dirty = true
		t.state.Creates = t.state.Creates || u.ToolName == "TeamCreate" && !t.state.Team.known()
	}
	if n := t.open.Use(u, t.clock()); n > 0 {
		t.stats.Expired += int64(n)
		t.warn(slog.LevelWarn, "too many tool uses wait for a result; %d forgotten", n)
	}
}

// expire forgets the uses whose time is up. While a person is asked, time does not count.
func (t *Tracker) expire() {
	if t.waits != "" {
		return
	}
	if n := t.open.Flush(t.clock()); n > 0 {
		t.stats.Expired += int64(n)
		t.step.Dirty = true
		t.warn(slog.LevelWarn, "%d uses of team tools got no result within %s; what they did is not known", n, Life)
	}
}

// apply brings a use with its result into the state, once.
func (t *Tracker) apply(c Correlated) {
	if t.state.Applied.Has(c.ToolUseID) {
		return
	}
	t.state.Applied.add(c.ToolUseID)
	t.step.Dirty = true
	t.state.actsFor(&c.ToolUse) // only now: most spawns before it have their results
	old := t.state.Team
	if words, refused := c.Result.refused(); refused {
		t.refuse(c, words)
		return
	}
	t.tell(spoken(old, c, t.state.Self))
	now := Reduce(old, c)
	if now == old && c.ToolName == "TeamDelete" {
		t.refuse(c, c.Result.words())
		return
	}
	if other, ok := c.spawned(); ok && now == old && (c.ToolName == "Task" || c.ToolName == "Agent") && !sameTeam(old.Name, other) {
		t.warn(slog.LevelWarn, "%s %s starts a teammate of another team, %s; skipped", c.ToolName, c.ToolUseID, other)
	}
	if c.ToolName == "TaskCreate" && c.Result.taskID() == "" {
		t.warn(slog.LevelWarn, "TaskCreate %s: the result names no task; skipped", c.ToolUseID)
	}
	t.become(now, "")
	if c.ToolName == "TaskUpdate" {
		t.note(old, now, c)
	}
}

// refuse records a use that did nothing.
func (t *Tracker) refuse(c Correlated, words string) {
	level := slog.LevelWarn
	if !t.state.Team.known() {
		level = slog.LevelDebug // a session without a team has its tasks, too
	}
	t.warn(level, "%s %s did nothing: %s", c.ToolName, c.ToolUseID, words)
	if t.state.Team.known() {
		t.become(t.state.Team.withRefusal(Refusal{ToolName: c.ToolName, ToolUseID: c.ToolUseID, Message: words}), "")
	}
}

// become makes now the team and tells what is different.
func (t *Tracker) become(now *Team, doneTask string) {
	old := t.state.Team
	if now == old {
		return
	}
	if t.state.Creates && !old.known() && now.known() && now.Role != RoleLead {
		now = now.clone() // its creation was asked for first, and is answered later
		now.Role = RoleLead
	}
	t.state.Team = now
	t.step.Dirty = true
	t.tell(changes(old, now, doneTask))
	if old.known() || now.known() {
		t.step.Changed = true
		t.state.Agents = now.Names()
	}
	if old.known() && !now.known() {
		t.state.Done, t.state.Ended, t.state.Creates = nil, true, false
	}
}

func (t *Tracker) tell(notices []notice) {
	for _, n := range notices {
		t.state.Seq++
		n.data.Stamp(n.kind, t.state.SessionID)
		e := events.Event{Seq: t.state.Seq, At: t.at, Type: n.what, Member: n.member, Data: n.data}
		switch d := n.data.(type) {
		case *events.Team:
			e.Team = d.TeamName
		default:
			e.Team = t.teamName()
		}
		t.step.Events = append(t.step.Events, e)
		t.step.Dirty = true
	}
}

// note remembers who completed a task, and forgets it when they take another.
func (t *Tracker) note(old, now *Team, c Correlated) {
	id := scalar(c.input()["taskId"])
	was, is := old.Task(id), now.Task(id)
	if was == nil || is == nil || was.Status == is.Status {
		return
	}
	name := cmp.Or(is.Owner, actor(now, c.ToolUse))
	forget := func(d Done) bool { return d.Member == name }
	switch is.Status {
	case inProgress:
		t.state.Done = slices.DeleteFunc(slices.Clone(t.state.Done), forget)
	case completed:
		if m := now.Member(name); m != nil && m.Status == events.StatusActive {
			t.state.Done = append(slices.DeleteFunc(slices.Clone(t.state.Done), forget), Done{Member: name, TaskID: id})
		}
	}
}

// turn is called for every message: a member that completed a task and does not
// take another one in it is idle.
func (t *Tracker) turn() {
	t.resume()
	var still []Done
	for _, d := range t.state.Done {
		if t.taking(d.Member) {
			still = append(still, d)
			continue
		}
		t.idle(d)
	}
	if len(still) != len(t.state.Done) {
		t.state.Done, t.step.Dirty = still, true
	}
}

func (t *Tracker) idle(d Done) {
	t.become(t.state.Team.withMember(d.Member, func(m *Member) {
		if m.Status == events.StatusActive {
			m.Status = events.StatusIdle
		}
	}), d.TaskID)
}

// taking tells whether an open use has the member start a task.
func (t *Tracker) taking(member string) bool {
	for _, o := range t.open.open {
		if o.ToolName != "TaskUpdate" || t.state.Applied.Has(o.ToolUseID) {
			continue
		}
		in := o.input()
		if scalar(in["status"]) != inProgress {
			continue
		}
		owner := scalar(in["owner"])
		if k := t.state.Team.Task(scalar(in["taskId"])); owner == "" && k != nil {
			owner = k.Owner
		}
		t.state.actsFor(&o.ToolUse)
		if cmp.Or(owner, actor(t.state.Team, o.ToolUse)) == member {
			return true
		}
	}
	return false
}

// Close ends the stream: who completed a task and took no new one is idle, and who
// approved its own shutdown has ended. A session that ends so gets no result any more.
func (t *Tracker) Close() Step {
	t.last = nil
	for _, o := range slices.Clone(t.open.open) {
		c := Correlated{ToolUse: o.ToolUse, Result: Result{ToolUseID: o.ToolUseID}}
		if m := readMail(c); o.ToolName == "SendMessage" && m.kind == "shutdown_response" && m.approve {
			t.apply(c)
		}
	}
	for _, d := range t.state.Done {
		t.idle(d)
		t.step.Dirty = true
	}
	t.state.Done = nil
	return t.take()
}

func (t *Tracker) teamName() string {
	if t.state.Team == nil {
		return ""
	}
	return t.state.Team.Name
}

func (t *Tracker) warn(level slog.Level, format string, args ...any) {
	t.step.Warnings = append(t.step.Warnings, Warning{Level: level, Text: fmt.Sprintf(format, args...)})
}
