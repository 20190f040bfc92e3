package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/panes/profiles"
)

func TestClaudeArguments(t *testing.T) {
	for _, tc := range []struct {
		line, rest, base string
		delegate, fails  bool
	}{
		{"", "", "", false, false},
		{"--model opus --delegate", "--model opus --delegate", "", false, false},
		{"--delegate --model opus", "--model opus", "", true, false},
		{"--base-dir /b --delegate hello", "hello", "/b", true, false},
		{"--base-dir=/b --verbose", "--verbose", "/b", false, false},
		{"--delegate -- --base-dir /b", "--base-dir /b", "", true, false},
		{"-p --base-dir /b", "-p --base-dir /b", "", false, false},
		{"--base-dir", "", "", false, true},
		{"--base-dir=", "", "", false, true},
	} {
		a := newApp(Stdio{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, nil)
		root := rootCommand(a, "claude")
		c, args, err := root.Find(append([]string{"claude"}, strings.Fields(tc.line)...))
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := claudeArgs(c, args)
		if (err != nil) != tc.fails {
			t.Errorf("%s: %v", tc.line, err)
		}
		if got := strings.Join(o.Args, " "); err == nil && (got != tc.rest || o.Delegate != tc.delegate || a.flags["base-dir"] != tc.base) {
			t.Errorf("%s: %q %v %q", tc.line, got, o.Delegate, a.flags["base-dir"])
		}
	}
}

// TestAgentsArgument: what is installed is offered beside what the person names.
func TestAgentsArgument(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "gemini"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &config.Settings{Profiles: map[string]profiles.Profile{"bare": {Kind: profiles.Worker, AgentTypes: []string{"reviewer"}}}}
	for _, tc := range []struct{ args, has, rest string }{
		{"--model x", `{"gemini":{"description":`, "--model x"},
		{`--agents {"a":{}} --model x`, `{"a":{},"gemini":`, "--model x"},
		{`--agents={"gemini":1}`, `{"gemini":1}`, ""},
		{"--agents nonsense", "", ""}, {"--agents", "", ""}, {"--agents null", "", ""},
	} {
		o := claudeOptions{Args: strings.Fields(tc.args)}
		got, err := agentsArgument(s, bin, &o)
		if (err != nil) != (tc.has == "") || !strings.Contains(strings.Join(got, " "), tc.has) {
			t.Errorf("%s: %q %v", tc.args, got, err)
		}
		if err == nil && strings.Join(o.Args, " ") != tc.rest {
			t.Errorf("%s: left is %q", tc.args, o.Args)
		}
	}
}

// TestMentions finds a text also across what is read at once, and does not look into
// what only starts a program from elsewhere.
func TestMentions(t *testing.T) {
	const text = "CLAUDE_SEAM"
	for name, tc := range map[string]struct {
		before, after int
		text          string
		want          bool
	}{
		"a wrapper": {0, 10, "", true}, "absent": {2 * minProgram, 0, "", false}, "half": {2 * minProgram, 0, text[:5], false},
		"across": {minProgram - 5, 100, text, true}, "at the end": {2*minProgram + 7, 0, text, true}, "at the begin": {0, minProgram, text, true},
	} {
		file := filepath.Join(t.TempDir(), "claude")
		data := strings.Repeat("x", tc.before) + tc.text + strings.Repeat("y", tc.after)
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := mentions(file, text); err != nil || got != tc.want {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}
