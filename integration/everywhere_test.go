package integration_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// everywhere runs a test twice: with teammates in panes of a private tmux, beside their
// lead, and with teammates that have no terminal (headless).
func everywhere(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Run("tmux", func(t *testing.T) {
		t.Parallel()
		f(t, newRig(t, everywhereSize))
	})
	t.Run("headless", func(t *testing.T) {
		t.Parallel()
		f(t, newHeadless(t))
	})
}

// newHeadless is a rig around which there is no terminal.
func newHeadless(t testing.TB) *rig {
	t.Helper()
	r := newRig(t, "")
	r.env = append(r.env, "LEADLIGHT_BACKEND=headless")
	return r
}

// everywhereSize is that of the lead's terminal.
const everywhereSize = "220x60"

// another is a second rig of the same kind.
func (r *rig) another() *rig {
	r.t.Helper()
	if r.isHeadless() {
		return newHeadless(r.t)
	}
	return newRig(r.t, everywhereSize)
}

// isHeadless tells which of the two it is.
func (r *rig) isHeadless() bool { return r.lead == "" }

// headlessPanes are the teammates that have a pane without a terminal, each as the
// folder of these panes knows it.
func (r *rig) headlessPanes() []string {
	r.t.Helper()
	files, err := filepath.Glob(r.path("run", "leadlight", "headless", "*.json"))
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		var pane struct{ Mark struct{ Agent string } }
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &pane)
		}
		if err == nil { // else it went meanwhile
			names = append(names, pane.Mark.Agent)
		}
	}
	slices.Sort(names)
	return names
}

// hasPane tells whether a teammate's pane is there.
func (r *rig) hasPane(m api.Member) bool {
	r.t.Helper()
	if r.isHeadless() {
		return slices.Contains(r.headlessPanes(), m.Name)
	}
	return slices.Contains(r.tmux.Panes(), m.TmuxPaneID)
}

// open is how many panes the teammates have.
func (r *rig) open() int {
	r.t.Helper()
	if r.isHeadless() {
		return len(r.headlessPanes())
	}
	return len(r.tmux.Panes()) - 1 // the lead's
}

// closeByHand does to a teammate's pane what a person does who wants to be rid of it, and
// returns the reason that is shown then.
func (r *rig) closeByHand(team string, m api.Member) (reason string) {
	r.t.Helper()
	if !r.isHeadless() {
		r.tmux.Run("kill-pane", "-t", m.TmuxPaneID)
		return "pane closed"
	}
	if err := syscall.Kill(hostRecord(r, team, m.Name).Process.PID, syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	return "terminated"
}

// screenHas tells whether a teammate's screen shows a text, or did before it scrolled.
func (r *rig) screenHas(m api.Member, text string) bool {
	r.t.Helper()
	if r.isHeadless() {
		return strings.Contains(r.must("capture", m.Name), text)
	}
	return strings.Contains(r.tmux.Run("capture-pane", "-p", "-S", "-", "-t", m.TmuxPaneID), text)
}
