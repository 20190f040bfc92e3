package interop_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// tools names a tool of leadlight mcp as Claude Code does.
func tools(name string, input object) move { return use("mcp__leadlight__"+name, input) }

// pats is a profile whose teammates answer a ping.
func (r *rig) pats() {
	r.t.Helper()
	conf, err := json.Marshal(object{"profiles": object{"pat": object{"kind": "plain", "command": []string{"sh", "-c", pat}}}})
	if err == nil {
		err = os.MkdirAll(r.path("home/leadlight"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(r.path("home/leadlight/config.yaml"), conf, 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestClaudeLeadsByTools gives Claude Code the tools of leadlight mcp, which install
// has named in its configuration, and lets it lead a team from its making to its end.
func TestClaudeLeadsByTools(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.pats()
		r.must("leadlight", "mcp", "install", "--client", "claude", "--write")
		wait := tools("WaitForEvents", object{"timeout_seconds": 5})
		r.play("life",
			tools("TeamCreate", object{"team_name": "by-tools", "description": "led by tools"}),
			tools("TaskCreate", object{"subject": "count the files"}),
			tools("Task", object{"team_name": "by-tools", "name": "pat", "model": "default", "prompt": "Answer.", "subagent_type": "pat"}),
			tools("SendMessage", object{"type": "message", "team_name": "by-tools", "recipient": "pat", "content": "ping from the lead", "summary": "ping"}),
			wait, wait, tools("ReadInbox", object{"all": true}),
			tools("TeamDelete", object{"team_name": "by-tools"}),
			tools("SendMessage", object{"type": "shutdown_request", "team_name": "by-tools", "recipient": "pat", "content": "that was all"}),
			tools("TeamDelete", object{"team_name": "by-tools"}),
			text("The team has come to its end."))
		out := r.must("env", r.variable("PATH"), "claude", "-p", "PLAY:life", "--allowedTools", "mcp__leadlight")
		if !strings.Contains(out, "come to its end") {
			t.Errorf("the client says %s", out)
		}
		for _, told := range []string{"by-tools/config.json", `"state":"active"`, "pong from pat", "ACTIVE_MEMBERS", `"outcome":"terminated"`, `"team_name":"by-tools"}`} {
			if !r.wasTold(told) {
				t.Errorf("the client was not told: %s", told)
			}
		}
		if left := into[[]api.TeamSummary](r, "team", "ls", "--json"); len(left) != 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

// TestInspectorLeadsByTools lets the protocol's own inspector, which is no SDK of ours
// and starts a server for each call, lead a team.
func TestInspectorLeadsByTools(t *testing.T) {
	inspector := filepath.Join(os.Getenv(clientsVariable), "inspector/node_modules/.bin/mcp-inspector")
	if _, err := os.Stat(inspector); err != nil {
		t.Skip("no inspector: make interop fetches it")
	}
	r := newRig(t, clients[0], filepath.Join(os.Getenv(clientsVariable), clients[0], "bin"))
	r.pats()
	call := func(want, name string, args ...string) string {
		t.Helper()
		argv := []string{"env", r.variable("PATH"), inspector, "--cli", r.bin, "mcp", "--enable-teams", "--backend", "headless"}
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
	call(`"state": "active"`, "Task", "team_name=inspected", "name=pat", "model=default", "prompt=x", "subagent_type=pat")
	call(`"to": "pat"`, "SendMessage", "type=message", "team_name=inspected", "recipient=pat", "content=ping", "summary=ping")
	r.eventually("pat has answered", func() bool {
		return strings.Contains(call("messages", "ReadInbox", "team_name=inspected", "all=true"), "pong from pat")
	})
	call("ACTIVE_MEMBERS", "TeamDelete", "team_name=inspected")
	call(`"outcome": "terminated"`, "SendMessage", "type=shutdown_request", "team_name=inspected", "recipient=pat", "content=done")
	call(`"success": true`, "TeamDelete", "team_name=inspected")
}
