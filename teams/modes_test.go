package teams

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func TestM15_AnotherMode(t *testing.T) {
	s := New(Config{Profiles: profiles.NewSet(map[string]profiles.Profile{"mine": {Kind: profiles.Interactive, Command: []string{"mine"}, ModeArgs: map[string][]string{"default": {"-d"}}}})})
	const joins = "claude --agent-id ann@alpha --agent-name ann --team-name alpha --agent-color blue --parent-session-id L"
	for _, tc := range []struct{ profile, kind, mode, start, resume string }{
		{"claude-interactive", profiles.Interactive, "acceptEdits", "claude --permission-mode acceptEdits --session-id S", "claude --resume S --permission-mode acceptEdits"},
		{"claude-interactive", profiles.Interactive, "plan", "claude --permission-mode plan --session-id S", "claude --resume S --permission-mode plan"},
		{"claude", profiles.Native, "acceptEdits", joins + " --permission-mode acceptEdits --session-id S", strings.Replace(joins, "claude", "claude --resume S", 1) + " --permission-mode acceptEdits"},
		{"codex", profiles.Interactive, "default", "codex --no-daemon --sandbox workspace-write --ask-for-approval on-request", "codex --no-daemon resume S --sandbox workspace-write --ask-for-approval on-request"},
		{"codex", profiles.Interactive, "bypassPermissions", "codex --no-daemon --dangerously-bypass-approvals-and-sandbox", "codex --no-daemon resume S --dangerously-bypass-approvals-and-sandbox"},
		{"codex-worker", profiles.Worker, "acceptEdits", "codex exec --json - --sandbox workspace-write", ""},
		{"codex", profiles.Interactive, "dontAsk", "", ""}, {"codex", profiles.Interactive, "auto", "", ""}, {"mine", profiles.Interactive, "default", "", ""},
		{"exec", profiles.Plain, "default", "", ""}, {"codex-worker", profiles.Worker, "plan", "", ""},
	} {
		rec := panes.LaunchRecord{Team: "alpha", Agent: "ann", Profile: tc.profile, Kind: tc.kind, Session: "S", Color: "blue"}
		got, err := s.buildModeCommand(store.Team{Name: "alpha", LeadSessionID: "L"}, store.Member{Name: "ann"}, rec, tc.mode)
		if start := strings.Join(got.Argv, " "); start != tc.start || strings.Join(got.Resume, " ") != tc.resume {
			t.Errorf("%s in %s: %q, then %q", tc.profile, tc.mode, got.Argv, got.Resume)
		}
		if tc.start == "" && fault.CodeOf(err) != fault.Unsupported {
			t.Errorf("%s in %s: %v", tc.profile, tc.mode, err)
		}
	}
}

func TestM15_WhichClientsTakeAMode(t *testing.T) {
	s := New(Config{Environ: os.Environ()})
	for said, want := range map[string]bool{
		"echo '2.1.41 (Claude Code)'": true, "echo 2.1.157": true, "echo 2.1.158": false, "echo '2.1.332 (Claude Code)'": false,
		"echo 2.2.1": false, "echo nonsense": false, "echo 2.1.41; exit 1": false, "kill -9 $$": false,
	} {
		program := filepath.Join(t.TempDir(), "claude")
		if err := exetest.Write(program, []byte("#!/bin/sh\n"+said+"\n")); err != nil {
			t.Fatal(err)
		}
		if got := s.client(t.Context(), t.TempDir(), program).TakesModes; got != want {
			t.Errorf("%s: %v", said, got)
		}
	}
}

// TestXF13_OutOfPlanMode: whatever a profile knows, its agent gets out of plan mode: into the
// mode, else the agent's own settings; with its conversation, else with another one.
func TestXF13_OutOfPlanMode(t *testing.T) {
	plans := profiles.Profile{Kind: profiles.Interactive, Command: []string{"x"}, PlanArgs: []string{"--look"}}
	resumes, modes := plans, plans
	resumes.SessionArgs, resumes.ResumeArgs = []string{"--begin", "{session}"}, []string{"--go-on", "{session}"}
	modes.ModeArgs = map[string][]string{"acceptEdits": {"--edit"}}
	for name, tc := range map[string]struct {
		profile       profiles.Profile
		mode          string
		start, resume string
	}{
		"neither":         {plans, "acceptEdits", "x", ""},
		"a conversation":  {resumes, "default", "x --begin S", "x --go-on S"},
		"the mode":        {modes, "acceptEdits", "x --edit", ""},
		"not that mode":   {modes, "dontAsk", "x", ""},
		"plan again":      {modes, "plan", "x", ""},
		"codex":           {profiles.NewSet(nil)["codex"], "acceptEdits", "codex --no-daemon --sandbox workspace-write --ask-for-approval on-request", "codex --no-daemon resume S --sandbox workspace-write --ask-for-approval on-request"},
		"aider":           {profiles.NewSet(nil)["aider"], "default", "aider", ""},
		"Claude's client": {profiles.NewSet(nil)["claude-interactive"], "acceptEdits", "claude --permission-mode acceptEdits --session-id S", "claude --resume S --permission-mode acceptEdits"},
	} {
		rec := panes.LaunchRecord{Kind: profiles.Interactive, Session: "S", Plan: true}
		got, err := outOfPlan(store.Team{Name: "alpha"}, store.Member{Name: "ann"}, rec, tc.profile, tc.mode)
		if strings.Join(got.Argv, " ") != tc.start || strings.Join(got.Resume, " ") != tc.resume || got.Plan || err != nil {
			t.Errorf("%s: %q, then %q, %v", name, got.Argv, got.Resume, err)
		}
	}
}
