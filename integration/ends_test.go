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
