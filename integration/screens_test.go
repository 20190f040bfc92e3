package integration_test

import (
	"os"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/panes/state"
)

// Mail is not typed into a menu, nor into a notice that waits for a key: it stays unread,
// and the state says what is asked. An idle prompt whose answer quotes what a busy one
// shows takes its mail.
func TestXH03_MailWaitsForAPrompt(t *testing.T) {
	t.Parallel()
	r := newHeadless(t)
	r.team("alpha")
	for _, tc := range []struct{ name, screen, reason string }{
		{"menu", "claude/menu-checkboxes.txt", "Select any you wish to enable."},
		{"key", "claude/press-enter.txt", "Press Enter to continue"},
		{"trust", "claude/trust-80x24.txt", "Quick safety check"},
		{"idle", "claude/idle-answer-quotes-busy.txt", ""},
	} {
		shown, err := os.ReadFile("../panes/screen/testdata/" + tc.screen)
		if err != nil {
			t.Fatal(err)
		}
		file := r.path("work", tc.name+".txt")
		if err := os.WriteFile(file, shown, 0o600); err != nil {
			t.Fatal(err)
		}
		r.spawn(tc.name, []string{"--agent", "claude-interactive", "--prompt", "hello"}, r.stub("screen", file, r.path("work", tc.name))...)
		typed := func() string { b, _ := os.ReadFile(r.path("work", tc.name)); return string(b) }
		if tc.reason == "" {
			r.patiently("the idle prompt gets its mail", func() bool { return strings.Contains(typed(), "hello") })
			continue
		}
		r.patiently("the question is shown", func() bool {
			m := r.member(tc.name)
			return m.State == state.Waiting && strings.Contains(m.Reason, tc.reason)
		})
		if m := r.member(tc.name); typed() != "" || m.Unread == nil || *m.Unread != 1 {
			t.Errorf("%s: %q was typed, %d unread", tc.name, typed(), *m.Unread)
		}
	}
	r.must("stop", "--all", "--force", "--timeout", "100ms")
}
