package profiles

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// newest and older are the flags that versions 2.1.332 and 2.1.41 put behind a
// teammate's program.
const (
	newest = "--agent-id amy@alpha --agent-name amy --team-name alpha --agent-color blue --parent-session-id s-1 --lead-verify-key 1.MCow " +
		"--agent-type general-purpose --permission-mode default --teammate-mode tmux --model haiku"
	older = "--agent-id bob@alpha --agent-name=bob --team-name alpha --agent-color green --parent-session-id s-1 --plan-mode-required --dangerously-skip-permissions"
)

func TestParseJoining(t *testing.T) {
	for _, tc := range []struct {
		args string
		want Ask
		err  string
	}{
		{newest, Ask{Agent: "amy", Team: "alpha", Color: "blue", Parent: "s-1", Type: "general-purpose", Model: "haiku", Mode: ModeDefault}, ""},
		{older, Ask{Agent: "bob", Team: "alpha", Color: "green", Parent: "s-1", Mode: ModeBypass, Plan: true}, ""},
		{"", Ask{}, "names no teammate"},
		{"--agent-name amy", Ask{Agent: "amy"}, "names no teammate"},
		{"--agent-name amy --team-name", Ask{Agent: "amy"}, "--team-name has no value"},
		{"--agent-id x@alpha --agent-name amy --team-name alpha", Ask{Agent: "amy", Team: "alpha"}, "is not amy of alpha"},
	} {
		got, err := ParseJoining(strings.Fields(tc.args))
		if !reflect.DeepEqual(got, tc.want) || (err != nil) != (tc.err != "") {
			t.Errorf("%s: %+v, %v", tc.args, got, err)
		}
		if tc.err != "" && (fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: %v", tc.args, err)
		}
	}
}

func FuzzParseJoining(f *testing.F) {
	f.Add(newest)
	f.Add(older)
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		given := slices.Clone(args)
		if j, err := ParseJoining(args); err == nil && (j.Agent == "" || j.Team == "") {
			t.Errorf("%q: nobody, and no error", line)
		}
		if rest := WithoutFlag(args, "--settings", "x"); len(rest) > len(args) {
			t.Errorf("%q: grew to %q", line, rest)
		}
		if !slices.Equal(args, given) {
			t.Errorf("%q: the arguments were changed", line)
		}
	})
}

func TestWithoutFlag(t *testing.T) {
	for args, want := range map[string]string{
		"--a 1 --settings x --b": "--a 1 --b", "--settings=x": "", "--settings y": "--settings y", "--settings": "--settings", "x": "x",
	} {
		if got := strings.Join(WithoutFlag(strings.Fields(args), "--settings", "x"), " "); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

func TestTypesOfAgent(t *testing.T) {
	set := NewSet(map[string]Profile{
		"mine":  {Kind: Interactive, Command: []string{"mine"}, AgentTypes: []string{"reviewer", "gemini"}},
		"batch": {Kind: Worker, Command: []string{"batch"}, AgentTypes: []string{"batcher"}},
		"empty": {Kind: Worker, AgentTypes: []string{"nothing", "exec"}},
	})
	for agentType, want := range map[string]string{
		"codex": "codex", "codex-worker": "codex-worker", "mine": "mine", "reviewer": "mine", "gemini": "mine", "batcher": "batch",
		"claude": "", "claude-interactive": "", "general-purpose": "", "exec": "", "shell": "", "": "", "nothing": "", "empty": "",
	} {
		if p, ok := set.ForType(agentType); ok != (want != "") || (ok && p.Name != want) {
			t.Errorf("%q: %s %v, want %q", agentType, p.Name, ok, want)
		}
	}
	types := set.Types()
	for agentType, want := range map[string]string{"codex": "codex", "mine": "mine", "reviewer": "mine", "gemini": "mine", "batcher": "batch", "codex-worker": "", "claude-interactive": "", "exec": "", "nothing": "", "empty": ""} {
		if got := types[agentType].Name; got != want {
			t.Errorf("offered for %s: %q, want %q", agentType, got, want)
		}
	}
}

func TestClientOf(t *testing.T) {
	for said, want := range map[string]Client{
		"2.1.31 (Claude Code)": {}, "2.0.99": {}, "2.1.32": {TakesModes: true}, "2.1.41": {TakesModes: true, TeammateCommand: true},
		"2.1.83": {TakesModes: true, TeammateCommand: true}, "2.1.84": {TakesModes: true, TeammateCommand: true, TaskCreated: true},
		"2.1.157": {TakesModes: true, TeammateCommand: true, TaskCreated: true}, "2.1.158": {TeammateCommand: true, TaskCreated: true},
		"2.1.332 (Claude Code)": {TeammateCommand: true, TaskCreated: true}, "3.0.0": {TeammateCommand: true, TaskCreated: true},
	} {
		got, version, ok := ClientOf(said)
		if first, _, _ := strings.Cut(said, " "); got != want || !ok || version != first {
			t.Errorf("%s: %+v %s %v", said, got, version, ok)
		}
	}
	for _, said := range []string{"", "claude", "2.1", "v2.1.332"} {
		if _, _, ok := ClientOf(said); ok {
			t.Errorf("%q is taken for a version", said)
		}
	}
}
