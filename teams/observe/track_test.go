package observe

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/events"
)

func TestO10_Supplements(t *testing.T) {
	input := object{"subject": "a <b> & c", "description": "d"}
	original := strings.ReplaceAll(use("tu_1", "TaskCreate", input), `\u003c`, "<")
	answered := result("tu_1", "Task #1 created successfully: x", object{"task": object{"id": "1"}})
	stream := original + "\n" + said("nothing of a team") + "\n" + answered + "\n"
	out, _ := observed(t, []byte(stream), EmitMessages)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 5 || lines[0] != original || lines[2] != said("nothing of a team") || lines[3] != answered {
		t.Fatalf("originals are not as they were:\n%s", out)
	}
	var m Message
	if err := json.Unmarshal([]byte(lines[1]), &m); err != nil {
		t.Fatal(err)
	}
	if m.Type != TaskUpdate || m.Role != "system" || m.SessionID != "S1" || m.Metadata.ToolName != "TaskCreate" ||
		m.Metadata.TeamToolUseID != "tu_1" || m.Metadata.Result != nil || !strings.Contains(lines[1], `"subject":"a <b`) {
		t.Errorf("after the use: %s", lines[1])
	}
	if err := json.Unmarshal([]byte(lines[4]), &m); err != nil {
		t.Fatal(err)
	}
	if m.Type != TaskUpdate || m.Metadata.TeamToolUseID != "tu_1" || string(m.Metadata.ToolUseResult) != `{"task":{"id":"1"}}` ||
		!strings.Contains(string(m.Metadata.Result), `"tool_use_id":"tu_1"`) || m.Metadata.IsError {
		t.Errorf("after the result: %s", lines[4])
	}
}

func TestO11_OnlyTeamTools(t *testing.T) {
	w := seen(use("tu_1", "Bash", object{"command": "echo Task"}), result("tu_1", "Task", nil), result("tu_2", "ok", nil))
	if len(w.messages) != 0 || len(w.events) != 0 {
		t.Errorf("messages %v, events %v", w.messages, w.events)
	}
	w.feed(use("tu_3", "TeamDelete", object{}), failure("tu_3", "no"))
	if len(w.messages) != 2 || !w.messages[1].Metadata.IsError {
		t.Errorf("messages %+v", w.messages)
	}
}

func TestO12_Lifetime(t *testing.T) {
	w := seen(said("hello"))
	if w.state.View() != nil {
		t.Error("a team before it was created")
	}
	w.feed(task("0", "7")...)
	if w.state.View() != nil || len(w.events) != 0 || w.changes != 0 {
		t.Error("a task list is not a team")
	}
	w.feed(create("c", "a")...).is(t, "a/lead") // the session's own list is another one
	members := 0
	for _, lines := range [][]string{
		spawn("s1", "a", "ann"), task("1", "1"), spawn("s2", "a", "bob"), update("u1", "1", object{"status": completed}),
		send("m1", object{"type": "shutdown_response", "request_id": "x@ann", "approve": true}, object{"success": true}),
	} {
		w.feed(lines...)
		v := w.state.View()
		if len(v.Members) < members || len(v.Agents) != len(v.Members) || len(v.Tasks) > 1 {
			t.Fatalf("after %s: %s, agents %v", lines[0], encode(v), v.Agents)
		}
		members = len(v.Members)
	}
	w.is(t, "a/lead ann:shutdown(approved) bob:active #1:completed")
	w.feed(spawn("s3", "a", "ann")...).is(t, "a/lead ann:active bob:active #1:completed") // hired again
	w.feed(disband("d", "a")...)
	if w.state.View() != nil || w.state.Team != nil {
		t.Error("a team after it was deleted")
	}
}

// Tasks that were made before the first spawn named the team come along.
func TestO12_TasksBeforeTheTeam(t *testing.T) {
	w := seen(join(task("1", "1"), update("u", "1", object{"owner": "ann"}),
		[]string{use("s", "Agent", object{"name": "ann"}), result("s", "", object{"status": "teammate_spawned", "team_name": "session-0123abcd"})})...)
	w.is(t, "session-0123abcd/lead ann:active #1:pending@ann")
	w.told(t, "created member:joined(ann) task:created(ann)")
}

func TestO14_Events(t *testing.T) {
	w := seen(join(
		[]string{said("before")},
		create("c", "a"), spawn("s", "a", "ann"), task("1", "1"), task("2", "2"),
		update("u1", "1", object{"owner": "ann"}),
		update("u2", "1", object{"status": inProgress}),
		update("u3", "1", object{"status": completed}),
		[]string{said("next")},
		update("u4", "2", object{"status": inProgress, "owner": "ann"}),
		send("m1", object{"type": "message", "recipient": "ann", "content": "c", "summary": "s"}, object{"success": true}),
		send("m2", object{"to": "*", "message": "all"}, object{"success": true}),
		send("m3", object{"to": "ann", "message": "lost"}, object{"success": false}),
		disband("d", "a"),
	)...)
	w.told(t, "created member:joined(ann) task:created task:created task:updated(ann) task:claimed(ann) task:completed(ann) "+
		"member:idle(ann) member:active(ann) task:claimed(ann) message:sent(team-lead) message:sent(team-lead) deleted")
	for i, e := range w.events {
		if e.Seq != uint64(i+1) || e.Team != "a" || !e.At.IsZero() {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	for i, want := range map[int]events.Data{
		0: &events.Team{Head: events.Head{Type: "team_created", SessionID: "S1"}, TeamName: "a", Role: "lead"},
		7: &events.Idle{Head: events.Head{Type: "idle", SessionID: "S1"}, From: "ann", CompletedTaskID: "1", Member: events.MemberInfo{
			Name: "ann", AgentID: "ann@a", AgentType: "general-purpose", Status: "idle"}},
		10: &events.Message{Head: events.Head{Type: "message", SessionID: "S1"}, From: "team-lead", To: "ann", Content: "c", Summary: "s"},
		11: &events.Message{Head: events.Head{Type: "message", SessionID: "S1"}, From: "team-lead", Content: "all"},
	} {
		if got := w.events[i].Data; encode(got) != encode(want) {
			t.Errorf("event %d: %s, want %s", i, encode(got), encode(want))
		}
	}
}

func TestO14_NoneForOtherSessions(t *testing.T) {
	w := seen(join(
		[]string{said(`we talk of "Task and "TeamCreate`), use("b", "Bash", object{"command": "ls"}), result("b", "x", nil)},
		[]string{use("s", "Task", object{"description": "d", "prompt": "p"}), result("s", "report", nil)},
		task("1", "1"), update("u", "1", object{"status": completed}),
		[]string{mailed("m", "ann", "hi"), use("a", "Agent", object{"name": "x"}), result("a", "", object{"status": "async_launched"})},
	)...).close()
	if len(w.events) != 0 || w.changes != 0 {
		t.Errorf("events %s, %d changes", w.names(), w.changes)
	}
	w.warned(t)
}

func TestO14_Time(t *testing.T) {
	at := func(line, stamp string) string { return strings.Replace(line, "{", `{"timestamp":"`+stamp+`",`, 1) }
	lines := create("c", "a")
	w := seen(lines[0], at(lines[1], "2026-11-27T22:01:48.685Z"))
	if b := encode(w.events[0]); !strings.Contains(b, `"at":"2026-11-27T22:01:48.685Z"`) {
		t.Errorf("event %s", b)
	}
	w.feed(join(spawn("s", "a", "ann"), task("1", "1"), update("u", "1", object{"status": completed, "owner": "ann"}))...)
	w.feed(at(said("next"), "2026-11-27T22:02:00.000Z"))
	if e := w.events[len(w.events)-1]; e.Type != events.MemberIdle || e.At.Second() != 0 || e.At.Minute() != 2 {
		t.Errorf("event %+v", e)
	}
}

func TestO15_Idle(t *testing.T) {
	start := join(create("c", "a"), spawn("s1", "a", "ann"), spawn("s2", "a", "bob"), task("1", "1"), task("2", "2"),
		update("u1", "1", object{"status": inProgress, "owner": "ann"}))
	finish := object{"taskId": "1", "status": completed}
	next := object{"taskId": "2", "status": inProgress, "owner": "ann"}
	for _, c := range []struct {
		name  string
		lines []string
		idle  bool
	}{
		{"nothing more", update("u2", "1", object{"status": completed}), true},
		{"words", append(update("u2", "1", object{"status": completed}), said("well")), true},
		{"the turn ends", append(update("u2", "1", object{"status": completed}), `{"type":"result"}`), true},
		{"takes the next in one message", []string{
			uses(block("u2", "TaskUpdate", finish), block("u3", "TaskUpdate", next)), result("u2", "Updated task #1", nil), result("u3", "Updated task #2", nil), said("on")}, false},
		{"takes the next one, results together", []string{
			uses(block("u2", "TaskUpdate", finish), block("u3", "TaskUpdate", next)),
			encode(object{"type": "user", "message": object{"content": []any{answer("u2", "Updated task #1"), answer("u3", "Updated task #2")}}}), said("on")}, false},
		{"takes the next in the next message", join(update("u2", "1", object{"status": completed}), update("u3", "2", object{"status": inProgress, "owner": "ann"}),
			[]string{said("on")}), false},
		{"fails to take the next", append(update("u2", "1", object{"status": completed}), use("u3", "TaskUpdate", next), failure("u3", "taken"), said("on")), true},
		{"somebody else takes it", join(update("u2", "1", object{"status": completed}), update("u3", "2", object{"status": inProgress, "owner": "bob"})), true},
		{"by itself", []string{by("s1", use("u2", "TaskUpdate", finish)), by("s1", result("u2", "Updated task #1", nil)),
			by("s1", use("u3", "TaskUpdate", object{"taskId": "2", "status": inProgress})), by("s1", result("u3", "Updated task #2", nil))}, false},
		{"other lines do not count", append(update("u2", "1", object{"status": completed}), `{"type":"system","subtype":"task_progress"}`, "noise",
			use("u3", "TaskUpdate", next), result("u3", "Updated task #2", nil)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := seen(start...).feed(c.lines...).close()
			idle := strings.Contains(w.names(), "member:idle(ann)")
			if idle != c.idle || idle != (w.state.Team.Member("ann").Status == events.StatusIdle) {
				t.Errorf("idle %v: %s, %s", idle, w.names(), short(w.state.Team))
			}
		})
	}
}

// A replayed start of a task does not keep its member from being idle.
func TestO15_ReplayedStart(t *testing.T) {
	started := update("u1", "1", object{"status": inProgress, "owner": "ann"})
	w := seen(join(create("c", "a"), spawn("s", "a", "ann"), task("t", "1"), started, update("u2", "1", object{"status": completed}))...)
	if w.feed(started[0]); !strings.HasSuffix(w.names(), "member:idle(ann)") {
		t.Errorf("events %s", w.names())
	}
}

func TestO18_PlanAndShutdown(t *testing.T) {
	w := seen(join(create("c", "a"), spawn("s", "a", "ann"),
		send("m1", object{"type": "plan_approval_request", "recipient": "team-lead", "request_id": "p1", "content": "the plan"}, object{"success": true}),
		send("m2", object{"to": "ann", "message": object{"type": "plan_approval_response", "request_id": "p1", "approve": true, "feedback": "good"}}, object{"success": true}),
		send("m3", object{"type": "plan_approval_response", "recipient": "ann", "request_id": "p2", "approve": false, "content": "no"}, object{"success": true}),
		send("m4", object{"type": "shutdown_request", "recipient": "ann", "content": "end"}, object{"success": true, "request_id": "shutdown-1@ann"}),
		send("m5", object{"type": "shutdown_response", "request_id": "shutdown-1@ann", "approve": false, "content": "busy"}, object{"success": true}),
		send("m6", object{"type": "shutdown_response", "request_id": "shutdown-2@ann", "approve": true}, object{"success": true}),
		send("m7", object{"type": "a_newer_kind", "recipient": "ann"}, object{"success": true}),
	)...)
	w.told(t, "created member:joined(ann) plan:requested(team-lead) plan:resolved(ann) plan:resolved(ann) shutdown:requested(ann) "+
		"shutdown:response(ann) shutdown:response(ann) member:shutdown(ann)")
	for i, want := range map[int]events.Data{
		2: &events.PlanAsk{Head: events.Head{Type: "plan_approval_request", SessionID: "S1"}, From: "team-lead", To: "team-lead", RequestID: "p1", Plan: "the plan"},
		3: &events.PlanAnswer{Head: events.Head{Type: "plan_approval_response", SessionID: "S1"}, From: "team-lead", To: "ann", RequestID: "p1", Approved: true, Feedback: "good"},
		4: &events.PlanAnswer{Head: events.Head{Type: "plan_approval_response", SessionID: "S1"}, From: "team-lead", To: "ann", RequestID: "p2", Feedback: "no"},
		5: &events.ShutdownAsk{Head: events.Head{Type: "shutdown_request", SessionID: "S1"}, From: "team-lead", To: "ann", RequestID: "shutdown-1@ann", Reason: "end"},
		6: &events.ShutdownAnswer{Head: events.Head{Type: "shutdown_response", SessionID: "S1"}, From: "ann", Member: "ann", RequestID: "shutdown-1@ann", Reason: "busy"},
		7: &events.ShutdownAnswer{Head: events.Head{Type: "shutdown_response", SessionID: "S1"}, From: "ann", Member: "ann", RequestID: "shutdown-2@ann", Approved: true},
	} {
		if got := w.events[i].Data; encode(got) != encode(want) {
			t.Errorf("event %d: %s, want %s", i, encode(got), encode(want))
		}
	}
}

func TestO18_ByMail(t *testing.T) {
	w := seen(join(create("c", "a"), spawn("s", "a", "ann"), task("1", "1"), update("u", "1", object{"owner": "ann", "status": inProgress}))...)
	w.feed(
		mailed("1", "ann", `{"type":"plan_approval_request","from":"ann","requestId":"p","planContent":"the plan"}`),
		mailed("2", "ann", `{"type":"plan_approval_response","requestId":"p","approved":true,"feedback":"f"}`),
		mailed("3", "ann", `{"type":"permission_request","request_id":"q","tool_name":"Bash","tool_use_id":"t","description":"run"}`),
		mailed("4", "ann", `{"type":"idle_notification","from":"ann"}`),
		mailed("5", "ann", `{"type":"shutdown_approved","from":"ann","requestId":"never asked"}`),
		mailed("6", "system", `{"type":"teammate_terminated","message":"ann has shut down. 1 task(s) were unassigned: #1 \"Piece 1\"."}`),
		mailed("6", "system", `{"type":"teammate_terminated","message":"ann has shut down."}`),
		mailed("7", "bob", `{"type":"shutdown_approved","from":"ann"}`), // speaks for somebody else
		mailed("8", "ann", `plain words`), mailed("9", "ann", `{"no":"type"}`), mailed("10", "eve", `{"type":"permission_request"}`),
	)
	w.told(t, "created member:joined(ann) task:created task:claimed(ann) plan:requested(ann) plan:resolved(team-lead) member:waiting(ann) "+
		"member:idle(ann) shutdown:response(ann) member:shutdown(ann) task:updated message:received(bob) message:received(ann) "+
		"message:received(ann) message:received(eve)")
	w.is(t, "a/lead ann:shutdown(approved) #1:pending")
}

// An answer to another request than the open one, and a mail the client itself
// does not believe, are only words.
func TestO18_AnswersThatAreNone(t *testing.T) {
	w := seen(join(create("c", "a"), spawn("s", "a", "ann"),
		send("m", object{"type": "shutdown_request", "recipient": "ann"}, object{"request_id": "r2"}))...)
	approved := `{"type":"shutdown_approved","from":"ann","requestId":"r1"}`
	w.feed(mailed("1", "ann", approved), strings.Replace(mailed("2", "ann", strings.Replace(approved, "r1", "r2", 1)), `\u003e\n`, ` verified=\"false\"\u003e\n`, 1))
	w.is(t, "a/lead ann:active(requested)")
	w.told(t, "created member:joined(ann) shutdown:requested(ann) message:received(ann) message:received(ann)")
	w.feed(mailed("3", "ann", strings.Replace(approved, "r1", "r2", 1))).is(t, "a/lead ann:active(approved)")
}

// A teammate's own transcript: it is asked, and answers.
func TestO18_Teammate(t *testing.T) {
	mine := func(line string) string { return strings.Replace(line, "{", `{"teamName":"a","agentName":"ann",`, 1) }
	w := seen(mine(mailed("1", "team-lead", `{"type":"shutdown_request","requestId":"r","from":"team-lead","reason":"end"}`+"\n\nadvice")))
	w.is(t, "a/teammate ann:active(requested)")
	for _, l := range send("m", object{"type": "shutdown_response", "request_id": "r", "approve": true}, object{"success": true}) {
		w.feed(mine(l))
	}
	w.is(t, "a/teammate ann:shutdown(approved)")
	w.told(t, "created member:joined(ann) shutdown:requested(ann) shutdown:response(ann) member:shutdown(ann)")
}

func TestO19_Agents(t *testing.T) {
	initial := `{"type":"system","subtype":"init","session_id":"S1","agents":["Explore","Plan"]}`
	w := seen(initial)
	if encode(w.state.Agents) != `["Explore","Plan"]` {
		t.Errorf("before: %v", w.state.Agents)
	}
	w.feed(create("c", "a")...).feed(initial)
	if encode(w.state.Agents) != `[]` {
		t.Errorf("with an empty team: %v", w.state.Agents)
	}
	w.feed(spawn("s", "a", "ann")...).feed(initial)
	if encode(w.state.Agents) != `["ann"]` {
		t.Errorf("with a team: %v", w.state.Agents)
	}
	w.feed(disband("d", "a")...).feed(initial)
	if encode(w.state.Agents) != `[]` {
		t.Errorf("after: %v", w.state.Agents)
	}
}

func TestHK08_OpenToolUseIsNotIdle(t *testing.T) {
	_, stream := archive(t, "s26-pending-permission")
	w := seen(strings.Split(strings.TrimSpace(string(stream)), "\n")...)
	w.hold()
	before := len(w.events)
	w.take(w.Quiet(10 * time.Second))
	if len(w.events) != before+1 {
		t.Fatalf("events %s", w.names())
	}
	e := w.events[before]
	d := e.Data.(*events.Member)
	if e.Type != events.MemberWaiting || e.Member != "team-lead" || d.ToolName != "Bash" || d.ToolUseID != "tu_9" || !strings.Contains(d.Reason, "10s") {
		t.Errorf("event %s", encode(e))
	}
	w.feed(result("tu_9", "done", nil)).feed(said("on"))
	if !strings.HasSuffix(w.names(), "member:waiting(team-lead) member:active(team-lead)") || strings.Contains(w.names(), "idle") {
		t.Errorf("events %s", w.names())
	}
	if w.hold(); w.last != nil {
		w.take(w.Quiet(time.Second))
	}
	if !strings.HasSuffix(w.names(), "member:active(team-lead)") {
		t.Errorf("words wait for nobody: %s", w.names())
	}
	w.feed(spawn("s", "alpha", "ann")...).feed(by("s", use("x", "Bash", object{})))
	w.hold()
	w.take(w.Quiet(time.Second))
	if e := w.events[len(w.events)-1]; e.Type != events.MemberWaiting || e.Member != "ann" {
		t.Errorf("event %s", encode(e))
	}
	if s := seen(use("x", "Bash", object{})).Quiet(time.Second); len(s.Events) != 0 {
		t.Error("a session without a team waits")
	}
}

func TestTD02_StoppingIsStillActive(t *testing.T) {
	_, stream := archive(t, "s21-shutdown")
	lines := strings.Split(strings.TrimSpace(string(stream)), "\n")
	w := seen(lines[:9]...)
	if m := w.state.Team.Member("builder"); m.Status != events.StatusActive || m.Shutdown != shutdownAsked {
		t.Errorf("asked: %+v", m)
	}
	w.feed(lines[9:]...)
	if m := w.state.Team.Member("builder"); m.Status != events.StatusActive || m.Shutdown != shutdownApproved {
		t.Errorf("approved: %+v", m)
	}
	w.feed(use("d", "TeamDelete", object{}), result("d", `{"success":false,"message":"1 active member"}`, nil))
	if !w.state.Team.known() || len(w.state.Team.Refusals) != 1 {
		t.Errorf("state %s", encode(w.state.Team))
	}
}
