package integration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestXD10_RequestsInTheStatusLine: the status line of our own tmux server counts all that
// waits for an answer: a plan, although its author works on, and a dialog.
func TestXD10_RequestsInTheStatusLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	conf := filepath.Join(r.path("home"), "leadlight")
	if err := os.MkdirAll(conf, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(conf, "config.yaml"), []byte("profiles:\n  doer: "+doerProfile+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.team("alpha")
	r.spawn("ann", nil, "sleep", "1000")
	r.spawn("bob", []string{"--agent", "doer"}, "sh", "-c", "printf 'Run make? (y/n) '; read -r answer; sleep 1000")
	r.must("plan", "submit", "first look", "--as", "ann")
	r.waitsForAnswer("alpha", "dialog")
	screen := r.tmux.NewSession("120x20", "env", "-u", "TMUX", "tmux", "-S", r.path("run", "leadlight", "tmux"), "attach")
	r.eventually("both are counted", func() bool { return strings.Contains(r.tmux.Capture(screen), "requests: 2 C-b d leaves") })
}
