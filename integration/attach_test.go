package integration_test

import (
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
// that its team is in, beside the others, wherever the verb is called.
func TestXD05_RestartedWhereItWas(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	r.spawn("ann", nil, "sleep", "1000")
	r.spawn("bob", nil, "sleep", "1000")
	window := func(m api.Member) string { return r.tmux.Format(m.TmuxPaneID, "#{window_id}") }
	home := r.tmux.Format(r.lead, "#{window_id}")
	for from, env := range map[string][]string{
		"a bare shell": {"TMUX=", "TMUX_PANE="}, "another backend": {"TMUX=", "TMUX_PANE=", "LEADLIGHT_BACKEND=headless"},
	} {
		if res := r.runEnv(env, "restart", "bob"); res.exit != 0 {
			t.Fatalf("from %s: %s", from, res.err)
		}
		if m := r.member("bob"); !r.hasPane(m) || window(m) != home {
			t.Errorf("from %s: %+v", from, m)
		}
	}
}
