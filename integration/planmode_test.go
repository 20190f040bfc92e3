package integration_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXD06_XF13_PlanModeOfOtherAgents: an agent that is not Claude is told to plan and how; once
// its plan is approved it goes on with its conversation, without the read-only flags, in
// the mode of its lead.
func TestXD06_XF13_PlanModeOfOtherAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	log := r.path("work", "log")
	words := []string{}
	for _, w := range r.stub("doer", log) {
		words = append(words, fmt.Sprintf("%q", w))
	}
	profile := strings.TrimSuffix(doerProfile, "}") + ", command: [" + strings.Join(words, ", ") + "], planArgs: [--read-only], sessionArgs: [--begin, \"{session}\"], resumeArgs: [--go-on, \"{session}\"], modeArgs: {default: [--may-ask], acceptEdits: [--may-edit]}}"
	r.settings("profiles:\n  planner: " + profile + "\n")
	heard := func(what string) func() bool {
		return func() bool { return strings.Contains(strings.Join(notes(log), "\n"), what) }
	}
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
