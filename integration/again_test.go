package integration_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestXD02_UpGoesOn: whatever ended up, the next one adopts the team, leaves who runs, starts
// who does not, and follows the team to its end.
func TestXD02_UpGoesOn(t *testing.T) {
	t.Parallel()
	const file = "team: again\nlifecycle: {ask: 100ms, term: 2s}\nmembers:\n  - {name: w, agent: shell, run: task}\n" +
		"  - {name: s, command: [sleep, \"1000\"]}\ntasks:\n  - {subject: long, owner: w, run: 'echo begun >>log; until [ -e go ]; do sleep 0.05; done'}\n"
	for how, c := range map[string]struct {
		end  func(r *rig, up *running)
		says string
		runs int // how often the task was begun
	}{
		"interrupted": {func(_ *rig, up *running) { up.signal(os.Interrupt) }, "team again is adopted: 2 teammates continue", 1},
		"killed":      {func(_ *rig, up *running) { up.signal(syscall.SIGKILL) }, "team again is adopted: 2 teammates continue", 1},
		"switched off": {func(r *rig, up *running) {
			up.signal(syscall.SIGKILL)
			r.switchOff("again", "w", "s")
		}, "s was lost: it is started again", 2},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := newHeadless(t)
			if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			begun := func() int {
				log, _ := os.ReadFile(r.path("work", "log"))
				return strings.Count(string(log), "begun")
			}
			up := r.start(nil, "up")
			r.eventually("up follows the task", func() bool { return strings.Contains(up.errs.String(), "long: in_progress (w)") && begun() == 1 })
			c.end(r, up)
			up.wait()
			up = r.start(nil, "up")
			r.eventually("up says it", func() bool { return strings.Contains(up.errs.String(), c.says) })
			r.eventually("the task runs still, or again", func() bool { return begun() == c.runs })
			if err := os.WriteFile(r.path("work", "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if res := up.wait(); res.exit != 0 || !strings.Contains(res.out, "completed") || begun() != c.runs {
				t.Errorf("up: exit %d, the task was begun %d times\n%s%s", res.exit, begun(), res.out, res.err)
			}
		})
	}
}

// TestXD02_AKeptTeamStays: it takes what comes after its tasks are done, until it is taken down.
func TestXD02_AKeptTeamStays(t *testing.T) {
	t.Parallel()
	r := newHeadless(t)
	file := "team: kept\nmembers: [{name: w, agent: shell, run: \"true\"}]\ntasks: [{subject: first}]\n"
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	up := r.start(nil, "up", "--keep")
	r.eventually("it is kept", func() bool {
		return strings.Contains(up.errs.String(), "nothing is left to do; the team is kept until ^C or leadlight down kept")
	})
	r.must("task", "add", "second")
	r.eventually("the second task is done", func() bool { return strings.Contains(up.errs.String(), "second: completed") })
	r.must("down", "--timeout", "100ms")
	if res := up.wait(); res.exit != 0 || !strings.Contains(res.err, "was taken down") {
		t.Errorf("up: exit %d\n%s", res.exit, res.err)
	}
}

// TestXD05_UpLeavesTheLostAsLost: up ends when nobody is there for its tasks any more. Who was
// lost stays lost: ps names the command, and up starts them again and goes on.
func TestXD05_UpLeavesTheLostAsLost(t *testing.T) {
	t.Parallel()
	r := newHeadless(t)
	file := "team: gone\nlifecycle: {ask: 100ms, term: 2s}\nmembers:\n  - {name: w, agent: shell, run: task}\n  - {name: s, command: [sleep, \"1000\"]}\n" +
		"tasks:\n  - {subject: long, owner: w, run: 'until [ -e go ]; do sleep 0.05; done'}\n"
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	up := r.start(nil, "up")
	r.eventually("up follows the task", func() bool { return strings.Contains(up.errs.String(), "long: in_progress (w)") })
	if err := syscall.Kill(hostRecord(r, "gone", "w").Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	res := up.wait()
	for _, said := range []string{"lost: w (", "start again with: leadlight restart --lost", "leadlight up starts lost teammates again and goes on"} {
		if res.exit != 1 || !strings.Contains(res.err, said) {
			t.Errorf("up: exit %d, and it does not say %q\n%s", res.exit, said, res.err)
		}
	}
	if out := r.must("ps"); !strings.Contains(out, "lost: w (") || !strings.Contains(out, "1 stopped, not shown") {
		t.Errorf("ps:\n%s", out)
	}
	if err := os.WriteFile(r.path("work", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := r.run("up"); res.exit != 0 || !strings.Contains(res.err, "w was lost: it is started again") {
		t.Errorf("up again: exit %d\n%s", res.exit, res.err)
	}
}

// A verb whose narration nobody reads any more does its work to the end, not half of it.
func TestWhoHasGoneIsToldNothing(t *testing.T) {
	t.Parallel()
	r := newHeadless(t)
	r.team("alpha")
	old := r.headless("bob", "sleep", "1000")
	gone, stderr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	_ = gone.Close()
	for _, verb := range []string{"restart", "stop", "down"} {
		cmd := exec.Command(r.bin, verb)
		if verb != "down" {
			cmd.Args = append(cmd.Args, "bob")
		}
		cmd.Dir, cmd.Env, cmd.Stderr = r.path("work"), r.env, stderr
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		if verb == "restart" {
			if now := r.member("bob"); now.State != "active" || now.PID == old.PID {
				t.Errorf("bob is %s with pid %d, before %d", now.State, now.PID, old.PID)
			}
		}
	}
}
