package integration_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// machine is a rig without a terminal that is to join an engine.
func machine(t *testing.T) *rig {
	r := newRig(t, "")
	r.env = append(r.env, "LEADLIGHT_BACKEND=headless", "LEADLIGHT_TEAM=alpha")
	return r
}

// TestTeamOnTwoMachines: a team on an engine, seen and worked on from two machines, that
// lose a daemon and the engine.
func TestTeamOnTwoMachines(t *testing.T) {
	engine, err := natstest.Start("")
	if errors.Is(err, natstest.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Stop)
	a, b := machine(t), machine(t)
	t.Cleanup(func() { // before the rigs look for what is left
		for _, r := range []*rig{a, b} {
			r.run("down", "alpha", "--force", "--timeout", "1s")
		}
		for _, r := range []*rig{a, b} {
			r.run("machine", "leave", "--force")
		}
	})
	if r := a.run("team", "create", "alpha", "--engine", engine.URL); r.exit != 6 || !strings.Contains(r.err, "ENGINE_UNAVAILABLE") {
		t.Errorf("before it joined: %d %s", r.exit, r.err)
	}
	a.must("machine", "join", engine.URL, "--name", "desk")
	b.must("machine", "join", engine.URL, "--name", "hub")
	a.must("team", "create", "alpha", "--engine", engine.URL, "--cwd", a.path("work"))
	a.must("spawn", "sleeper", "--cwd", a.path("work"), "--", "sleep", "1000")
	b.must("spawn", "worker", "--agent", "shell", "--cwd", b.path("work"))

	checkPlaces(t, a, b)
	a.must("task", "add", "one", "--owner", "worker", "--meta", "run=exit 0")
	b.must("send", "team-lead", "from the hub")
	if box := into[[]api.Message](a, "inbox"); !slices.ContainsFunc(box, func(m api.Message) bool { return m.Text == "from the hub" }) {
		t.Errorf("inbox on the desk: %+v", box)
	}
	b.must("task", "add", "two")
	if got := a.must("task", "claim", "2", "--as", "sleeper"); strings.TrimSpace(got) != "2" {
		t.Errorf("claimed %q", got)
	}
	if r := b.run("task", "claim", "2", "--as", "worker"); r.exit != 4 || !strings.Contains(r.err, "sleeper") {
		t.Errorf("claimed twice: %d %s", r.exit, r.err)
	}

	status := into[api.DaemonStatus](b, "daemon", "status")
	if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if list := into[[]api.Task](b, "task", "ls"); len(list) != 2 {
		t.Errorf("after the daemon was killed: %+v", list)
	}
	checkWithoutEngine(t, a, b, engine)
	b.must("stop", "worker", "--force")
	a.must("stop", "sleeper")
	a.must("down", "alpha")
	b.must("machine", "leave")
}

// checkPlaces: each machine sees all, and touches only what is its own.
func checkPlaces(t *testing.T, a, b *rig) {
	t.Helper()
	for r, other := range map[*rig]string{a: "worker", b: "sleeper"} {
		m := r.member(other)
		if m.State != api.StateUnknown || m.Machine == "" || !strings.Contains(m.Reason, m.Machine) {
			t.Errorf("%s seen from the other machine: %+v", other, m)
		}
		for _, verb := range []string{"stop", "restart", "capture", "logs"} {
			if got := r.run(verb, other); got.exit != 2 || !strings.Contains(got.err, "runs on machine "+m.Machine) {
				t.Errorf("%s %s from the other machine: %d %s", verb, other, got.exit, got.err)
			}
		}
		r.must("gc")
	}
	if m := a.member("sleeper"); m.State != api.StateActive {
		t.Errorf("sleeper after all that: %+v", m)
	}
	for _, m := range into[[]api.Machine](a, "machine", "ls") {
		if m.State != "active" || m.Teammates != 1 || m.This != (m.Name == "desk") {
			t.Errorf("machine %+v", m)
		}
	}
	if r := a.run("machine", "leave"); r.exit != 4 || !strings.Contains(r.err, "ACTIVE_MEMBERS") {
		t.Errorf("left with a teammate: %d %s", r.exit, r.err)
	}
}

// checkWithoutEngine kills the engine, and starts it again.
func checkWithoutEngine(t *testing.T, a, b *rig, engine *natstest.Server) {
	t.Helper()
	engine.Kill()
	a.eventually("it is noticed", func() bool { return a.run("task", "ls").exit == 6 })
	began := time.Now()
	if r := a.run("task", "claim", "--next"); r.exit != 6 || !strings.Contains(r.err, "ENGINE_UNAVAILABLE") {
		t.Errorf("a claim without the engine: %d %s", r.exit, r.err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if r := a.run("gc"); r.exit != 6 {
		t.Errorf("gc without the engine: %d %s", r.exit, r.err)
	}
	a.must("team", "create", "files")
	a.must("task", "add", "here", "--team", "files")
	a.must("team", "delete", "files")
	if err := engine.Restart(); err != nil {
		t.Fatal(err)
	}
	b.eventually("it is back", func() bool { return b.run("task", "ls").exit == 0 })
	a.eventually("it is back", func() bool { return a.run("task", "ls").exit == 0 })
	if m := a.member("sleeper"); m.State != api.StateActive {
		t.Errorf("sleeper after that: %+v", m)
	}
}
