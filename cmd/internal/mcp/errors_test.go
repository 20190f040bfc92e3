package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Each error of Claude Code's description of its tools, provoked.
func TestA02_A06_A12_A13_EveryErrorRow(t *testing.T) {
	d := newFixture(t)
	c := d.serve("", nil, nil)
	do[teamCreateOut](t, c, "TeamCreate", args{"team_name": "alpha", "description": "x"})
	d.teammates("alpha", "bob", "gone")
	d.stopped("alpha", "gone")
	task := func(team, name, model string) args {
		return args{"team_name": team, "name": name, "model": model, "prompt": "x", "subagent_type": "general-purpose"}
	}
	send := func(kind, team, to string) args {
		return args{"type": kind, "team_name": team, "recipient": to, "content": "x", "summary": "x"}
	}
	if err := os.WriteFile(filepath.Join(d.base, "claude"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", d.base+":"+os.Getenv("PATH"))
	t.Setenv("CLAUDE_CONFIG_DIR", d.base)
	c2 := d.serve("", nil, nil) // sees the program
	for _, tc := range []struct {
		tool string
		in   args
		code fault.Code
	}{
		{"TeamCreate", args{"team_name": "alpha", "description": "x"}, fault.TeamExists},
		{"TeamCreate", args{"team_name": "Not Kebab", "description": "x"}, fault.InvalidName},
		{"TeamCreate", args{"team_name": "ab", "description": "x"}, fault.InvalidName},
		{"TeamCreate", args{"team_name": "../../etc", "description": "x"}, fault.InvalidName},
		{"TeamCreate", args{"team_name": "beta", "description": ""}, fault.InvalidArgument},
		{"TeamCreate", args{"team_name": "beta", "description": strings.Repeat("x", 501)}, fault.InvalidArgument},
		{"Task", task("nobody", "ann", "haiku"), fault.TeamNotFound},
		{"Task", task("alpha", "bob", "haiku"), fault.DuplicateName},
		{"Task", task("alpha", "ann", "haiku"), fault.TmuxError},
		{"Task", task("alpha", "ann", "gpt-0"), fault.InvalidModel},
		{"Task", task("alpha", "team-lead", "haiku"), fault.InvalidName},
		{"SendMessage", send("message", "nobody", "bob"), fault.TeamNotFound},
		{"SendMessage", send("message", "alpha", "ann"), fault.RecipientNotFound},
		{"SendMessage", send("message", "alpha", "gone"), fault.RecipientInactive},
		{"SendMessage", send("broadcast", "nobody", ""), fault.TeamNotFound},
		{"SendMessage", send("shutdown_request", "nobody", "bob"), fault.TeamNotFound},
		{"SendMessage", send("shutdown_request", "alpha", "ann"), fault.RecipientNotFound},
		{"SendMessage", send("shout", "alpha", "bob"), fault.InvalidType},
		{"SendMessage", args{"type": "message", "team_name": "alpha", "recipient": "bob", "content": "x"}, fault.InvalidArgument},
		{"SendMessage", args{"type": "broadcast", "content": "x", "summary": "x"}, fault.InvalidArgument},
		{"SendMessage", args{"type": "shutdown_request", "team_name": "alpha", "recipient": "bob"}, fault.InvalidArgument},
		{"SendMessage", args{"type": "shutdown_response", "request_id": "x"}, fault.InvalidArgument},
		{"SendMessage", args{"type": "plan_approval_response", "approve": true}, fault.InvalidArgument},
		{"SendMessage", args{"type": "plan_approval_response", "request_id": "no", "approve": true}, fault.PlanNotFound},
		{"SendMessage", args{"type": "permission_response", "request_id": "no", "approve": true}, fault.RequestNotFound},
		{"TeamDelete", args{"team_name": "nobody"}, fault.TeamNotFound},
		{"TeamDelete", args{"team_name": "alpha"}, fault.ActiveMembers},
		{"TaskGet", args{"taskId": "7"}, fault.TaskNotFound},
		{"TaskUpdate", args{"taskId": "7", "status": "completed"}, fault.TaskNotFound},
		{"TaskCreate", args{"subject": "x", "blockedBy": []string{"7"}}, fault.TaskNotFound},
		{"TaskCreate", args{"subject": "x", "owner": "nobody"}, fault.MemberNotFound},
		{"TaskList", args{"status": "odd"}, fault.InvalidArgument},
		{"CapturePane", args{"name": "nobody"}, fault.MemberNotFound},
		{"ReadInbox", args{"name": "nobody"}, fault.MemberNotFound},
		{"WaitForEvents", args{"types": []string{"odd"}}, fault.InvalidArgument},
	} {
		refused(t, c2, tc.tool, tc.in, tc.code)
	}
	e := refused(t, c2, "Task", task("alpha", "ann", "haiku"), fault.TmuxError)
	if e.Cause != string(fault.BackendUnavailable) {
		t.Errorf("the cause is %q", e.Cause)
	}
}

// The table itself: every code that it names is one of the closed set, and none is
// told twice in different ways.
func TestErrorTable(t *testing.T) {
	known := map[fault.Code]bool{"": true}
	for _, g := range fault.Table() {
		for _, c := range g.Codes {
			known[c] = true
		}
	}
	seen := map[string]bool{}
	for _, r := range rows() {
		key := r.tool + " " + string(r.from)
		if !known[r.from] || !known[r.to] || seen[key] || r.hint == "" || ofCommandLine(r.hint) {
			t.Errorf("the row %+v", r)
		}
		seen[key] = true
	}
	foreign := []fault.Code{fault.TeamFile, fault.RunNotFound, fault.ItemNotFound} // of verbs that are no tools
	for code := range known {
		if code == "" || slices.Contains(foreign, code) {
			continue
		}
		for _, tool := range []string{"Task", "SendMessage", "TeamDelete", ""} {
			e := told(tool, fault.New(code, "x").WithHint("leadlight ps --all shows it"))
			if e.Code == "" || e.Hint == "" || ofCommandLine(e.Hint) {
				t.Errorf("%s: %s is told as %+v", tool, code, e)
			}
		}
	}
}
