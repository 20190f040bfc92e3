package integration_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXD11_AttachGoesThere: inside tmux the pane of a teammate, and that of team-lead, is
// selected in the terminal that the person looks at.
func TestXD11_AttachGoesThere(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	panes := map[string]string{"team-lead": r.lead}
	for name, place := range map[string]string{"ann": "split", "bob": "window"} {
		panes[name] = r.spawn(name, []string{"--placement", place}, "sleep", "1000").TmuxPaneID
	}
	camera := tmuxtest.Server(t)
	camera.NewSession("220x60", "env", "-u", "TMUX", "tmux", "-S", r.tmux.Socket, "attach")
	r.eventually("a person looks", func() bool { return r.tmux.Run("list-clients", "-F", "x") != "" })
	for _, name := range []string{"bob", "team-lead", "ann", "team-lead"} {
		r.must("attach", name)
		if got := r.tmux.Run("list-clients", "-F", "#{pane_id}"); got != panes[name] {
			t.Errorf("attach %s: the terminal shows %s, want %s", name, got, panes[name])
		}
	}
}

// TestXD05_RestartedWhereItWas: a teammate that is restarted comes back into the terminal
// that its team is in, beside the others, wherever the verb is called; the only one, too, and
// one whose pane has gone.
func TestXD05_RestartedWhereItWas(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	r.spawn("ann", nil, "sleep", "1000")
	r.spawn("bob", nil, "sleep", "1000")
	home := r.tmux.Format(r.lead, "#{window_id}")
	elsewhere := r.tmux.Run("new-window", "-d", "-P", "-F", "#{pane_id}", "sleep", "1000")
	from := map[string][]string{
		"a bare shell": {"TMUX=", "TMUX_PANE="}, "another backend": {"TMUX=", "TMUX_PANE=", "LEADLIGHT_BACKEND=headless"},
		"another window": {"TMUX_PANE=" + elsewhere},
	}
	restart := func(when string, args ...string) {
		t.Helper()
		for from, env := range from {
			if args[0] == "--lost" {
				if err := syscall.Kill(hostRecord(r, "alpha", "bob").Process.PID, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				r.eventually("bob is lost", func() bool { return r.member("bob").State == api.StateLost })
			}
			if res := r.runEnv(env, append([]string{"restart"}, args...)...); res.exit != 0 {
				t.Fatalf("%s, from %s: %s", when, from, res.err)
			}
			if m := r.member("bob"); !r.hasPane(m) || r.tmux.Format(m.TmuxPaneID, "#{window_id}") != home {
				t.Errorf("%s, from %s: %+v", when, from, m)
			}
		}
	}
	restart("one of two", "bob")
	r.must("stop", "ann")
	delete(from, "another backend")
	restart("the only one", "bob")
	restart("a lost one", "--lost")
	if windows := r.tmux.Run("list-windows", "-a", "-F", "#{window_id}"); len(strings.Fields(windows)) != 2 {
		t.Errorf("there are other windows:\n%s", windows)
	}
}
