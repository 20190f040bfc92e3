package integration_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXD05_RunFolderAndServerLost: the loss of the run folder costs nobody anything. After
// the end of the whole terminal server ps and doctor name who is lost, why, and the one
// command that starts all of them again: also a teammate that takes its time to end.
func TestXD05_RunFolderAndServerLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.team("alpha")
	states := func() (all []string) {
		for _, m := range into[[]api.Member](r, "ps", "--all") {
			all = append(all, m.State)
		}
		return all
	}
	r.spawn("quick", nil, "sleep", "1000")
	before := r.spawn("slow", []string{"--kind", "interactive"}, "sh", "-c", "trap 'until [ -e go ]; do sleep 0.3; done; exit' TERM; echo '$ '; while :; do sleep 0.1; done")
	r.spawn("worker", []string{"--kind", "worker"}, "true")
	alive := func() bool {
		got := states()
		for _, s := range got {
			if s != api.StateActive && s != api.StateIdle && s != api.StateWaiting {
				return false
			}
		}
		return len(got) == 3
	}
	r.eventually("all are there", alive)

	if err := os.RemoveAll(r.path("run", "leadlight")); err != nil {
		t.Fatal(err)
	}
	r.eventually("all are there without the run folder", alive)
	if res := r.run("restart", "--lost"); res.exit != 0 || !strings.Contains(res.err, "no teammate to restart") {
		t.Errorf("restart --lost with nobody lost: exit %d: %s%s", res.exit, res.out, res.err)
	}
	socket := r.path("run", "leadlight", "tmux")
	r.eventually("the terminal has its socket again", func() bool {
		return exec.Command("tmux", "-S", socket, "list-sessions").Run() == nil
	})

	if out, err := exec.Command("tmux", "-S", socket, "kill-server").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.eventually("those who end at once are lost", func() bool {
		return r.member("quick").State == api.StateLost && r.member("worker").State == api.StateLost
	})
	const way = "leadlight restart --lost"
	if out := r.must("ps"); !strings.Contains(out, "quick (its terminal has ended)") || !strings.Contains(out, way) {
		t.Errorf("ps does not say who is lost, why, and what to do:\n%s", out)
	}
	if out := r.must("doctor"); !strings.Contains(out, "quick is lost: its terminal has ended") || !strings.Contains(out, way) {
		t.Errorf("doctor does not say who is lost, why, and what to do:\n%s", out)
	}
	restart := r.start(nil, "restart", "--lost")
	if err := os.WriteFile(r.path("work", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := restart.wait(); res.exit != 0 {
		t.Errorf("restart --lost: exit %d: %s%s", res.exit, res.out, res.err)
	}
	if slices.Contains(states(), api.StateLost) { // who is started again may be starting, and is not lost
		t.Errorf("after restart --lost: %v", states())
	}
	r.eventually("all are there again", alive)
	if m := r.member("slow"); m.PID == before.PID {
		t.Errorf("after restart --lost: %v\n%s", states(), r.must("ps", "--all"))
	}
	r.must("down", "--force", "--timeout", "100ms")
}
