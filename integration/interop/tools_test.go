package interop_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// tools names a tool of leadlight mcp as Claude Code does.
func tools(name string, input object) move { return use("mcp__leadlight__"+name, input) }

// pats are profiles: the teammates of one answer a ping, those of the other hand in a
// plan when they are told to, and say so when it is approved.
func (r *rig) pats() {
	r.t.Helper()
	plain := func(script string) object { return object{"kind": "plain", "command": []string{"sh", "-c", script}} }
	conf, err := json.Marshal(object{"profiles": object{"pat": plain(pat), "planner": plain(planner)}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.write("home/leadlight/config.yaml", string(conf))
}

const planner = `while sleep 0.2; do
	mail=$(leadlight inbox --json)
	case "$mail" in
	*plan_approval_response*) [ "$agreed" ] || leadlight send team-lead "the plan is agreed" && agreed=yes ;;
	*"plan it"*) [ "$planned" ] || leadlight plan submit "1. read 2. write" && planned=yes ;;
	esac
done`

// life is a team led by tools from its making to its end, in three acts: with work of
// the lead's own in the first, and a plan that is approved in the second.
func (r *rig) life(team string, own ...move) (begin, plan, end []move) {
	kind := func(name string, more object) move {
		in := object{"type": name, "team_name": team}
		maps.Copy(in, more)
		return tools("SendMessage", in)
	}
	start := func(name, profile string) move {
		return tools("Task", object{"team_name": team, "name": name, "model": "default", "prompt": "Answer.", "subagent_type": profile})
	}
	stop := func(name string) move {
		return kind("shutdown_request", object{"recipient": name, "content": "that was all"})
	}
	begin = append([]move{
		tools("TeamCreate", object{"team_name": team, "description": "led by tools"}),
		tools("TaskCreate", object{"subject": "count the files"}),
		start("pat", "pat"), start("ray", "pat"), start("planner", "planner"),
	}, own...)
	plan = []move{
		kind("message", object{"recipient": "pat", "content": "ping from the lead", "summary": "ping"}),
		kind("broadcast", object{"content": "plan it", "summary": "plan"}),
		tools("WaitForEvents", object{"types": []string{"team:plan:requested"}, "timeout_seconds": 60}),
		tools("TeamStatus", object{}), approvePlan,
		tools("WaitForEvents", object{"timeout_seconds": 1}),
		r.when(team, "pong from pat", tools("ReadInbox", object{"from": "pat"})),
		r.when(team, "the plan is agreed", tools("ReadInbox", object{"from": "planner"})),
	}
	end = []move{
		tools("TeamDelete", object{"team_name": team}),
		stop("pat"), stop("ray"), stop("planner"),
		tools("TaskGet", object{"taskId": "1"}),
		tools("TeamDelete", object{"team_name": team}),
	}
	return begin, plan, end
}

// checkLife checks that the client was told of what it has done.
func (r *rig) checkLife(team string) {
	r.t.Helper()
	for _, told := range []string{
		team + "/config.json", `"state":"active"`, `"status":"pending"`, "pong from pat", "the plan is agreed",
		"ACTIVE_MEMBERS", `"outcome":"terminated"`, `"team_name":"` + team + `"}`,
	} {
		if !r.wasTold(told) {
			r.t.Errorf("the client was not told: %s", told)
		}
	}
	for _, left := range into[[]api.TeamSummary](r, "team", "ls", "--json") {
		if left.Name == team {
			r.t.Errorf("left: %+v", left)
		}
	}
}

// when waits, before it moves for the first time, until words have come to the lead of
// a team.
func (r *rig) when(team, words string, m move) move {
	var once sync.Once
	return func(q *request) []block {
		once.Do(func() {
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				data, err := os.ReadFile(r.path("home/.claude/teams", team, "inboxes/team-lead.json"))
				if err == nil && strings.Contains(string(data), words) {
					return
				}
			}
		})
		return m(q)
	}
}

// approvePlan approves the plan that the client was shown last.
func approvePlan(q *request) []block {
	for _, msg := range slices.Backward(q.Messages) {
		if found := planID().FindStringSubmatch(strings.Join(msg.Content, "\n")); found != nil {
			return tools("SendMessage", object{"type": "plan_approval_response", "request_id": found[1], "approve": true})(q)
		}
	}
	last := q.Messages[max(0, len(q.Messages)-3):] // what the tools have answered
	return text(fmt.Sprintf("No plan was shown in %q", last))(q)
}

var planID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(plan_approval-[^"]+)"`) })

// TestClaudeLeadsByTools gives Claude Code the tools of leadlight mcp, which install
// has named in its configuration, and lets it lead a team from its making to its end.
func TestClaudeLeadsByTools(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.pats()
		r.must("leadlight", "mcp", "install", "--client", "claude", "--write")
		begin, plan, end := r.life("by-tools")
		r.play("life", slices.Concat([]move{connecting("mcp__leadlight__TeamCreate")}, begin, plan, end, []move{text("The team has come to its end.")})...)
		out := r.must("env", r.variable("PATH"), "claude", "-p", "PLAY:life", "--allowedTools", "mcp__leadlight")
		if !strings.Contains(out, "come to its end") {
			t.Errorf("the client says %s", out)
		}
		r.checkLife("by-tools")
	})
}

// connecting is a model that thinks before it looks around, if the client does not offer a tool
// yet: one that is busy asks its model before it has connected to the server of its tools.
func connecting(name string) move {
	return func(q *request) []block {
		if _, offered := q.tool(name); !offered {
			time.Sleep(patience / 3)
		}
		return use("Read", object{"file_path": "/etc/hostname"})(q)
	}
}

// TestClaudeDelegatesByTools starts Claude Code with the tools and in delegate mode: it
// leads its team, is refused work of its own, and has that back once the mode is off.
func TestClaudeDelegatesByTools(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.home(object{"permissions": object{"defaultMode": "default", "allow": []string{"Bash(touch:*)", "mcp__leadlight"}}})
		r.pats()
		r.write("mcp.json", r.must("leadlight", "mcp", "install", "--client", "claude"))
		touch := func(name string) move { return use("Bash", object{"command": "touch " + name, "description": "touch"}) }
		begin, plan, end := r.life("by-tools", touch("lead"))
		r.play("begin", append(begin, text("The team is there."))...)
		r.play("work", append(append(plan, touch("again")), text("The plan is approved."))...)
		r.play("end", append(end, text("The team has come to its end."))...)

		lead := r.lead(r.bin, "claude", "--delegate", "--mcp-config", r.path("mcp.json"))
		r.shell = lead
		r.awaitTools(lead)
		r.say(lead, "PLAY:begin")
		r.eventually("the lead has been refused its own work", func() bool { return r.wasTold("delegate mode: the lead does not use Bash itself") })
		if r.there("lead") {
			t.Error("the lead has worked itself")
		}
		r.eventually("its turn is over", func() bool { return strings.Contains(r.screen(lead), "The team is there.") })
		r.must("leadlight", "team", "delegate", "off", "--team", "by-tools")
		r.say(lead, "PLAY:work")
		r.eventually("the lead may work itself", func() bool { return r.there("again") })
		r.say(lead, "PLAY:end")
		r.eventually("its turn is over", func() bool { return strings.Contains(r.screen(lead), "The team has come to its end.") })
		r.checkLife("by-tools")
		r.leave(lead)
	})
}

// awaitTools waits until the client offers the tools: it takes prompts before it has
// connected to their server.
func (r *rig) awaitTools(lead string) {
	r.t.Helper()
	for i := range 20 {
		answer := make(chan bool, 10)
		name := fmt.Sprintf("ask-%d", i)
		r.play(name, func(q *request) []block {
			_, offered := q.tool("mcp__leadlight__TeamCreate")
			answer <- offered
			return text(fmt.Sprintf("Answer %d.", i))(q)
		})
		r.say(lead, "PLAY:"+name)
		r.eventually("the client has asked", func() bool { return strings.Contains(r.screen(lead), fmt.Sprintf("Answer %d.", i)) })
		if <-answer {
			return
		}
	}
	r.t.Fatal("the client does not offer the tools")
}

// TestInspectorLeadsByTools lets the protocol's own inspector, which is no SDK of ours
// and starts a server for each call, lead a team.
func TestInspectorLeadsByTools(t *testing.T) {
	_, inspector := installed(t, "inspector")
	inspector = filepath.Join(inspector, "mcp-inspector")
	version, client := installed(t, "claude")
	r := newRig(t, version, client)
	r.pats()
	call := func(want, name string, args ...string) string {
		t.Helper()
		argv := []string{"env", r.variable("PATH"), inspector, "--cli", "env"} // newer ones hand on few variables by themselves
		for _, name := range []string{"XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"} {
			argv = append(argv, r.variable(name))
		}
		argv = append(argv, r.bin, "mcp", "--enable-teams", "--backend", "headless")
		if name == "" {
			argv = append(argv, "--method", "tools/list")
		} else {
			argv = append(argv, "--method", "tools/call", "--tool-name", name)
		}
		for _, arg := range args {
			argv = append(argv, "--tool-arg", arg)
		}
		out, errs, _ := r.run(argv...)
		if !strings.Contains(out, want) {
			t.Errorf("%s %q: no %s in\n%s%s", name, args, want, out, errs)
		}
		return out
	}
	call(`"WaitForEvents"`, "")
	call(`"success": true`, "TeamCreate", "team_name=inspected", "description=x")
	call("TEAM_EXISTS", "TeamCreate", "team_name=inspected", "description=x")
	call(`"id": "1"`, "TaskCreate", "subject=one", "team_name=inspected")
	for name, profile := range map[string]string{"pat": "pat", "ray": "pat", "planner": "planner"} {
		call(`"state": "active"`, "Task", "team_name=inspected", "name="+name, "model=default", "prompt=x", "subagent_type="+profile)
	}
	call(`"to": "pat"`, "SendMessage", "type=message", "team_name=inspected", "recipient=pat", "content=ping", "summary=ping")
	call(`"to": "ray"`, "SendMessage", "type=broadcast", "team_name=inspected", "content=plan it", "summary=plan")
	var plan []string
	r.eventually("the planner has handed in its plan", func() bool {
		plan = planID().FindStringSubmatch(call(`"team"`, "TeamStatus", "team_name=inspected"))
		return plan != nil
	})
	call(`"success": true`, "SendMessage", "type=plan_approval_response", "request_id="+plan[1], "approve=true")
	r.eventually("pat and the planner have answered", func() bool {
		mail := call("messages", "ReadInbox", "team_name=inspected", "all=true")
		return strings.Contains(mail, "pong from pat") && strings.Contains(mail, "the plan is agreed")
	})
	call("ACTIVE_MEMBERS", "TeamDelete", "team_name=inspected")
	for _, name := range []string{"pat", "ray", "planner"} {
		call(`"outcome": "terminated"`, "SendMessage", "type=shutdown_request", "team_name=inspected", "recipient="+name, "content=done")
	}
	call(`"success": true`, "TeamDelete", "team_name=inspected")
}
