package observe

import (
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// maxHeld bounds the copy of a line that hold makes.
const maxHeld = 1 << 20

// hold keeps the last message line, whose memory is about to be reused. Only one
// that uses a tool is of interest to Quiet.
func (t *Tracker) hold() {
	if t.lastBy != kindAssistant || len(t.last) > maxHeld {
		t.last = nil
		return
	}
	t.last = slices.Clone(t.last)
}

// Quiet says that a live stream has been silent for that long. If the last thing
// in it is a tool use without a result, its user waits, maybe for a person's
// leave: that is team:member:waiting, and never idle. Call it at most once in
// each silence.
func (t *Tracker) Quiet(silence time.Duration) Step {
	if t.last == nil || t.lastBy != kindAssistant || !t.state.Team.known() {
		return Step{}
	}
	l, err := Decode(t.last)
	if err != nil || len(l.Uses) == 0 {
		return Step{}
	}
	u := l.Uses[len(l.Uses)-1]
	name := t.by(l)
	if name == "" {
		return Step{}
	}
	m := t.describe(name)
	t.waits = m.Name
	t.tell([]notice{{events.MemberWaiting, events.KindMemberWaiting, m.Name, &events.Member{Member: m, ToolName: u.Name, ToolUseID: u.ID,
		Reason: u.Name + " has had no result for " + silence.String() + ": maybe a permission question",
	}}})
	return t.take()
}

// resume ends a wait: something was said again.
func (t *Tracker) resume() {
	if t.waits == "" {
		return
	}
	m := t.describe(t.waits)
	t.waits = ""
	t.tell([]notice{{events.MemberActive, events.KindMemberActive, m.Name, &events.Member{Member: m}}})
}

func (t *Tracker) describe(name string) events.MemberInfo {
	if m := t.state.Team.Member(name); m != nil {
		return m.MemberInfo
	}
	return events.MemberInfo{Name: name, AgentID: name + "@" + t.teamName(), Status: events.StatusActive}
}
