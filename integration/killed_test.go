package integration_test

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestSH04_SH09_KilledHost: kill -9 of a host itself. The member is lost, and stop
// ends what it left.
// https://github.com/rjwalters/loom/issues/2268
func TestSH04_SH09_KilledHost(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		m := r.spawn("a", nil, r.stub("forker")...)
		r.eventually("it has forked", func() bool { return strings.Contains(r.must("capture", "a"), "ready") })
		id, rec := hostOf(r, "a"), hostRecord(r, "alpha", "a")
		if err := syscall.Kill(rec.Process.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		r.eventually("it is lost", func() bool { return r.member("a").State == api.StateLost })
		if left, err := signals.Marked(id); err != nil || len(left) == 0 {
			t.Logf("nothing was left by the host (%v)", err)
		}
		res := r.run("stop", "a", "--timeout", "1s", "--json")
		if res.exit != 0 {
			t.Errorf("stop: exit %d, %s%s", res.exit, res.out, res.err)
		}
		if left, err := signals.Marked(id); err != nil || len(left) > 0 {
			t.Errorf("survivors: %v, %v", left, err)
		}
		if r.hasPane(m) {
			t.Error("its pane is still there")
		}
		if got := r.member("a"); got.State != api.StateStopped && got.State != api.StateLost {
			t.Errorf("it is %s", got.State)
		}
	})
}

// TestHostKilledByItsAgent: an agent that kills its host at once, before the host may have
// told anybody of itself, leaves nothing that down does not end.
func TestHostKilledByItsAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t, windowSize)
	r.team("alpha")
	var spawns []*running
	for _, name := range []string{"a", "b", "c"} {
		spawns = append(spawns, r.start(nil, "spawn", name, "--", "sh", "-c", `trap '' HUP; kill -9 $PPID; exec sleep 1000`))
	}
	for _, s := range spawns {
		if res := s.wait(); res.exit == 0 {
			t.Logf("it was seen running first: %s%s", res.out, res.err)
		} else if !strings.Contains(res.err, "SPAWN_FAILED") {
			t.Errorf("spawn: exit %d, %s%s", res.exit, res.out, res.err)
		}
	}
	r.must("down", "alpha", "--force")
}

// TestGCInOneRun: somebody has removed a team's folder. One gc ends what ran, and takes the
// records of it, too.
func TestGCInOneRun(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		r.must("spawn", "a", "--", "sleep", "1000")
		host := hostRecord(r, "alpha", "a").Process
		if err := os.RemoveAll(r.path("base", "teams", "alpha")); err != nil {
			t.Fatal(err)
		}
		said := r.must("gc")
		if host.Probe() != signals.Gone || strings.Contains(said, "kept") {
			t.Errorf("its host is %s after gc: %s", host.Probe(), said)
		}
		if left := into[[]api.Orphan](r, "gc", "--dry-run"); len(left) > 0 {
			t.Errorf("a second gc would remove %+v", left)
		}
	})
}

// TestTC09_OwnerDiedWithTheTask: kill -9 of a worker's host in the middle of a task.
// https://github.com/win4r/ClawTeam-OpenClaw/pull/39
func TestTC09_OwnerDiedWithTheTask(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	for _, name := range []string{"dead", "slow"} {
		r.must("spawn", name, "--agent", "shell", "--", "sleep", "1000")
		r.must("task", "add", "for "+name, "--owner", name)
	}
	running := func() (n int) {
		for _, task := range into[[]api.Task](r, "task", "ls") {
			if task.Status == "in_progress" {
				n++
			}
		}
		return n
	}
	r.eventually("both have begun", func() bool { return running() == 2 })
	if err := syscall.Kill(hostRecord(r, "alpha", "dead").Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.eventually("it is lost", func() bool { return r.member("dead").State == api.StateLost })
	r.must("gc")
	one := into[api.Task](r, "task", "show", "1")
	if one.Status != "pending" || one.Owner != "" || !strings.Contains(one.Description+string(mustJSON(one.Metadata)), "dead had it") {
		t.Errorf("the dead one's task: %+v", one)
	}
	if two := into[api.Task](r, "task", "show", "2"); two.Status != "in_progress" || two.Owner != "slow" {
		t.Errorf("the slow one's task: %+v", two)
	}
	told := 0
	for _, m := range boxOf(r, "alpha", "team-lead") {
		if strings.Contains(m.Text, "dead is lost") {
			told++
		}
	}
	r.must("gc")
	if told != 1 {
		t.Errorf("the lead was told %d times", told)
	}
}

func mustJSON(v any) []byte { b, _ := json.Marshal(v); return b }
