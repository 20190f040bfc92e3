package integration_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestSH01_SH03_SH04_SH05_SH07_T03_StopAll: every kind of agent, all at once. The
// ladder of each is its own: the whole takes as long as the slowest.
// https://github.com/anthropics/claude-code/issues/69808
func TestSH01_SH03_SH04_SH05_SH07_T03_StopAll(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		stranger := exec.Command("sleep", "1000")
		if err := stranger.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
		own := r.path("t")
		want := map[string]string{
			"a": api.Approved, "b": api.Terminated, "c": api.Killed, "d": api.Killed, "e": api.RejectedStop, "f": api.Terminated,
		}
		hosts := map[string]string{}
		for name, argv := range map[string][]string{
			"a": r.stub("approve"), "b": r.stub("mute"), "c": r.stub("noterm"), "d": r.stub("forker"), "e": r.stub("refuse"), "f": r.stub("tmux", own),
		} {
			r.spawn(name, []string{"--kind", "native"}, argv...)
			hosts[name] = hostOf(r, name)
		}
		defer func() { _ = exec.Command("tmux", "-S", own, "kill-server").Run() }()
		for name := range want {
			if name != "b" {
				r.eventually(name+" is ready", func() bool { return strings.Contains(r.must("capture", name), "ready") })
			}
		}
		began := time.Now()
		res := r.run("stop", "--all", "--timeout", "6s", "--json")
		took := time.Since(began)
		if res.exit != 4 {
			t.Errorf("exit %d, want 4: one refused\n%s", res.exit, res.err)
		}
		var ends api.Endings
		if err := json.Unmarshal([]byte(res.out), &ends); err != nil {
			t.Fatal(err, res.out)
		}
		var sum, slowest time.Duration
		for _, e := range ends.Members {
			if e.Outcome != want[e.Name] {
				t.Errorf("%s: %s (%s), want %s", e.Name, e.Outcome, e.Reason, want[e.Name])
			}
			d := time.Duration(e.DurationMs) * time.Millisecond
			sum, slowest = sum+d, max(slowest, d)
			if e.Name == "e" {
				continue
			}
			left, err := signals.Marked(hosts[e.Name])
			if err != nil {
				t.Error(err)
			}
			left = slices.DeleteFunc(left, func(p signals.Process) bool {
				return e.Name == "f" && (p.Command == "tmux: server" || p.Command == "sleep")
			})
			if len(left) > 0 {
				t.Errorf("%s: survivors %v", e.Name, left)
			}
			if e.Name == "f" && (len(e.Leftovers) != 1 || !strings.Contains(e.Leftovers[0], "tmux")) {
				t.Errorf("the tmux server of an agent is not reported: %v", e.Leftovers)
			}
		}
		if ends.OK || took > slowest+30*time.Second || took > sum {
			t.Errorf("took %s; the slowest %s, the sum %s", took, slowest, sum)
		}
		refuser := r.member("e")
		if n := r.open(); n != 1 || !r.hasPane(refuser) {
			t.Errorf("%d panes are left", n)
		}
		if !tmuxtest.Alive(stranger.Process.Pid) {
			t.Error("a stranger was ended")
		}
		if out, err := exec.Command("tmux", "-S", own, "list-panes", "-a").CombinedOutput(); err != nil {
			t.Errorf("the agent's own tmux server is gone: %s", out)
		}
		if refuser.State != api.StateActive {
			t.Errorf("who refused is %s", refuser.State)
		}
		if got := into1[api.Endings](r, "stop", "e", "--timeout", "1s", "--force", "--json"); got.Members[0].Outcome != api.Terminated {
			t.Errorf("forced: %+v", got)
		}
		if got := into[api.Endings](r, "stop", "a"); got.Members[0].Outcome != api.AlreadyStopped {
			t.Errorf("again: %+v", got)
		}
	})
}

// hostOf is the host id of a member, as the roster has it.
func hostOf(r *rig, name string) string {
	r.t.Helper()
	for _, m := range rosterOf(r, "alpha").Members {
		if m.Name == name && m.Leadlight != nil {
			return m.Leadlight.Host
		}
	}
	r.t.Fatalf("no host of %s", name)
	return ""
}

// TestSH02_ApprovedButStillThere: an approval is a claim.
func TestSH02_ApprovedButStillThere(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		a := r.spawn("a", []string{"--kind", "native"}, r.stub("agree")...)
		began := time.Now()
		got := into[api.Endings](r, "stop", "a", "--timeout", "150s")
		if e := got.Members[0]; e.Outcome != api.Approved || !got.OK {
			t.Errorf("got %+v", e)
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("took %s", took)
		}
		if r.hasPane(a) {
			t.Error("its pane is still there")
		}
	})
}

// TestSH11_DeadPaneStaysToBeRead: what failed can be read, and stop removes it.
func TestSH11_DeadPaneStaysToBeRead(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		m, fail := r.failing("a", "echo going down; ")
		fail()
		r.eventually("it failed", func() bool { return r.member("a").State == api.StateFailed })
		if got := r.member("a"); got.ExitCode == nil || *got.ExitCode != 3 || !strings.Contains(got.Reason, "3") {
			t.Errorf("got %+v", got)
		}
		if !r.hasPane(m) || !r.screenHas(m, "going down") {
			t.Error("the pane of one that failed does not stay to be read")
		}
		if !strings.Contains(r.must("logs", "a"), "going down") {
			t.Error("no transcript")
		}
		if got := into[api.Endings](r, "stop", "a"); got.Members[0].Outcome != api.AlreadyStopped {
			t.Errorf("got %+v", got)
		}
		if r.hasPane(m) {
			t.Error("stop leaves the dead pane")
		}
		_, fail = r.failing("b", "")
		goOn := r.holdRoster("alpha") // else its host may have gone before it is stopped, or is stopped with the lock
		fail()
		r.eventually("its end is written down", func() bool { return hostRecord(r, "alpha", "b").Ended != nil })
		if err := syscall.Kill(hostRecord(r, "alpha", "b").Process.PID, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		goOn()
		if got := r.member("b"); got.State != api.StateFailed {
			t.Errorf("its end is written down, and it is %+v", got)
		}
		if got := into[api.Endings](r, "stop", "b"); got.Members[0].Outcome != api.AlreadyStopped {
			t.Errorf("one that had failed, of a host that does not answer: %+v", got)
		}
		endIsWhole(r)
	})
}

// endIsWhole: a host writes the end down and still answers for a moment. State, code and
// signal come from the same place then.
func endIsWhole(r *rig) {
	r.t.Helper()
	r.spawn("c", nil, r.stub("mute")...)
	file := filepath.Join("leadlight", "alpha", "hosts", "c.json")
	was, err := os.ReadFile(r.path("base", file))
	if err != nil {
		r.t.Fatal(err)
	}
	rec, code := hostRecord(r, "alpha", "c"), 3
	rec.Ended = &panes.ExitRecord{State: api.StateFailed, Reason: "exited with 3", ExitCode: &code, At: time.Now()}
	data, err := json.Marshal(rec)
	if err != nil {
		r.t.Fatal(err)
	}
	plant(r, file, data)
	if got := r.member("c"); got.State != api.StateFailed || got.ExitCode == nil || *got.ExitCode != 3 || got.PID != 0 || got.LastActivityAt != nil {
		r.t.Errorf("its end is written down, its host answers, and it is %+v", got)
	}
	plant(r, file, was)
	r.must("stop", "c", "--timeout", "1s")
}

// TestUX01_TD03_PI03_PaneClosedByHand: what people do with their own terminal.
// https://github.com/anthropics/claude-code/issues/77559
func TestUX01_TD03_PI03_PaneClosedByHand(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		host := ""
		for _, name := range []string{"builder", "other"} {
			r.spawn(name, nil, r.stub("mute")...)
		}
		host = hostOf(r, "builder")
		why := r.closeByHand("alpha", r.member("builder"))
		r.eventually("builder is stopped", func() bool { return r.member("builder").State == api.StateStopped })
		if got := r.member("builder"); got.Reason != why {
			t.Errorf("reason %q", got.Reason)
		}
		r.eventually("nobody of it is left", func() bool { left, err := signals.Marked(host); return err == nil && len(left) == 0 })
		if res := r.run("send", "builder", "hello"); res.exit != 4 || !strings.Contains(res.err, "RECIPIENT_INACTIVE") || !strings.Contains(res.err, why) {
			t.Errorf("send: exit %d, %s", res.exit, res.err)
		}
		r.spawn("scout", nil, r.stub("mute")...)
		if got := into[api.Member](r, "restart", "builder"); got.State != api.StateActive {
			t.Errorf("restart: %+v", got)
		}
		taken := r.member("other").TmuxPaneID
		if !r.isHeadless() { // somebody runs a program of theirs in the pane: it is left alone, and keeps no team
			r.tmux.Run("respawn-pane", "-k", "-t", taken, "--", "sleep 1000")
			r.eventually("other is stopped", func() bool { return r.member("other").State == api.StateStopped })
			got := into[api.Endings](r, "stop", "other")
			if m := got.Members[0]; !got.OK || m.Outcome != api.AlreadyStopped || len(m.Leftovers) != 1 || !strings.Contains(m.Leftovers[0], taken) {
				t.Errorf("of a pane that somebody uses: %+v", got)
			}
		}
		r.must("stop", "--all", "--timeout", "1s")
		r.must("team", "delete", "alpha")
		if !r.isHeadless() {
			if said := r.must("gc"); !slices.Contains(r.tmux.Panes(), taken) || !strings.Contains(said, "kept pane "+taken) {
				t.Errorf("gc says %q", said)
			}
		}
	})
}

// TestSH14_NeverTheLeadsOwnPane: somebody wrote the lead's pane into the roster.
// https://github.com/Yeachan-Heo/oh-my-claudecode/pull/726
func TestSH14_NeverTheLeadsOwnPane(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	m := r.spawn("builder", nil, r.stub("mute")...)
	rewrite(r, "teams/alpha/config.json", `"tmuxPaneId": "`+m.TmuxPaneID+`"`, `"tmuxPaneId": "`+r.lead+`"`)
	for _, force := range [][]string{nil, {"--force"}} {
		res := r.run(append([]string{"stop", "builder", "--timeout", "1s"}, force...)...)
		if res.exit == 0 || !strings.Contains(res.err+res.out, r.lead) {
			t.Errorf("force %v: exit %d\n%s%s", force, res.exit, res.out, res.err)
		}
	}
	if !slices.Contains(r.tmux.Panes(), r.lead) {
		t.Fatal("the lead's pane is gone")
	}
	rewrite(r, "teams/alpha/config.json", `"tmuxPaneId": "`+r.lead+`"`, `"tmuxPaneId": "`+m.TmuxPaneID+`"`)
}

// TestSH01_ADamagedInboxKeepsNobodyAlive: who cannot be asked is ended all the same.
func TestSH01_ADamagedInboxKeepsNobodyAlive(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		r.spawn("a", []string{"--kind", "native"}, r.stub("mute")...)
		if err := os.WriteFile(r.path("base", "teams/alpha/inboxes/a.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := into[api.Endings](r, "stop", "a"); got.Members[0].Outcome != api.Terminated {
			t.Errorf("got %+v", got)
		}
		if data, err := os.ReadFile(r.path("base", "teams/alpha/inboxes/a.json")); err != nil || string(data) != "{" {
			t.Errorf("the damaged box: %q, %v", data, err)
		}
	})
}

// TestSP04_AnotherTakesThePlaceOfOneThatFailed: its dead pane goes with it.
func TestSP04_AnotherTakesThePlaceOfOneThatFailed(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		old, fail := r.failing("a", "")
		fail()
		r.eventually("it failed", func() bool { return r.member("a").State == api.StateFailed })
		fresh := r.spawn("a", nil, r.stub("mute")...)
		if n := r.open(); n != 1 || !r.hasPane(fresh) {
			t.Errorf("%d panes: want that of %s, not that of %s", n, fresh.TmuxPaneID, old.TmuxPaneID)
		}
		// Its host goes before the roster has another one: who is killed between the two leaves none that is unknown.
		_, fail = r.failing("b", "")
		fail()
		r.eventually("it failed", func() bool { return r.member("b").State == api.StateFailed })
		goOn := r.holdRoster("alpha")
		again := r.start(nil, "restart", "b")
		r.eventually("its host has gone", func() bool { return r.open() == 1 })
		again.signal(syscall.SIGKILL)
		again.wait()
		goOn()
		r.must("restart", "b")
		if got := into[api.Endings](r, "stop", "b"); got.Members[0].Outcome == api.UnprovenStop {
			t.Errorf("started again after a restart that was killed: %+v", got)
		}
	})
}

// TestSH01_InterruptEndsNobodyByHalf: ^C during the ask leaves the teammate running.
func TestSH01_InterruptEndsNobodyByHalf(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		r.spawn("a", []string{"--kind", "native"}, r.stub("mute")...)
		stop := r.start(nil, "stop", "a", "--timeout", "150s")
		r.eventually("it was asked", func() bool { return strings.Contains(r.must("inbox", "a"), "shut down") })
		stop.signal(syscall.SIGINT)
		if res := stop.wait(); res.exit != 130 || !strings.Contains(res.err, "interrupted") {
			t.Errorf("exit %d: %s", res.exit, res.err)
		}
		if got := r.member("a"); got.State != api.StateActive {
			t.Errorf("it is %s: %s", got.State, got.Reason)
		}
	})
}

// TestAPaneWaitsForItsCloser: a host that stop ends leaves its pane to stop, which closes those
// of the set at once. If that stop is killed in between, the next one closes it.
func TestAPaneWaitsForItsCloser(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	m := r.spawn("bob", nil, "sleep", "1000")
	ended := host.ShutdownRequest{Reason: "stopped", Term: time.Minute, Kill: time.Minute, Recorded: true}
	if _, err := host.Dial(hostRecord(r, "alpha", "bob").Socket).Shutdown(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	r.eventually("its pane is there, without a program", func() bool {
		dead, err := r.tmux.Try("display-message", "-p", "-t", m.TmuxPaneID, "#{pane_dead}")
		return err == nil && strings.TrimSpace(dead) == "1"
	})
	r.must("stop", "bob")
	if r.hasPane(m) {
		t.Errorf("pane %s is still there", m.TmuxPaneID)
	}
}
