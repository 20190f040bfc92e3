package integration_test

import (
	"strings"
	"testing"
)

// TestXD10_RequestsInTheStatusLine: the status line of our own tmux server counts all that
// waits for an answer: a plan, although its author works on, and a dialog.
func TestXD10_RequestsInTheStatusLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.settings("profiles:\n  doer: " + doerProfile + "\n")
	r.team("alpha")
	r.spawn("ann", nil, "sleep", "1000")
	r.spawn("bob", []string{"--agent", "doer"}, "sh", "-c", "printf 'Run make? (y/n) '; read -r answer; sleep 1000")
	r.must("plan", "submit", "first look", "--as", "ann")
	r.waitsForAnswer("alpha", "dialog")
	screen := r.tmux.NewSession("120x20", "env", "-u", "TMUX", "tmux", "-S", r.path("run", "leadlight", "tmux"), "attach")
	r.eventually("both are counted", func() bool { return strings.Contains(r.tmux.Capture(screen), "requests: 2 C-b d leaves") })
}
