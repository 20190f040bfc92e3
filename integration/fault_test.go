package integration_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestSH09_CR06_FaultOfTheLead: up is killed. Its team goes on, is taken over, and
// whoever asks for the same teammates again gets no second ones.
func TestSH09_CR06_FaultOfTheLead(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		g := gangOn(t, r)
		up := g.start(nil, "up")
		g.eventually("the team is there", func() bool { return g.alive("gang") == gangSize })
		g.atWork(gangSize)
		putMail(g.rig, "gang", worker(0), store.Lead, "unread until the end")
		up.signal(syscall.SIGKILL)
		up.wait()
		before := hostRecord(g.rig, "gang", worker(3)).Process
		g.states(nil)
		if got := into[api.Takeover](g.rig, "team", "takeover", "gang"); len(got.Adopted) != gangSize {
			t.Errorf("takeover: %+v", got)
		}
		for i := range gangSize {
			res := g.run("spawn", worker(i), "--agent", "shell", "--", "sleep", "1000")
			if res.exit != 4 || !strings.Contains(res.err, "DUPLICATE_NAME") || !strings.Contains(res.err, "active") {
				t.Errorf("a second %s: exit %d, %s", worker(i), res.exit, res.err)
			}
		}
		if now := hostRecord(g.rig, "gang", worker(3)).Process; now != before {
			t.Errorf("%s has another host", worker(3))
		}
		g.sound()
	})
}

// TestTC09_FaultOfAHost: a host is killed in the middle of a task, with what it runs
// left behind.
func TestTC09_FaultOfAHost(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		g := gangOn(t, r)
		g.begin()
		id := hostRecord(g.rig, "gang", worker(2)).Host
		g.kill(worker(2), syscall.SIGKILL)
		g.states(map[string]string{worker(2): api.StateLost})
		g.sound(worker(2))
		if left, err := signals.Marked(id); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
		g.must("restart", worker(2))
		g.atWork(gangSize)
	})
}

// TestCR01_FaultOfTheTerminal: the tmux server is killed.
// https://github.com/smtg-ai/claude-squad/pull/322
func TestCR01_FaultOfTheTerminal(t *testing.T) {
	t.Parallel()
	g := newGang(t)
	g.begin()
	g.tmux.Kill()
	g.stranger = nil // it sat in that terminal
	g.states(everybody(api.StateLost))
	for _, m := range into[[]api.Member](g.rig, "ps", "--all") {
		if m.Reason == "" {
			t.Errorf("%s is lost without a reason", m.Name)
		}
	}
	for _, args := range [][]string{{"attach", worker(1)}, {"send", worker(1), "hello"}} {
		if res := g.run(args...); res.exit == 0 || !strings.Contains(res.err, "lost") {
			t.Errorf("%v: exit %d, %s", args, res.exit, res.err)
		}
	}
	g.sound(slices.Sorted(slices.Values(names()))...)
	res := g.runEnv([]string{"TMUX=", "TMUX_PANE="}, "restart", worker(1), "-t", "gang")
	if res.exit != 0 {
		t.Errorf("restart elsewhere: exit %d, %s", res.exit, res.err)
	}
}

func names() (all []string) {
	for i := range gangSize {
		all = append(all, worker(i))
	}
	return all
}

// TestCR02_FaultOfTheMachine: it was switched off. The files stay; of everything
// that ran they speak of another boot, and one number belongs to a stranger now.
// https://github.com/Thurbeen/thurbox/pull/971
func TestCR02_FaultOfTheMachine(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		g := gangOn(t, r)
		g.begin()
		self := g.switchOff("gang", names()...)
		g.stranger = &self
		g.states(everybody(api.StateLost))
		if m := g.member(worker(0)); m.Reason != "the machine was restarted" {
			t.Errorf("the reason is %q", m.Reason)
		}
		g.sound(names()...)
		if n := g.alive("gang"); n != 0 {
			t.Errorf("%d were started again without being asked", n)
		}
	})
}

// switchOff ends all that runs of a team as a machine does that is switched off, and returns
// the process that has got the number of each host since.
func (r *rig) switchOff(team string, names ...string) (stranger signals.Identity) {
	r.t.Helper()
	hosts := map[string]panes.HostRecord{}
	for _, name := range names {
		hosts[name] = hostRecord(r, team, name)
	}
	for _, rec := range hosts { // first, so that none says goodbye
		if err := syscall.Kill(rec.Process.PID, syscall.SIGKILL); err != nil {
			r.t.Fatal(err)
		}
	}
	if !r.isHeadless() {
		r.tmux.Kill()
	}
	for _, rec := range hosts {
		if _, err := (signals.TreeKiller{Host: rec.Host, Kill: 2 * time.Second}).Run(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := os.RemoveAll(r.path("run", "leadlight")); err != nil {
		r.t.Fatal(err)
	}
	stranger, err := signals.Self()
	if err != nil {
		r.t.Fatal(err)
	}
	for name, rec := range hosts {
		rec.Process.PID = stranger.PID         // given out again
		rec.Process.Start = stranger.Start + 1 // by a clock that began anew
		rec.Process.Boot = "another-boot"
		data, err := json.Marshal(rec)
		if err != nil {
			r.t.Fatal(err)
		}
		plant(r, panes.OwnPath(team, "hosts", name+".json"), data)
	}
	return stranger
}

// TestTV11_FaultOfAStoppedHost: a host that is stopped is unknown, not dead: nothing of
// it is touched, and it goes on when it is let go. tmux lets it go at once; so tmux
// is stopped, too.
func TestTV11_FaultOfAStoppedHost(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		g := gangOn(t, r)
		g.begin()
		resume := func() {}
		if !g.isHeadless() {
			resume = g.tmux.Stop()
		}
		g.kill(worker(4), syscall.SIGSTOP)
		g.eventually("it is unknown", func() bool {
			m := g.member(worker(4))
			return m.State == api.StateUnknown && m.Reason != ""
		})
		g.run("gc")                                                                             // it may say that tmux does not answer
		for _, args := range [][]string{{"capture", worker(4)}, {"keys", worker(4), "enter"}} { // nobody waits for it for ever
			if r := g.run(args...); r.exit != 7 || !strings.Contains(r.err, "its host runs but has not answered for 2s (TIMEOUT)") || !strings.Contains(r.err, "leadlight stop "+worker(4)) {
				t.Errorf("%v of a host that is stopped: %d %s", args, r.exit, r.err)
			}
		}
		if ids := g.with("in_progress"); len(ids) != gangSize {
			t.Errorf("in progress: %v", ids)
		}
		g.kill(worker(4), syscall.SIGCONT)
		resume()
		g.states(nil)
		g.sound()
	})
}

// TestMH03_FaultOfTheFolders: the run folder is removed under everybody; nobody
// notices for long.
func TestMH03_FaultOfTheFolders(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		g := gangOn(t, r)
		g.begin()
		if err := os.RemoveAll(g.path("run", "leadlight")); err != nil {
			t.Fatal(err)
		}
		g.states(nil)
		g.sound()
	})
}

// TestMH03_FaultOfTheDisk: the base directory cannot be written for a while. Who
// wants to write is told so at once with the path, nothing is harmed, and a teammate can be
// ended all the same.
// https://github.com/anthropics/claude-code/issues/56893
func TestMH03_FaultOfTheDisk(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 && !readOnlyWorks(t) {
		t.Skip("nothing can be made read-only here")
	}
	g := newGang(t)
	g.begin()
	base := g.path("base")
	before := tree(t, g.path("base", "tasks"))
	release := makeReadOnly(t, base)
	for _, args := range [][]string{{"task", "add", "more"}, {"send", worker(0), "hello"}, {"team", "create", "other", "--description", "x"}} {
		began := time.Now()
		res := g.run(args...)
		if res.exit == 0 || !strings.Contains(res.err, "read-only") || time.Since(began) > time.Minute {
			t.Errorf("%v: exit %d after %s, %s", args, res.exit, time.Since(began), res.err)
		}
	}
	g.states(nil)
	host := hostRecord(g.rig, "gang", worker(0)).Process
	res := g.run("stop", worker(0), "--timeout", "1s")
	if res.exit != 5 || !strings.Contains(res.err, ": ended, but that could not be written down") || host.Probe() != signals.Gone {
		t.Errorf("stop: exit %d, its host is %s, %s", res.exit, host.Probe(), res.err)
	}
	if res := g.run("gc"); !strings.Contains(res.out, "kept team gang") {
		t.Errorf("gc says nothing of what it could not write down: exit %d, %s%s", res.exit, res.out, res.err)
	}
	sameButLead(t, before, tree(t, g.path("base", "tasks")))
	release()
	g.must("stop", worker(0))
	g.must("restart", worker(0))
	g.atWork(gangSize)
	g.sound()
}
