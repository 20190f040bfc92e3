package integration_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// hold takes a lock, so that a verb stops at the moment at which it needs it.
func (r *rig) hold(dir, name string) (release func()) {
	r.t.Helper()
	release, err := lock.In(context.Background(), dir, name, "hold a verb up", time.Minute)
	if err != nil {
		r.t.Fatal(err)
	}
	return release
}

// holdTerminal stops every spawn between its entry in the roster and its pane. A pane must
// have been opened before.
func (r *rig) holdTerminal() (release func()) {
	r.t.Helper()
	found, err := filepath.Glob(r.path("run", "leadlight", "terminal-*.lock"))
	if err != nil || len(found) != 1 {
		r.t.Fatalf("locks of terminals: %v, %v", found, err)
	}
	return r.hold(filepath.Dir(found[0]), filepath.Base(found[0]))
}

// holdRoster stops whoever wants to change the roster, with our own lock of it.
func (r *rig) holdRoster(team string) (release func()) {
	return r.hold(r.path("base"), filepath.Join("leadlight", team, "locks", "roster"))
}

// entryIs waits until the roster has a teammate in a state.
func (r *rig) entryIs(name, state string) {
	r.t.Helper()
	r.eventually(name+" stands in the roster as "+state, func() bool {
		for _, m := range rosterOf(r, "alpha").Members {
			if m.Name == name && m.Leadlight != nil && m.Leadlight.State == state {
				return true
			}
		}
		return false
	})
}

// says waits until a run has said something.
func (r *rig) says(run *running, text string) {
	r.t.Helper()
	r.eventually(fmt.Sprintf("%v says %q", run.cmd.Args[1:], text), func() bool { return strings.Contains(run.errs.String(), text) })
}

// goneWhole proves that nothing runs for a teammate, nothing is marked, and says what the
// roster has.
func (r *rig) goneWhole(name, host, state string) {
	r.t.Helper()
	if left, err := signals.Marked(host); err != nil || len(left) > 0 {
		r.t.Errorf("%s has left %v, %v", name, left, err)
	}
	if n := r.open(); n != 1 {
		r.t.Errorf("%d panes, want that of the first one only", n)
	}
	for _, m := range into[[]api.Member](r, "ps", "--all") {
		if m.Name == name && m.State != state {
			r.t.Errorf("%s is %s (%s), want %q", name, m.State, m.Reason, state)
		}
		if m.Name == name && state == "" {
			r.t.Errorf("the roster still has %s", name)
		}
	}
	if left := into[[]api.Orphan](r, "gc", "--dry-run"); len(left) > 0 {
		r.t.Errorf("left: %+v", left)
	}
}

// TestXF17_StopWaitsForASpawn: stop comes between the steps of a spawn, and ends what
// that has started.
func TestXF17_StopWaitsForASpawn(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		r.spawn("first", nil, r.stub("mute")...)
		for moment, name := range []string{"bob", "ann"} {
			opened := r.holdTerminal()
			spawn := r.start(nil, append([]string{"spawn", name, "--"}, r.stub("mute")...)...)
			r.entryIs(name, api.StateStarting)
			host := hostOf(r, name)
			written := func() {}
			if moment == 1 { // its agent runs, and that is not yet written down
				written = r.holdRoster("alpha")
				opened()
				r.eventually("its host runs", func() bool {
					_, err := os.Stat(r.path("base", "leadlight", "alpha", "hosts", name+".json"))
					return err == nil
				})
				opened = func() {}
			}
			stop := r.start(nil, "stop", name+"@alpha", "--timeout", "1s")
			r.says(stop, name+": waits for process")
			opened()
			written()
			if res := spawn.wait(); res.exit != 0 {
				t.Errorf("spawn: exit %d, %s", res.exit, res.err)
			}
			if res := stop.wait(); res.exit != 0 || !strings.Contains(res.out, api.Terminated) {
				t.Errorf("stop: exit %d, %s%s", res.exit, res.out, res.err)
			}
			r.goneWhole(name, host, api.StateStopped)
		}
	})
}

// TestXF17_StopWaitsForARestart: what the restart has started is ended, not only what ran before.
func TestXF17_StopWaitsForARestart(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		r.spawn("first", nil, r.stub("mute")...)
		slow := r.slowToEnd("bob")
		restart := r.start(nil, "restart", "bob")
		slow.asked()
		stop := r.start(nil, "stop", "bob", "--timeout", "1s")
		r.says(stop, "bob: waits for process")
		slow.letGo()
		if res := restart.wait(); res.exit != 0 {
			t.Errorf("restart: exit %d, %s", res.exit, res.err)
		}
		if res := stop.wait(); res.exit != 0 || !strings.Contains(res.out, api.Terminated) {
			t.Errorf("stop: exit %d, %s%s", res.exit, res.out, res.err)
		}
		r.goneWhole("bob", hostOf(r, "bob"), api.StateStopped)
	})
}

// TestXF17_TwoStops: the second one says that it was stopped already.
func TestXF17_TwoStops(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		r.spawn("first", nil, r.stub("mute")...)
		slow := r.slowToEnd("bob")
		one := r.start(nil, "stop", "bob")
		slow.asked()
		two := r.start(nil, "stop", "bob")
		r.says(two, "bob: waits for process")
		slow.letGo()
		for want, run := range map[string]*running{api.Terminated: one, api.AlreadyStopped: two} {
			if res := run.wait(); res.exit != 0 || !strings.Contains(res.out, want) {
				t.Errorf("exit %d, want %s: %s%s", res.exit, want, res.out, res.err)
			}
		}
		r.goneWhole("bob", hostOf(r, "bob"), api.StateStopped)
	})
}

// TestXF17_TwoSpawnsAndDelete: one name, two spawns: the second one says what the first
// came to. A team with a teammate on its way is not deleted.
func TestXF17_TwoSpawnsAndDelete(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		r.spawn("first", nil, r.stub("mute")...)
		opened := r.holdTerminal()
		one := r.start(nil, append([]string{"spawn", "bob", "--"}, r.stub("mute")...)...)
		r.entryIs("bob", api.StateStarting)
		two := r.start(nil, append([]string{"spawn", "bob", "--"}, r.stub("mute")...)...)
		if res := r.run("team", "delete", "alpha"); res.exit != 4 || !strings.Contains(res.err, "bob (starting)") {
			t.Errorf("delete: exit %d, %s", res.exit, res.err)
		}
		opened()
		if res := one.wait(); res.exit != 0 {
			t.Errorf("the first: exit %d, %s", res.exit, res.err)
		}
		if res := two.wait(); res.exit == 0 || !strings.Contains(res.err, "DUPLICATE_NAME") || !strings.Contains(res.err, "it is active") {
			t.Errorf("the second: exit %d, %s", res.exit, res.err)
		}
		if n := r.open(); n != 2 {
			t.Errorf("%d panes, want 2", n)
		}
	})
}

// TestXF17_AnEarlyFailureIsToldOnce: an agent that fails in its first moments is reported by
// the spawn, which leaves nothing of it, or else, once, to the lead.
func TestXF17_AnEarlyFailureIsToldOnce(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		r.spawn("first", nil, r.stub("mute")...)
		told := func(name string) (n int) {
			for _, m := range boxOf(r, "alpha", "team-lead") {
				if strings.Contains(m.Text, name+" is failed: exited with 3") {
					n++
				}
			}
			return n
		}
		// It fails when the spawn has said that it runs.
		gate := r.gate("gate")
		r.spawn("bob", nil, "sh", "-c", "read x < "+gate.path+"; exit 3")
		gate.open()
		r.entryIs("bob", api.StateFailed)
		if n := told("bob"); n != 1 {
			t.Errorf("the lead was told %d times", n)
		}
		r.must("stop", "bob")
		// It fails while the spawn is writing down that it runs.
		gate = r.gate("gate2")
		opened := r.holdTerminal()
		spawn := r.start(nil, "spawn", "ann", "--", "sh", "-c", "read x < "+gate.path+"; exit 3")
		r.entryIs("ann", api.StateStarting)
		host := hostOf(r, "ann")
		written := r.holdRoster("alpha")
		opened()
		gate.open()
		r.eventually("its end is recorded", func() bool {
			data, err := os.ReadFile(r.path("base", "leadlight", "alpha", "hosts", "ann.json"))
			return err == nil && strings.Contains(string(data), "exited with 3")
		})
		written()
		res := spawn.wait()
		if res.exit == 0 { // its host finds it written down that it runs, and then tells
			r.eventually("the lead is told", func() bool { return told("ann") > 0 })
		}
		switch n := told("ann"); {
		case res.exit == 0 && n == 1:
		case res.exit != 0 && n == 0 && strings.Contains(res.err, "exited with 3"):
			r.goneWhole("ann", host, "")
		default:
			t.Errorf("spawn: exit %d, the lead was told %d times\n%s", res.exit, n, res.err)
		}
	})
}

// TestXF17_AnEntryTakenOutMeanwhile: another client puts an older roster back while a teammate
// starts. The spawn says so, and ends what it has started.
func TestXF17_AnEntryTakenOutMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRig(t, windowSize)
	r.team("alpha")
	r.spawn("first", nil, r.stub("mute")...)
	config := r.path("base", "teams", "alpha", "config.json")
	older, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	opened := r.holdTerminal()
	spawn := r.start(nil, "spawn", "ann", "--", "sleep", "1000")
	r.entryIs("ann", api.StateStarting)
	host := hostOf(r, "ann")
	if err := os.WriteFile(config, older, 0o600); err != nil {
		t.Fatal(err)
	}
	opened()
	if res := spawn.wait(); res.exit != 6 || !strings.Contains(res.err, "the entry of ann was taken out of the roster") {
		t.Errorf("exit %d, %s", res.exit, res.err)
	}
	r.goneWhole("ann", host, "")
}

// TestXF17_TwoDowns: the one that comes too late to delete the team has what it wanted.
func TestXF17_TwoDowns(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.team("alpha")
	r.spawn("first", nil, r.stub("mute")...)
	slow := r.slowToEnd("bob")
	one := r.start(nil, "down", "alpha")
	slow.asked()
	two := r.start(nil, "down", "alpha")
	r.says(two, "bob: waits for process")
	slow.letGo()
	for _, run := range []*running{one, two} {
		if res := run.wait(); res.exit != 0 || !strings.Contains(res.err, "team alpha is down and deleted") {
			t.Errorf("exit %d: %s%s", res.exit, res.out, res.err)
		}
	}
}

// TestXF17_UpWaitsForDown: up while the team is taken down makes it anew afterwards.
func TestXF17_UpWaitsForDown(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		gate := r.gate("gate")
		file := fmt.Sprintf("team: alpha\nmembers:\n  - name: bob\n    command: [sh, -c, %q]\n", trapped(r, gate))
		if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		r.must("up", "--detach")
		slow := &slowEnd{r, gate}
		down := r.start(nil, "down", "alpha")
		slow.asked()
		up := r.start(nil, "up", "--detach")
		r.says(up, "waits for process")
		slow.letGo()
		if res := down.wait(); res.exit != 0 || !strings.Contains(res.err, "down and deleted") {
			t.Errorf("down: exit %d, %s%s", res.exit, res.out, res.err)
		}
		if res := up.wait(); res.exit != 0 {
			t.Errorf("up: exit %d, %s", res.exit, res.err)
		}
		if got := r.member("bob"); got.State != api.StateActive {
			t.Errorf("bob is %s", got.State)
		}
	})
}

// fifo is a gate at which an agent waits.
type fifo struct {
	r    *rig
	path string
}

func (r *rig) gate(name string) fifo {
	r.t.Helper()
	path := r.path(name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return fifo{r, path}
}

// failing starts a teammate that says something and fails when it is let go: no sleep decides
// whether it was started before.
func (r *rig) failing(name, says string, flags ...string) (m api.Member, fail func()) {
	r.t.Helper()
	gate := r.gate("gate-" + name)
	m = r.spawn(name, flags, "sh", "-c", "read x < "+gate.path+"; "+says+"exit 3")
	return m, gate.open
}

// open lets one through that waits, or that comes.
func (f fifo) open() {
	f.r.t.Helper()
	w, err := os.OpenFile(f.path, os.O_RDWR, 0)
	if err == nil {
		_, err = w.WriteString("go\n")
		f.r.t.Cleanup(func() { _ = w.Close() })
	}
	if err != nil {
		f.r.t.Fatal(err)
	}
}

// slowEnd is an agent that takes its time to end when it gets TERM for the first time.
type slowEnd struct {
	r    *rig
	gate fifo
}

// trapped is its program. It has as long as a test may take.
func trapped(r *rig, gate fifo) string {
	dir := r.path("home", "leadlight")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("lifecycle:\n  term: 50s\n"), 0o600)); err != nil {
		r.t.Fatal(err)
	}
	return fmt.Sprintf("trap '[ -e %[1]s ] || { : > %[1]s; read x < %[2]s; }; exit 0' TERM; echo ready; while :; do sleep 0.05; done", r.path("termed"), gate.path)
}

func (r *rig) slowToEnd(name string) *slowEnd {
	r.t.Helper()
	gate := r.gate("gate")
	r.spawn(name, nil, "sh", "-c", trapped(r, gate))
	r.eventually("it is ready", func() bool { return strings.Contains(r.must("capture", name), "ready") })
	return &slowEnd{r, gate}
}

// asked waits until it has got TERM.
func (s *slowEnd) asked() {
	s.r.t.Helper()
	s.r.eventually("it has got TERM", func() bool { _, err := os.Stat(s.r.path("termed")); return err == nil })
}

func (s *slowEnd) letGo() { s.gate.open() }
