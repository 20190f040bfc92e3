package observe

import (
	"cmp"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// notice is an event before it gets its number and its time.
type notice struct {
	what   events.Type
	kind   string
	member string
	data   events.Data
}

// changes returns what happened between two states of the team, told in the order
// in which it makes sense: the team, its members, its tasks. doneTask is the task
// a member completed before it fell idle, if one did.
func changes(old, now *Team, doneTask string) []notice {
	var out []notice
	if !now.known() {
		if old.known() {
			out = append(out, notice{events.TeamDeleted, events.KindTeamDeleted, "", &events.Team{TeamName: old.Name, Role: old.Role}})
		}
		return out // what happens to tasks without a team is nobody's business yet
	}
	if !old.known() || !sameTeam(old.Name, now.Name) {
		old = nil
		out = append(out, notice{events.TeamCreated, events.KindTeamCreated, "", &events.Team{TeamName: now.Name, Role: now.Role}})
	}
	for _, m := range now.Members {
		if n, ok := memberChange(old.Member(m.Name), m, doneTask); ok {
			out = append(out, n)
		}
	}
	return append(out, taskChanges(old, now)...)
}

func memberChange(old *Member, m Member, doneTask string) (notice, bool) {
	data := &events.Member{Member: m.MemberInfo}
	switch {
	case old != nil && old.Status == m.Status:
		return notice{}, false
	case m.Status == events.StatusShutdown:
		return notice{events.MemberShutdown, events.KindMemberLeft, m.Name, data}, true
	case m.Status == events.StatusIdle:
		return notice{events.MemberIdle, events.KindIdle, m.Name, &events.Idle{From: m.Name, CompletedTaskID: doneTask, Member: m.MemberInfo}}, true
	case old == nil || old.Status == events.StatusShutdown:
		return notice{events.MemberJoined, events.KindMemberJoined, m.Name, data}, true
	}
	return notice{events.MemberActive, events.KindMemberActive, m.Name, data}, true
}

func taskChanges(old, now *Team) []notice {
	var gone, out []notice
	tell := func(what events.Type, kind string, k Task) notice {
		return notice{what, kind, k.Owner, &events.Task{Task: k}}
	}
	kept := 0
	for i, k := range now.Tasks {
		was := old.taskNear(i, k.ID)
		if was != nil {
			kept++
		}
		switch {
		case was == nil:
			out = append(out, tell(events.TaskCreated, events.KindTaskCreated, k))
		case sameTask(*was, k):
		case k.Status == completed && was.Status != completed:
			out = append(out, tell(events.TaskCompleted, events.KindTaskCompleted, k))
		case k.Status == inProgress && (was.Status != inProgress || k.Owner != was.Owner && k.Owner != ""):
			out = append(out, tell(events.TaskClaimed, events.KindTaskClaimed, k))
		default:
			out = append(out, tell(events.TaskUpdated, events.KindTaskUpdated, k))
		}
	}
	if old == nil || kept == len(old.Tasks) {
		return out
	}
	for _, k := range old.Tasks {
		if now.Task(k.ID) == nil {
			k.Status = deleted
			gone = append(gone, tell(events.TaskUpdated, events.KindTaskUpdated, k))
		}
	}
	return append(gone, out...) // first what left, then whom that freed
}

// spoken returns the event of a SendMessage that was not refused. t is the team
// before it, self the session's own name if it said so. A session that is not known to
// lead and has no name sends without one, and so does an agent of which nothing is known.
func spoken(t *Team, c Correlated, self string) []notice {
	if c.ToolName != "SendMessage" || !t.known() {
		return nil
	}
	m := readMail(c)
	m.to = t.local(m.to)
	from := t.local(cmp.Or(c.Result.sender(), speaker(t, c.ToolUse, self)))
	id := cmp.Or(c.Result.field(rawjson.RequestKeys()...), m.requestID)
	switch m.kind {
	case "message":
		return []notice{{events.MessageSent, events.KindMessage, from, &events.Message{From: from, To: m.to, Content: m.content, Summary: m.summary}}}
	case "shutdown_request":
		return []notice{{events.ShutdownRequested, events.KindShutdownAsk, m.to, &events.ShutdownAsk{From: from, To: m.to, RequestID: id, Reason: m.content}}}
	case "shutdown_response":
		from = t.local(cmp.Or(responder(t, c.ToolUse, m), from))
		return []notice{{events.ShutdownResponse, events.KindShutdownAnswer, from, &events.ShutdownAnswer{From: from, Member: from, RequestID: id, Approved: m.approve, Reason: m.content}}}
	case "plan_approval_request":
		return []notice{{events.PlanRequested, events.KindPlanAsk, from, &events.PlanAsk{From: from, To: cmp.Or(m.to, leadName), RequestID: id, Plan: m.content}}}
	case "plan_approval_response":
		return []notice{{events.PlanResolved, events.KindPlanAnswer, m.to, &events.PlanAnswer{From: from, To: m.to, RequestID: id, Approved: m.approve, Feedback: m.content}}}
	}
	return nil
}

// sender returns who the client says has sent a message.
func (r Result) sender() string { return scalar(r.object("routing")["sender"]) }

// heard returns the event of a mail that was shown to self. t is the team before
// it.
func heard(t *Team, m mail, self string) []notice {
	if !t.known() || m.from == "" {
		return nil
	}
	self, m.from = cmp.Or(self, leadName), t.local(m.from)
	id := m.requestID()
	switch kind := m.field("type"); kind {
	case "idle_notification", "task_assignment", "teammate_terminated":
		return nil // told by the state, if it changed
	case "shutdown_request":
		return []notice{{events.ShutdownRequested, events.KindShutdownAsk, self, &events.ShutdownAsk{From: m.from, To: self, RequestID: id, Reason: m.field("reason")}}}
	case "shutdown_approved", "shutdown_rejected", "shutdown_response":
		if !answers(t, m) {
			break // an answer to nothing that was asked is only words
		}
		return []notice{{events.ShutdownResponse, events.KindShutdownAnswer, m.from, &events.ShutdownAnswer{From: m.from, Member: m.from, RequestID: id,
			Approved: m.agrees(), Reason: m.field("reason", "feedback")}}}
	case "plan_approval_request":
		return []notice{{events.PlanRequested, events.KindPlanAsk, m.from, &events.PlanAsk{From: m.from, To: self, RequestID: id, Plan: m.field("planContent", "plan")}}}
	case "plan_approval_response":
		return []notice{{events.PlanResolved, events.KindPlanAnswer, self, &events.PlanAnswer{From: m.from, To: self, RequestID: id,
			Approved: agrees(m.frame, false), Feedback: m.field("feedback")}}}
	case "permission_request":
		if member := t.Member(m.from); member != nil {
			return []notice{{events.MemberWaiting, events.KindMemberWaiting, m.from, &events.Member{Member: member.MemberInfo, Reason: m.field("description"),
				ToolName: m.field("tool_name"), ToolUseID: m.field("tool_use_id")}}}
		}
	}
	return []notice{{events.MessageReceived, events.KindMessage, m.from, &events.Message{From: m.from, To: self, Content: m.text, Summary: m.summary}}}
}
