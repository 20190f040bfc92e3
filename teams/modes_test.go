package teams

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestM15_AModeInACommandLine(t *testing.T) {
	for _, tc := range []struct{ argv, want string }{
		{"claude --resume x --permission-mode default --model m", "claude --resume x --permission-mode plan --model m"},
		{"claude --permission-mode=default", "claude --permission-mode=plan"},
		{"claude --dangerously-skip-permissions -c", "claude --permission-mode plan -c"},
		{"claude -c", ""}, {"claude --permission-mode", ""}, {"", ""},
	} {
		given := strings.Fields(tc.argv)
		got, ok := withMode(given, "plan")
		if strings.Join(got, " ") != tc.want || ok != (tc.want != "") {
			t.Errorf("%s: %q %v", tc.argv, got, ok)
		}
		if !slices.Equal(given, strings.Fields(tc.argv)) {
			t.Errorf("%s: the given line was changed to %q", tc.argv, given)
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
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+said+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := s.takesModes(t.Context(), t.TempDir(), program); got != want {
			t.Errorf("%s: %v", said, got)
		}
	}
}
