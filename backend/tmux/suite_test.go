package tmux_test

import (
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
)

func TestBackend(t *testing.T) {
	opts := backendtest.Opts{New: func(c backendtest.T) backendtest.Terminal {
		t := c.(testing.TB)
		s := tmuxtest.Server(t)
		lead := s.NewSession("200x50")
		open := func() backend.Backend { return newBackend(t, tmux.Options{Socket: s.Socket}) }
		return backendtest.Terminal{
			Backend: open(),
			At:      backend.Spec{Place: backend.Window, Target: backend.ID(lead)},
			Focus: func() string {
				return s.Run("list-panes", "-s", "-f", "#{&&:#{pane_active},#{window_active}}", "-F", "#{pane_id} #{window_id}")
			},
			Border: func(id backend.ID) string { return shown(s, id) },
			Other:  open,
			Visit:  func(id backend.ID) { s.Run("respawn-pane", "-k", "-t", string(id), "sleep 1001") },
			Alone: func(id backend.ID) func() int {
				s.Run("break-pane", "-d", "-s", string(id), ";", "new-session", "-d", "-s", "person", "sleep 1001")
				s.Run("move-pane", "-d", "-s", string(id), "-t", "person:", ";", "kill-pane", "-t", s.Run("display-message", "-p", "-t", "person:", "#{pane_id}"))
				return func() int { return len(strings.Fields(s.Run("list-panes", "-s", "-t", "person", "-F", "#{pane_id}"))) }
			},
			Freeze:    s.Stop,
			Kill:      s.Kill,
			Impatient: newBackend(t, tmux.Options{Socket: s.Socket, Timeout: 200 * time.Millisecond}),
			// The limit, and 200 ms for each further command of a line.
			Patience: time.Minute,
		}
	}, Visitors: true, Sessions: true, NoBorder: noBorders(t, tmuxtest.Server(t))}
	t.Logf("declared weak: %q", opts.Weaknesses())
	for _, c := range backendtest.Cases(opts) {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t) })
	}
}

func newBackend(t testing.TB, o tmux.Options) *tmux.Backend {
	t.Helper()
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	b, err := tmux.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
