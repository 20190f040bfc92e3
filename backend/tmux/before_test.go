package tmux_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// A dead pane of ours in which a person has started something is not ours to close.
func TestXH11_AProgramInADeadPane(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	pane := open(t, b, spec("dead", lead))[0]
	die(t, s, pane)
	s.Run("respawn-pane", "-t", string(pane.ID), "sleep 1001")
	if err := backend.CloseOne(t.Context(), b, pane.ID, pane.Mark); !errors.Is(err, fault.Unproven) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("close: %v", err)
	}
	if got := s.Format(string(pane.ID), "#{pane_dead}"); got != "0" {
		t.Errorf("its pane is dead: %s", got)
	}
}

// A tmux that says that it opened a pane which was there before is not believed: that pane
// is neither marked nor closed, whosever it is.
func TestXH11_TmuxAnswersWithAPaneOfBefore(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	other := s.Run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", lead, "--", "sleep", "1000")
	for _, before := range []string{lead, other} {
		for _, place := range []backend.Place{backend.Split, backend.Window, backend.Session} {
			program := wrapper(t, `case " $* " in *" split-window "*|*" new-window "*|*" new-session "*)
				tmux "$@" | sed 's/^leadlight-row:%[0-9]*/leadlight-row:`+before+`/'; exit;; esac`)
			b := newBackend(t, tmux.Options{Socket: s.Socket, Program: program})
			sp := spec("answered"+strings.TrimPrefix(before, "%"), lead)
			if sp.Place = place; place == backend.Session {
				sp.Target = ""
			}
			what, was := fmt.Sprint(place, " answered with ", before), s.Format(before, "#{pane_pid} #{@leadlight}")
			if err := b.Open(t.Context(), []backend.Spec{sp})[0].Err; !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), "was there before") {
				t.Errorf("%s: %v", what, err)
			}
			if got := s.Format(before, "#{pane_pid} #{@leadlight}"); got != was || !strings.HasSuffix(got, " ") && strings.Contains(got, " ") {
				t.Errorf("%s: it was %q and is %q", what, was, got)
			}
			if panes := s.Panes(); !slices.Contains(panes, lead) || !slices.Contains(panes, other) {
				t.Fatalf("%s: left are %v", what, panes)
			}
		}
	}
}
