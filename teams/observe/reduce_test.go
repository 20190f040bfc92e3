package observe

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// correlated makes a use with its result.
func correlated(tool string, input, structured object, text string) Correlated {
	r := Result{ToolUseID: "tu", Text: text}
	if structured != nil {
		r.Fields = fields(json.RawMessage(encode(structured)))
	}
	return Correlated{ToolUse: ToolUse{ToolName: tool, ToolUseID: "tu", Input: json.RawMessage(encode(input))}, Result: r}
}

// alpha is a team with two members and two tasks.
func alpha() *Team {
	return &Team{Name: "alpha", Role: RoleLead,
		Members: []Member{
			{MemberInfo: events.MemberInfo{Name: "ann", AgentID: "ann@alpha", Status: events.StatusActive}, SpawnID: "spawn-ann"},
			{MemberInfo: events.MemberInfo{Name: "bob", AgentID: "bob@alpha", Status: events.StatusIdle}, SpawnID: "spawn-bob"},
		},
		Tasks: []Task{
			{ID: "1", Subject: "one", Status: pending, BlockedBy: []string{}, Blocks: []string{}},
			{ID: "2", Subject: "two", Status: inProgress, Owner: "ann", BlockedBy: []string{}, Blocks: []string{}},
		}}
}

const alphaText = "alpha/lead ann:active bob:idle #1:pending #2:in_progress@ann"

// transitions is the table of what each tool does to the state, refusals and odd
// results included. from nil is no team.
func transitions() []struct {
	name string
	from *Team
	use  Correlated
	want string
} {
	ok := object{"success": true}
	approve := func(id string) object { return object{"type": "shutdown_response", "request_id": id, "approve": true} }
	return []struct {
		name string
		from *Team
		use  Correlated
		want string
	}{
		{"create", nil, correlated("TeamCreate", object{"team_name": "x"}, object{"team_name": "x"}, ""), "x/lead"},
		{"create, named by the result", nil, correlated("TeamCreate", object{"team_name": "x"}, object{"team_name": "x-2"}, ""), "x-2/lead"},
		{"create, bare result", nil, correlated("TeamCreate", object{"team_name": "x"}, nil, "ok"), "x/lead"},
		{"create while there is one", alpha(), correlated("TeamCreate", object{"team_name": "x"}, ok, ""), alphaText},
		{"create refused", nil, correlated("TeamCreate", object{"team_name": "x"}, nil, `Already leading team "y"`), "none"},
		{"delete", alpha(), correlated("TeamDelete", object{}, object{"success": true, "team_name": "alpha"}, ""), "none"},
		{"delete, named in words", alpha(), correlated("TeamDelete", object{}, object{"success": true, "message": `Cleaned up team "alpha"`}, ""), "none"},
		{"delete, bare result", alpha(), correlated("TeamDelete", object{}, nil, "done"), "none"},
		{"delete names none", alpha(), correlated("TeamDelete", object{}, ok, ""), "none"},
		{"delete names another in words", alpha(), correlated("TeamDelete", object{}, object{"success": true, "message": `Cleaned up team "beta"`}, ""), alphaText},
		{"delete did nothing", alpha(), correlated("TeamDelete", object{}, object{"success": true, "message": "No team name found, nothing to clean up"}, ""), alphaText},
		{"delete says nothing to do", alpha(), correlated("TeamDelete", object{}, nil, "Nothing to clean up"), alphaText},
		{"delete of another team", alpha(), correlated("TeamDelete", object{}, object{"team_name": "beta"}, ""), alphaText},
		{"delete refused", alpha(), correlated("TeamDelete", object{}, object{"success": false, "team_name": "alpha"}, ""), alphaText},
		{"delete without a team", nil, correlated("TeamDelete", object{}, object{"success": true, "team_name": "alpha"}, ""), "none"},
		{"spawn", alpha(), correlated("Task", object{"team_name": "alpha", "name": "cid"}, object{"status": "teammate_spawned", "team_name": "alpha", "name": "cid"}, ""),
			"alpha/lead ann:active bob:idle cid:active #1:pending #2:in_progress@ann"},
		{"spawn, bare result", alpha(), correlated("Task", object{"team_name": "alpha", "name": "cid"}, nil, "ok"),
			"alpha/lead ann:active bob:idle cid:active #1:pending #2:in_progress@ann"},
		{"spawn again", alpha(), correlated("Task", object{"team_name": "alpha", "name": "bob"}, object{"team_name": "alpha"}, ""), alphaText},
		{"newer spawn, told in lines", nil, correlated("Agent", object{"name": "cid"}, nil, "Spawned successfully.\nagent_id: cid@session-00c0ffee\nname: cid\n"),
			"session-00c0ffee/lead cid:active"},
		{"newer spawn of a subagent", alpha(), correlated("Agent", object{"name": "cid"}, object{"status": "async_launched", "agentId": "a1"}, ""), alphaText},
		{"newer spawn, nothing said", alpha(), correlated("Agent", object{"name": "cid"}, nil, "42"), alphaText},
		{"first spawn of another's team", nil, correlated("Task", object{"team_name": "beta", "name": "cid"}, object{"team_name": "beta"}, ""), "beta/teammate cid:active"},
		{"spawn into another team", alpha(), correlated("Agent", object{"name": "cid"}, object{"team_name": "beta"}, ""), alphaText},
		{"task", alpha(), correlated("TaskCreate", object{"subject": "s"}, object{"task": object{"id": "3"}}, ""), alphaText + " #3:pending"},
		{"task, id in words", alpha(), correlated("TaskCreate", object{"subject": "s"}, nil, "Task #3 created successfully: s"), alphaText + " #3:pending"},
		{"task, id as field", alpha(), correlated("TaskCreate", object{"subject": "s"}, object{"taskId": 3}, ""), alphaText + " #3:pending"},
		{"task, id alone", alpha(), correlated("TaskCreate", object{"subject": "s"}, nil, " 3 "), alphaText + " #3:pending"},
		{"task without an id", alpha(), correlated("TaskCreate", object{"subject": "s"}, ok, "fine"), alphaText},
		{"task that is there", alpha(), correlated("TaskCreate", object{"subject": "s"}, object{"task": object{"id": "1"}}, ""), alphaText},
		{"claim", alpha(), correlated("TaskUpdate", object{"taskId": "1", "status": inProgress, "owner": "bob"}, ok, ""),
			"alpha/lead ann:active bob:active #1:in_progress@bob #2:in_progress@ann"},
		{"complete", alpha(), correlated("TaskUpdate", object{"taskId": "2", "status": completed}, ok, ""), "alpha/lead ann:active bob:idle #1:pending #2:completed@ann"},
		{"give back", alpha(), correlated("TaskUpdate", object{"taskId": "2", "status": pending, "owner": nil}, ok, ""), "alpha/lead ann:active bob:idle #1:pending #2:pending"},
		{"unknown task", alpha(), correlated("TaskUpdate", object{"taskId": "9", "status": completed}, ok, ""), alphaText},
		{"unknown status", alpha(), correlated("TaskUpdate", object{"taskId": "1", "status": "resolved"}, ok, ""), alphaText},
		{"id as a number", alpha(), correlated("TaskUpdate", object{"taskId": 2, "status": completed}, ok, ""), "alpha/lead ann:active bob:idle #1:pending #2:completed@ann"},
		{"get", alpha(), correlated("TaskGet", object{"taskId": "1"}, object{"task": object{"id": "1", "status": completed}}, ""), alphaText},
		{"list", alpha(), correlated("TaskList", object{}, object{"tasks": []any{}}, ""), alphaText},
		{"message", alpha(), correlated("SendMessage", object{"type": "message", "recipient": "ann", "content": "c"}, ok, ""), alphaText},
		{"broadcast", alpha(), correlated("SendMessage", object{"type": "broadcast", "content": "c"}, ok, ""), alphaText},
		{"shutdown asked", alpha(), correlated("SendMessage", object{"type": "shutdown_request", "recipient": "ann"}, object{"request_id": "r"}, ""),
			"alpha/lead ann:active(requested) bob:idle #1:pending #2:in_progress@ann"},
		{"shutdown approved", alpha(), correlated("SendMessage", approve("shutdown-1@bob"), ok, ""), "alpha/lead ann:active bob:shutdown(approved) #1:pending #2:in_progress@ann"},
		{"shutdown approved by nobody we know", alpha(), correlated("SendMessage", approve("shutdown-1@eve"), ok, ""), alphaText},
		{"shutdown approved, nobody named", alpha(), correlated("SendMessage", approve("r"), ok, ""), alphaText},
		{"shutdown refused", alpha(), correlated("SendMessage", object{"to": "team-lead", "message": object{"type": "shutdown_response", "request_id": "x@ann", "approve": false}}, ok, ""),
			"alpha/lead ann:active(rejected) bob:idle #1:pending #2:in_progress@ann"},
		{"shutdown refused beside a yes", alpha(), correlated("SendMessage", object{"to": "team-lead", "message": object{"type": "shutdown_response", "request_id": "x@ann", "approve": true, "approved": false}}, ok, ""),
			"alpha/lead ann:active(rejected) bob:idle #1:pending #2:in_progress@ann"},
		{"plan request", alpha(), correlated("SendMessage", object{"type": "plan_approval_request", "content": "p"}, ok, ""), alphaText},
		{"plan response", alpha(), correlated("SendMessage", object{"type": "plan_approval_response", "recipient": "ann", "approve": true}, ok, ""), alphaText},
		{"message without a team", nil, correlated("SendMessage", object{"type": "shutdown_request", "recipient": "ann"}, ok, ""), "none"},
		{"no tool of ours", alpha(), correlated("TeamRename", object{}, ok, ""), alphaText},
		{"success:false", alpha(), correlated("TaskUpdate", object{"taskId": "1", "status": completed}, object{"success": false}, ""), alphaText},
		{"refused in words", alpha(), correlated("TaskUpdate", object{"taskId": "1", "status": completed}, nil, "Task not found"), alphaText},
	}
}

func TestO06_Transitions(t *testing.T) {
	for _, c := range transitions() {
		t.Run(c.name, func(t *testing.T) {
			if got := short(Reduce(c.from, c.use)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
		t.Run(c.name+", flagged as an error", func(t *testing.T) {
			failed := c.use
			failed.Result.IsError = true
			if got := Reduce(c.from, failed); got != c.from {
				t.Errorf("got %s", short(got))
			}
		})
	}
}

// Every transition twice is the transition once; and the state before is left as
// it was.
func TestO07_Idempotent(t *testing.T) {
	for _, c := range transitions() {
		before := encode(c.from)
		once := Reduce(c.from, c.use)
		if encode(c.from) != before {
			t.Errorf("%s: changed the state it was given", c.name)
		}
		if twice := Reduce(once, c.use); !reflect.DeepEqual(once, twice) {
			t.Errorf("%s: once %s, twice %s", c.name, short(once), short(twice))
		}
	}
}

func TestO08_Role(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"created here", create("c", "a"), "a/lead"},
		{"only spawned into", spawn("s", "a", "ann"), "a/teammate ann:active"},
		{"created after all", join(spawn("s", "a", "ann"), create("c", "a")), "a/lead ann:active"},
		{"another one created", join(spawn("s", "a", "ann"), create("c", "b")), "a/teammate ann:active"},
		{"own implicit team", []string{use("s", "Agent", object{"name": "ann"}), result("s", "", object{
			"status": "teammate_spawned", "team_name": "session-0123abcd", "name": "ann"})}, "session-0123abcd/lead ann:active"},
		{"teammate's transcript", []string{`{"type":"assistant","teamName":"a","agentName":"ann","message":{"content":[{"type":"tool_use","id":"t","name":"TaskList","input":{}}]}}`},
			"a/teammate ann:active"},
	} {
		t.Run(c.name, func(t *testing.T) { seen(c.lines...).is(t, c.want) })
	}
}

func TestO09_DeletedAndLinks(t *testing.T) {
	w := seen(join(create("c", "a"), task("1", "1"), task("2", "2"), task("3", "3"))...)
	w.feed(update("u1", "2", object{"addBlockedBy": []any{"1", 3}})...).is(t, "a/lead #1:pending>2 #2:pending<1,3 #3:pending>2")
	w.feed(update("u2", "2", object{"addBlockedBy": []any{"1"}})...).is(t, "a/lead #1:pending>2 #2:pending<1,3 #3:pending>2")
	w.feed(update("u3", "1", object{"addBlocks": []any{"3"}})...).is(t, "a/lead #1:pending>2,3 #2:pending<1,3 #3:pending<1>2")
	w.feed(update("u4", "2", object{"blockedBy": []any{"3"}})...).is(t, "a/lead #1:pending>3 #2:pending<3 #3:pending<1>2")
	w.feed(update("u5", "3", object{"status": "deleted"})...).is(t, "a/lead #1:pending #2:pending")
	last := w.events[len(w.events)-3].Data.(*events.Task).Task
	if last.ID != "3" || last.Status != "deleted" {
		t.Errorf("told %+v", last)
	}
	w.feed(update("u6", "1", object{"addBlocks": []any{"2"}})...)
	w.feed(update("u7", "2", object{"addBlocks": []any{"1"}})...).is(t, "a/lead #1:pending<2>2 #2:pending<1>1") // cycles are theirs to judge
	w.feed(update("u8", "1", object{"subject": "other", "description": "more", "activeForm": "doing"})...)
	if k := w.state.Team.Task("1"); k.Subject != "other" || k.Description != "more" || k.ActiveForm != "doing" {
		t.Errorf("task %+v", k)
	}
	w.feed(update("u9", "1", object{"owner": "x"})...).feed(update("u10", "1", object{"owner": "y"})...)
	if k := w.state.Team.Task("1"); k.Owner != "y" {
		t.Errorf("last write: owner %s", k.Owner)
	}
}

// An agent whose lines carry the spawn as their parent is known by it.
func TestActor(t *testing.T) {
	w := seen(join(create("c", "a"), spawn("s1", "a", "ann"), spawn("s2", "a", "bob"), task("1", "1"))...)
	for _, l := range update("u1", "1", object{"status": inProgress}) {
		w.feed(by("s2", l))
	}
	w.is(t, "a/lead ann:active bob:active #1:in_progress@bob")
	for _, l := range send("m1", object{"to": "ann", "message": "hi"}, object{"success": true}) {
		w.feed(by("s2", l))
	}
	for _, l := range send("m2", object{"type": "shutdown_response", "request_id": "r", "approve": "true"}, object{"success": true}) {
		w.feed(by("s2", l))
	}
	w.is(t, "a/lead ann:active bob:shutdown(approved) #1:in_progress@bob")
	w.told(t, "created member:joined(ann) member:joined(bob) task:created task:claimed(bob) message:sent(bob) shutdown:response(bob) member:shutdown(bob)")
}

// With nobody named, the only one that was asked is meant; with two, nobody is.
func TestResponder(t *testing.T) {
	answer := correlated("SendMessage", object{"type": "shutdown_response", "approve": true}, object{"success": true}, "")
	ask := func(name string) Correlated {
		return correlated("SendMessage", object{"to": name, "message": object{"type": "shutdown_request"}}, object{"request_id": "r"}, "")
	}
	one := Reduce(alpha(), ask("ann"))
	if got := Reduce(one, answer).Member("ann").Status; got != events.StatusShutdown {
		t.Errorf("ann is %s", got)
	}
	two := Reduce(one, ask("bob"))
	if got := Reduce(two, answer); got != two {
		t.Errorf("guessed: %s", short(got))
	}
}
