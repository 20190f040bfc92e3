package integration_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

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
	a.must("spawn", "short", "--machine", "hub", "--cwd", b.path("work"), "--", "sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; exit 3")
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
	b.eventually("short has ended", func() bool { return hostRecord(b, "alpha", "short").Ended != nil })
	way.Mend()

	a.eventually("the task is completed", func() bool { return into[api.Task](a, "task", "show", "1").Status == "completed" })
	a.eventually("it is written down who was lost", func() bool { return a.member("sleeper").State == api.StateLost })
	a.eventually("who lived on is there", func() bool { m := a.member("doer"); return m.State == api.StateIdle && m.PID != 0 })
	if got := begun(); got != "1\n" {
		t.Errorf("the worker began %q", got)
	}
	toldOnce(a, "sleeper is lost")
	toldOnce(a, "short is failed: exited with 3")
	if list := into[[]api.Machine](a, "machine", "ls"); list[1].Teammates != 1 {
		t.Errorf("who is counted there: %+v", list[1])
	}
	a.must("down", "alpha", "--timeout", "5s")
}

// TestASilentMachineLosesItsTasks: the tasks of a machine that stays away are free after
// lifecycle.silent, and not before: a machine that was cut off itself blames nobody for that
// time. The one that comes back does not take them again.
func TestASilentMachineLosesItsTasks(t *testing.T) {
	t.Parallel()
	const silent = 16 * time.Second // no shorter than a machine takes to count as silent
	engine, a, b := twoMachines(t)
	c := machine(t)
	t.Cleanup(func() { c.run("machine", "leave", "--force") })
	err := os.MkdirAll(c.path("home", "leadlight"), 0o700)
	if err == nil {
		err = os.WriteFile(c.path("home", "leadlight", "config.yaml"), []byte("lifecycle: {silent: "+silent.String()+"}\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ways := map[*rig]*natstest.Relay{}
	for r, name := range map[*rig]string{b: "hub", c: "lab"} {
		way, err := natstest.NewRelay(engine.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(way.Mend) // what ends the team comes after it
		r.must("machine", "join", way.URL(), "--name", name)
		ways[r] = way
	}
	a.must("machine", "join", engine.URL, "--name", "desk")
	a.must("team", "create", "alpha", "--engine", engine.URL, "--cwd", a.path("work"))
	b.must("spawn", "doer", "--kind", "worker", "--cwd", b.path("work"), "--", "sh", "-c", "touch begun; while [ ! -e go ]; do sleep 0.05; done; echo late")
	a.must("spawn", "sleeper", "--machine", "hub", "--cwd", b.path("work"), "--", "sleep", "1000")
	a.must("task", "add", "one")
	b.eventually("the worker works", func() bool { _, err := os.Stat(b.path("work", "begun")); return err == nil })
	task := func() api.Task { return into[api.Task](a, "task", "show", "1") }

	ways[b].Cut()
	ways[c].Cut()
	a.eventually("hub is silent for long enough", func() bool {
		all := into[[]api.Machine](a, "machine", "ls")
		i := slices.IndexFunc(all, func(m api.Machine) bool { return m.Name == "hub" })
		return time.Duration(all[i].SilentMS)*time.Millisecond > silent
	})
	if got := task(); got.Owner != "doer" {
		t.Errorf("free before somebody was there all the time: %+v", got)
	}
	back := time.Now()
	ways[c].Mend()
	a.eventually("the task is free", func() bool { return task().Status == "pending" })
	if took := time.Since(back); took < silent {
		t.Errorf("it was free %v after who judges was back", took)
	}
	if got := a.must("task", "show", "1", "--json"); !strings.Contains(got, "doer had it and is unknown: machine hub is silent for ") {
		t.Errorf("what is said of it: %s", got)
	}
	a.must("task", "claim", "1", "--as", "another")
	if err := syscall.Kill(hostRecord(b, "alpha", "sleeper").Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.path("work", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ways[b].Mend()
	a.eventually("it is written down who was lost", func() bool { return a.member("sleeper").State == api.StateLost })
	a.eventually("the worker waits for another task", func() bool { m := a.member("doer"); return m.State == api.StateIdle && m.PID != 0 })
	if got := task(); got.Owner != "another" || got.Status != "in_progress" {
		t.Errorf("who came back has changed it: %+v", got)
	}
	toldOnce(a, "sleeper is lost")
	toldOnce(a, "Machine hub says nothing for 16s or longer")
	a.must("down", "alpha", "--timeout", "5s")
}
