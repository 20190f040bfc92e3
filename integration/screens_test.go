package integration_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/panes/state"
)

// Mail waits while a menu is there, and is typed once when it has gone.
func TestXH03_TypedOnceAfterTheMenu(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		screen, typed := r.path("work", "screen"), r.path("work", "typed")
		show := func(text string) {
			if err := errors.Join(os.WriteFile(screen+".tmp", []byte(text), 0o600), os.Rename(screen+".tmp", screen)); err != nil {
				t.Fatal(err)
			}
		}
		show("\n Choose how to sign in\n\n ❯ With a browser\n   With a key\n\n Enter to confirm · Esc to go back\n")
		r.spawn("ann", []string{"--agent", "claude-interactive", "--prompt", "one hello"}, r.stub("dialog", screen, typed)...)
		seen := func() string { b, _ := os.ReadFile(typed); return string(b) }
		r.patiently("the question is shown", func() bool {
			m := r.member("ann")
			return m.State == state.Waiting && strings.Contains(m.Reason, "Choose how to sign in")
		})
		if m := r.member("ann"); seen() != "" || m.Unread == nil || *m.Unread != 1 {
			t.Fatalf("%q was typed into the menu: %+v", seen(), m)
		}
		show("")
		r.patiently("the mail is read", func() bool { m := r.member("ann"); return m.Unread != nil && *m.Unread == 0 })
		if n := strings.Count(seen(), "one hello"); n != 1 {
			t.Errorf("typed %d times: %q", n, seen())
		}
		r.must("stop", "ann", "--force", "--timeout", "100ms")
	})
}

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
			t.Errorf("%s: %q was typed: %+v", tc.name, typed(), m)
		}
	}
	r.must("stop", "--all", "--force", "--timeout", "100ms")
}
