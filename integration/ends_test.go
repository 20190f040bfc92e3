package integration_test

import (
	"os"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXD04_DownElsewhere: up ends with who took the team down, not with an error about
// tasks, and the run was cancelled. A worker's failed task keeps who had it.
func TestXD04_DownElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	file := "team: ends\nmembers:\n  - {name: w, agent: shell, run: task}\ntasks:\n" +
		"  - {subject: fail, owner: w, run: exit 3}\n  - {subject: long, owner: w, run: exec sleep 1000}\n"
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	up := r.start(nil, "up")
	r.eventually("the long task runs", func() bool { return strings.Contains(up.errs.String(), "long: in_progress (w)") })
	if got := into[api.Task](r, "task", "show", "1", "-t", "ends"); got.Status != "failed" || got.Owner != "w" {
		t.Errorf("the failed task: %+v", got)
	}
	down := r.start(nil, "down", "--timeout", "100ms")
	if res := down.wait(); res.exit != 0 {
		t.Errorf("down: exit %d\n%s%s", res.exit, res.out, res.err)
	}
	res := up.wait()
	if want := "the team was taken down by pid "; res.exit != 0 || !strings.Contains(res.err, want) || strings.Contains(res.err, "not completed") {
		t.Errorf("up: exit %d, want 0 and %q\n%s%s", res.exit, want, res.out, res.err)
	}
	defer r.run("daemon", "stop")
	if out := r.must("run", "ls"); !strings.Contains(out, "cancelled") {
		t.Errorf("run ls:\n%s", out)
	}
}

// TestXD04_DownWhileItStarts: up says who took the team down also if that began while it
// still started the teammates.
func TestXD04_DownWhileItStarts(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	file := "team: ends\nmembers:\n  - {name: w, agent: shell, run: task}\ntasks:\n  - {subject: long, owner: w, run: exec sleep 1000}\n"
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	up := r.start(nil, "up")
	r.eventually("the teammate stands in the roster", func() bool {
		text, _ := os.ReadFile(r.path("base", "teams", "ends", "config.json"))
		return strings.Contains(string(text), "w@ends")
	})
	r.must("down", "--force", "--timeout", "100ms")
	if res := up.wait(); res.exit != 0 || !strings.Contains(res.err, "the team was taken down by pid ") || strings.Contains(res.err, "not completed") {
		t.Errorf("up: exit %d\n%s%s", res.exit, res.out, res.err)
	}
	r.run("daemon", "stop")
}

// TestXD04_AnApprovalIsCarriedOut: who approves a request that nobody waits for, and does
// not go, is ended, with its pane and its entry.
func TestXD04_AnApprovalIsCarriedOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	m := r.spawn("ann", nil, r.stub("agree")...)
	r.must("send", "ann", "--type", "shutdown_request", "that was all")
	r.eventually("it is stopped", func() bool { return r.member("ann").State == api.StateStopped })
	r.eventually("its pane is closed", func() bool { return !r.hasPane(m) })
}

// TestXD04_WhoIsStartedAgainIsNotAsked: a request to stop that nobody has answered is taken
// back when the teammate is started again, however it ended: an agent that reads its mail by
// itself would go on it.
func TestXD04_WhoIsStartedAgainIsNotAsked(t *testing.T) {
	t.Parallel()
	r := newHeadless(t)
	r.settings("lifecycle: {ask: 200ms}\n")
	r.team("alpha")
	r.spawn("ann", []string{"--kind", "native"}, "sleep", "1000")
	for how, end := range map[string]func(){
		"restarted":          func() {},
		"stopped":            func() { r.must("stop", "ann", "--timeout", "100ms") },
		"asked by a message": func() { r.must("send", "ann", "--type", "shutdown_request", "that was all") },
	} {
		end()
		r.must("restart", "ann")
		for _, m := range boxOf(r, "alpha", "ann") {
			if !m.Read {
				t.Errorf("%s: it is still asked: %s", how, m.Text)
			}
		}
	}
}

// TestXD04_TwoBusyAreCountedDown: at up's own end, as in every verb that stops, it is said
// of each teammate that is busy when it gets SIGTERM, and that it got it.
func TestXD04_TwoBusyAreCountedDown(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	file := "team: busy\nlifecycle: {onLeadExit: shutdown, ask: 300ms}\nmembers:\n  - {name: v, agent: shell, run: task}\n  - {name: w, agent: shell, run: task}\n" +
		"tasks:\n  - {subject: one, owner: v, run: exec sleep 1000}\n  - {subject: two, owner: w, run: exec sleep 1000}\n"
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	up := r.start(nil, "up")
	for _, runs := range []string{"one: in_progress (v)", "two: in_progress (w)"} {
		r.eventually(runs, func() bool { return strings.Contains(up.errs.String(), runs) })
	}
	up.signal(os.Interrupt)
	res := up.wait()
	for _, name := range []string{"v", "w"} {
		for _, said := range []string{": asked to stop; gets SIGTERM in 300ms", ": gets SIGTERM, and SIGKILL after 5s"} {
			if !strings.Contains(res.err, name+said) {
				t.Errorf("up: exit %d, and it does not say %q\n%s", res.exit, name+said, res.err)
			}
		}
	}
}
