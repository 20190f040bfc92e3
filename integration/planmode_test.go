package integration_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// planner is the profile of an agent that may be started so that it only reads, without its
// closing brace, with the log that its agents write and whether a text stands there.
func (r *rig) planner() (log, profile string, heard func(what string) func() bool) {
	log = r.path("work", "log")
	words := []string{}
	for _, w := range r.stub("doer", log) {
		words = append(words, fmt.Sprintf("%q", w))
	}
	heard = func(what string) func() bool {
		return func() bool { return strings.Contains(strings.Join(notes(log), "\n"), what) }
	}
	return log, strings.TrimSuffix(doerProfile, "}") + ", command: [" + strings.Join(words, ", ") + "], planArgs: [--read-only]", heard
}

// TestXD06_XF13_PlanModeOfOtherAgents: an agent that is not Claude is told to plan and how; once
// its plan is approved it goes on with its conversation, without the read-only flags, in
// the mode of its lead.
func TestXD06_XF13_PlanModeOfOtherAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	log, profile, heard := r.planner()
	profile += ", sessionArgs: [--begin, \"{session}\"], resumeArgs: [--go-on, \"{session}\"], modeArgs: {default: [--may-ask], acceptEdits: [--may-edit]}}"
	r.settings("profiles:\n  planner: " + profile + "\n")
	r.team("alpha")
	r.must("spawn", "ann", "--agent", "planner", "--plan-mode", "--prompt", "tidy the parser")
	r.eventually("it is told to plan", heard("leadlight plan submit"))
	if m := r.member("ann"); m.PermissionMode != "plan" || !heard("ann begins --read-only --begin ")() {
		t.Errorf("it is in mode %q\n%s", m.PermissionMode, strings.Join(notes(log), "\n"))
	}
	if got := r.must("ps"); !regexp.MustCompile(`(?m)^NAME .* MODE .*\nann .* plan( |$)`).MatchString(got) {
		t.Errorf("ps does not show the mode:\n%s", got)
	}
	r.must("plan", "submit", "1. look", "--as", "ann")
	if got := r.must("ps", "--format", "tmux"); !strings.HasPrefix(got, "#[fg=yellow]requests: 1") {
		t.Errorf("the status line: %s", got)
	}
	r.must("approve", r.waitsForAnswer("alpha", "plan"))
	r.eventually("it goes on", heard("ann begins --go-on "))
	r.eventually("it has the answer", heard("approves the plan"))
	if m := r.member("ann"); m.PermissionMode != "default" || m.State == api.StateFailed || !heard(" --may-ask")() {
		t.Errorf("then it is in mode %q, %s", m.PermissionMode, m.State)
	}
}

// TestXF13_ApprovedIsApproved: an approval in whatever form lifts the flags with which an
// agent may only read, for good; that of somebody's plan who had the name before lifts
// nothing, and starts nobody. Who cannot go on with its conversation is told its plan.
func TestXF13_ApprovedIsApproved(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	log, profile, heard := r.planner()
	r.settings("profiles:\n  planner: " + profile + ", sessionArgs: [--begin, \"{session}\"], resumeArgs: [--go-on, \"{session}\"], modeArgs: {acceptEdits: [--may-edit]}}\n" +
		"  forgets: " + profile + "}\n")
	r.team("alpha")
	begins := func(name string) (all []string) {
		for _, line := range notes(log) {
			if words, ok := strings.CutPrefix(line, name+" begins"); ok {
				all = append(all, words)
			}
		}
		return all
	}
	begun := func(name string, times int) { // who is ended before that writes down nothing
		r.eventually(name+" has begun", func() bool { return len(begins(name)) == times })
	}
	r.must("spawn", "ann", "--agent", "planner", "--plan-mode", "--prompt", "tidy the parser")
	begun("ann", 1)
	r.must("plan", "submit", "1. look", "--as", "ann")
	before := r.waitsForAnswer("alpha", "plan")
	r.must("stop", "ann")
	if res := r.run("approve", before); res.exit != 4 || !strings.Contains(res.err, "RECIPIENT_INACTIVE") || r.member("ann").State != api.StateStopped {
		t.Errorf("the plan of a stopped one: exit %d, %s, it is %s", res.exit, res.err, r.member("ann").State)
	}
	r.must("spawn", "ann", "--agent", "planner", "--plan-mode", "--prompt", "tidy the parser")
	begun("ann", 2)
	if res := r.run("approve", before); res.exit != 4 || len(begins("ann")) > 2 || r.member("ann").PermissionMode != "plan" {
		t.Errorf("a plan of before: exit %d, %s, it began %q", res.exit, res.err, begins("ann"))
	}
	r.must("plan", "submit", "2. tidy", "--as", "ann")
	r.must("send", "ann", fmt.Sprintf(`{"type":"plan_approval_response","requestId":%q,"approved":true,"permissionMode":"acceptEdits"}`, r.waitsForAnswer("alpha", "plan")))
	r.eventually("it carries the plan out", heard("approves the plan"))
	if all := begins("ann"); len(all) != 3 || !strings.HasPrefix(all[2], " --go-on ") || !strings.HasSuffix(all[2], " --may-edit") || r.member("ann").PermissionMode != "acceptEdits" {
		t.Errorf("it began %q, in mode %q", all, r.member("ann").PermissionMode)
	}
	r.must("restart", "ann")
	r.eventually("it is started again", func() bool { return len(begins("ann")) > 3 })
	if all := begins("ann"); !strings.HasSuffix(all[3], " --may-edit") {
		t.Errorf("started again it began %q", all)
	}

	r.must("spawn", "eve", "--agent", "forgets", "--plan-mode", "--prompt", "tidy the printer")
	begun("eve", 1)
	r.must("plan", "submit", "3. print less", "--as", "eve")
	r.must("approve", r.waitsForAnswer("alpha", "plan"))
	r.eventually("it has its plan", heard("The plan: 3. print less"))
	if all := begins("eve"); len(all) != 2 || all[1] != " " || !heard("You were asked: tidy the printer")() {
		t.Errorf("it began %q\n%s", all, strings.Join(notes(log), "\n"))
	}

	// A stop that can prove nothing leaves no request behind.
	r.must("spawn", "wes", "--agent", "shell")
	r.must("task", "add", "long", "--owner", "wes", "--meta", "run=sleep 1000")
	roster := r.path("base", "teams", "alpha", "config.json")
	data, err := os.ReadFile(roster)
	if err != nil {
		t.Fatal(err)
	}
	pane := r.member("wes").TmuxPaneID
	if err := os.WriteFile(roster, bytes.ReplaceAll(data, []byte(`"`+pane+`"`), []byte(`"%999"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if res := r.run("stop", "wes"); res.exit != 7 {
		t.Errorf("stop: exit %d, %s", res.exit, res.err)
	}
	if left := r.must("inbox", "wes", "--unread"); strings.Contains(left, "shut down") {
		t.Errorf("the request waits still: %s", left)
	}
	if err := os.WriteFile(roster, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
