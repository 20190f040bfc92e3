package integration_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// TestAMachineIsCutOff: both halves go on with what is theirs. What ended meanwhile is
// written down once when they meet again.
func TestAMachineIsCutOff(t *testing.T) {
	t.Parallel()
	engine, a, b := twoMachines(t)
	way, err := natstest.NewRelay(engine.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(way.Mend) // what ends the team comes after it
	a.must("machine", "join", engine.URL, "--name", "desk")
	b.must("machine", "join", way.URL(), "--name", "hub")
	a.must("team", "create", "alpha", "--engine", engine.URL, "--cwd", a.path("work"))
	b.must("spawn", "doer", "--kind", "worker", "--cwd", b.path("work"), "--", "sh", "-c", "echo $LEADLIGHT_TASK >>begun; while [ ! -e go ]; do sleep 0.05; done")
	a.must("spawn", "sleeper", "--machine", "hub", "--cwd", b.path("work"), "--", "sleep", "1000")
	a.must("task", "add", "one", "--owner", "doer")
	a.must("task", "add", "two")
	begun := func() string { data, _ := os.ReadFile(b.path("work", "begun")); return string(data) }
	b.eventually("the worker works", func() bool { return begun() != "" })

	way.Cut()
	a.eventually("its teammates are unknown", func() bool {
		sleeper := a.member("sleeper")
		return sleeper.State == api.StateUnknown && strings.Contains(sleeper.Reason, "machine hub is silent for ")
	})
	if task := into[api.Task](a, "task", "show", "1"); task.Owner != "doer" || task.Status != "in_progress" {
		t.Errorf("the task of the other half: %+v", task)
	}
	a.must("task", "claim", "2")
	b.eventually("it is noticed there", func() bool { return b.run("task", "ls").exit == 6 })
	if r := b.run("task", "claim", "2", "--as", "doer"); r.exit != 6 || !strings.Contains(r.err, "ENGINE_UNAVAILABLE") {
		t.Errorf("a claim of who is cut off: %d %s", r.exit, r.err)
	}
	if err := syscall.Kill(hostRecord(b, "alpha", "sleeper").Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.path("work", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	way.Mend()

	a.eventually("the task is completed", func() bool { return into[api.Task](a, "task", "show", "1").Status == "completed" })
	a.eventually("it is written down who was lost", func() bool { return a.member("sleeper").State == api.StateLost })
	a.eventually("who lived on is there", func() bool { m := a.member("doer"); return m.State == api.StateIdle && m.PID != 0 })
	if got := begun(); got != "1\n" {
		t.Errorf("the worker began %q", got)
	}
	toldOnce(a, "sleeper is lost")
	a.must("down", "alpha", "--timeout", "5s")
}
