package observe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// mail is one message that was shown to the observed agent. The client puts each
// into a user's text between <teammate-message …> tags.
type mail struct {
	from    string
	summary string
	spoofed bool // marked verified="false": worth its words, not a frame
	text    string
	frame   *rawjson.Object // of a structured message; nil for words
}

func (m mail) field(names ...string) string {
	for _, name := range names {
		if m.frame == nil {
			break
		}
		if raw, _ := m.frame.Get(name); scalar(raw) != "" {
			return scalar(raw)
		}
	}
	return ""
}

func (m mail) requestID() string { return m.field(rawjson.RequestKeys()...) }

// readMails returns the mails in a user's text.
func readMails(text string) []mail {
	const opening, closing = "<teammate-message ", "</teammate-message>"
	var mails []mail
	for {
		_, rest, ok := strings.Cut(text, opening)
		if !ok {
			return mails
		}
		tag, rest, ok := strings.Cut(rest, ">")
		if !ok {
			return mails
		}
		body, after, ok := strings.Cut(rest, closing)
		if !ok {
			return mails
		}
		text = after
		m := mail{
			from: attribute(tag, "teammate_id"), summary: attribute(tag, "summary"), spoofed: attribute(tag, "verified") == "false",
			text: strings.TrimSpace(body),
		}
		if !m.spoofed {
			m.frame = frame(m.text)
		}
		mails = append(mails, m)
	}
}

// attribute returns the value of name="…" in a tag.
func attribute(tag, name string) string {
	_, rest, ok := strings.Cut(" "+tag, " "+name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// frame reads a structured message; newer clients add advice behind it. One that names two
// requests is only words.
func frame(text string) *rawjson.Object {
	var head json.RawMessage
	if !strings.HasPrefix(text, "{") || json.NewDecoder(strings.NewReader(text)).Decode(&head) != nil {
		return nil
	}
	f, err := rawjson.ParseObject(head)
	if err != nil || (mail{frame: f}).field("type") == "" {
		return nil
	}
	id := ""
	for _, raw := range f.All(rawjson.RequestKeys()...) {
		named := scalar(raw)
		if named != "" && id != "" && named != id {
			return nil
		}
		id = cmp.Or(id, named)
	}
	return f
}

// in is the mail as it counts in a team: one that speaks for somebody other than its sender is
// only words.
func (m mail) in(t *Team) mail {
	for _, key := range []string{"from", "agent_id", "workerName", "assignedBy"} {
		if named := m.field(key); named != "" && t.local(named) != t.local(m.from) {
			m.frame = nil
		}
	}
	return m
}

// receive returns what the team is after a mail was shown to self ("" is the
// lead). Like Reduce it is pure.
func receive(t *Team, m mail, self string) *Team {
	switch m.field("type") {
	case "idle_notification":
		return t.withMember(m.from, func(member *Member) {
			if member.Status == events.StatusActive {
				member.Status = events.StatusIdle
			}
		})
	case "shutdown_request":
		return t.withMember(self, func(member *Member) {
			member.Shutdown, member.ShutdownRequestID = shutdownAsked, m.requestID()
		})
	case "shutdown_approved", "shutdown_rejected", "shutdown_response":
		if m.agrees() {
			return answered(t, m, shutdownApproved)
		}
		return answered(t, m, shutdownRejected)
	case "teammate_terminated":
		return terminated(t, m)
	}
	return t
}

// agrees tells whether an answer to a request to stop is a yes: what says no in any spelling,
// or nothing, is none.
func (m mail) agrees() bool {
	kind := m.field("type")
	return kind != "shutdown_rejected" && agrees(m.frame, kind == "shutdown_approved")
}

// answered notes an answer to the request that is open. An approval is a claim:
// the member counts until its end was observed.
func answered(t *Team, m mail, answer string) *Team {
	if !answers(t, m) {
		return t
	}
	return t.withMember(m.from, func(member *Member) { member.Shutdown = answer })
}

// answers tells whether m answers the member's open request, or one that was
// made where we did not see it.
func answers(t *Team, m mail) bool {
	member := t.Member(m.from)
	return member != nil && (member.ShutdownRequestID == "" || member.ShutdownRequestID == m.requestID())
}

// terminated notes an end that the client itself observed, and the tasks that it
// says became free.
func terminated(t *Team, m mail) *Team {
	words := m.field("message")
	name, rest, ok := strings.Cut(words, " has shut down")
	if m.from != "system" || !ok {
		return t
	}
	t = t.withMember(name, func(member *Member) { member.Status = events.StatusShutdown })
	for _, part := range strings.Split(rest, "#")[1:] {
		k := t.Task(digits(part))
		if k == nil || k.Owner != name || k.Status == completed {
			continue
		}
		t = t.clone()
		free := t.Task(digits(part))
		free.Owner, free.Status = "", pending
	}
	return t
}

// mails takes the mail that was shown to the session in a user's line.
func (t *Tracker) mails(l Line, line []byte) {
	var list []mail
	for _, text := range l.Texts {
		list = append(list, readMails(text)...)
	}
	if len(list) == 0 {
		return
	}
	id := mailID(l, line)
	if t.state.Applied.Has(id) {
		return
	}
	t.state.Applied.add(id)
	t.step.Dirty = true
	self := t.by(l)
	if self == "" {
		return
	}
	for _, m := range list {
		m = m.in(t.state.Team)
		now := receive(t.state.Team, m, self)
		t.tell(heard(t.state.Team, m, self))
		t.become(now, m.field("completedTaskId"))
	}
}

// mailID names a line of mail, which has no tool_use id to know a replay by: its
// uuid serves, or else its content.
func mailID(l Line, line []byte) string {
	if l.UUID != "" {
		return "mail:" + l.UUID
	}
	h := fnv.New64a()
	_, _ = h.Write(trim(line))
	return fmt.Sprintf("mail:%016x", h.Sum64())
}
