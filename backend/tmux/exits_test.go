package tmux_test

import (
	"slices"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
)

// TestLeaveLetsTmuxSeeTheEnd: a pane whose end tmux has overlooked is seen again after
// the goodbye of a host, although nobody lists panes. It is a stranger's here: what closes
// it is tmux itself.
func TestLeaveLetsTmuxSeeTheEnd(t *testing.T) {
	t.Parallel()
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	lost := overlooked(s, lead)
	if lost == "" {
		t.Skip("this tmux has overlooked no end")
	}
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	if err := b.Leave(t.Context(), backend.ID(lead)); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Eventually(t, "the pane is closed", func() bool { return !slices.Contains(s.Panes(), lost) })
}

// overlooked ends programs until tmux overlooks one, and returns its pane.
func overlooked(s *tmuxtest.S, lead string) string {
	for range 80 {
		pane := s.Run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", lead, "--", "cat")
		s.Run("set-option", "-p", "-t", pane, "remain-on-exit", "failed")
		s.Run("respawn-pane", "-k", "-t", pane, "--", "sleep 0.02")
		var dead time.Time
		for slices.Contains(s.Panes(), pane) {
			if state, err := s.Try("display-message", "-p", "-t", pane, "#{pane_dead}"); err == nil && state == "1" && dead.IsZero() {
				dead = time.Now()
			}
			if !dead.IsZero() && time.Since(dead) > time.Second {
				return pane
			}
		}
	}
	return ""
}
