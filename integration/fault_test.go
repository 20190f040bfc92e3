package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// gang is a team of six workers in the middle of a task each, with six more tasks
// that nobody has begun and mail to the lead that nobody has read.
type gang struct {
	*rig
	stranger *signals.Identity
	failed   string // a worker whose first task has failed
}

const gangSize = 6

func newGang(t *testing.T) *gang {
	t.Helper()
	g := &gang{rig: newRig(t, "220x60")}
	g.team("alpha")
	pane := g.tmux.Run("split-window", "-d", "-P", "-F", "#{pane_pid}", "-t", g.lead, "--", "sleep", "1000")
	pid, err := strconv.Atoi(pane)
	if err != nil {
		t.Fatal(err)
	}
	id, err := signals.Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	g.stranger = &id
	members, tasks := []any{}, []any{}
	for i := range gangSize {
		name := worker(i)
		members = append(members, map[string]any{"name": name, "run": "sleep 1000"})
		tasks = append(tasks, map[string]any{"subject": "first of " + name, "owner": name})
	}
	for i := range gangSize {
		tasks = append(tasks, map[string]any{"subject": "second of " + worker(i), "owner": worker(i)})
	}
	file, err := json.Marshal(map[string]any{"team": "gang", "members": members, "tasks": tasks, "layout": map[string]any{"min": "20x3"},
		"lifecycle": map[string]any{"ask": "1s", "term": "1s"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.path("work", "leadlight.yaml"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	g.must("team", "delete", "alpha")
	return g
}

func worker(i int) string { return "w" + strconv.Itoa(i) }

// begin starts the gang without somebody who supervises it.
func (g *gang) begin() {
	g.t.Helper()
	g.must("up", "--detach")
	g.atWork(gangSize)
	putMail(g.rig, "gang", worker(0), store.Lead, "unread until the end")
}

// atWork waits until n tasks are in progress.
func (g *gang) atWork(n int) {
	g.t.Helper()
	g.eventually(fmt.Sprintf("%d are at work", n), func() bool { return len(g.with("in_progress")) == n })
}

// with returns the ids of the tasks in a status.
func (g *gang) with(status string) []string {
	var ids []string
	for _, task := range into[[]api.Task](g.rig, "task", "ls") {
		if task.Status == status {
			ids = append(ids, task.ID)
		}
	}
	return ids
}

// states waits, two seconds at most, until the members are as they should be.
func (g *gang) states(want map[string]string) {
	g.t.Helper()
	began := time.Now()
	var got map[string]string
	for {
		got = map[string]string{}
		wrong := false
		for _, m := range into[[]api.Member](g.rig, "ps", "--all", "-t", "gang") {
			expected := want[m.Name]
			if expected == "" {
				expected = api.StateActive
			}
			got[m.Name], wrong = m.State, wrong || m.State != expected
		}
		if !wrong {
			return
		}
		if time.Since(began) > 2*time.Second {
			g.t.Errorf("after 2 s the states are %v, want %v and the rest active", got, want)
			return
		}
	}
}

// everybody gives all members one state.
func everybody(state string) map[string]string {
	all := map[string]string{}
	for i := range gangSize {
		all[worker(i)] = state
	}
	return all
}

// sound checks what must hold after every fault, and that doctor has nothing to say
// once it has mended what it can: no task and no message is lost or doubled, the
// stranger lives, of the lost the lead was told once each.
func (g *gang) sound(lost ...string) {
	g.t.Helper()
	g.must("doctor", "--fix")
	g.must("doctor", "--fix") // a second time changes nothing
	seen := map[string]int{}
	for _, task := range into[[]api.Task](g.rig, "task", "ls", "-t", "gang") {
		seen[task.Subject]++
		gone := slices.ContainsFunc(lost, func(name string) bool { return strings.HasSuffix(task.Subject, name) })
		if strings.HasPrefix(task.Subject, "first") && gone && task.Status != "pending" {
			g.t.Errorf("the task of one that is lost: %+v", task)
		}
		if g.failed != "" && strings.HasSuffix(task.Subject, g.failed) {
			if first := strings.HasPrefix(task.Subject, "first"); first != (task.Status == "failed") {
				g.t.Errorf("a task of the one whose agent was killed: %+v", task)
			}
			continue
		}
		if strings.HasPrefix(task.Subject, "first") && !gone && task.Status != "in_progress" {
			g.t.Errorf("the task of one that works: %+v", task)
		}
	}
	for i := range gangSize {
		if seen["first of "+worker(i)] != 1 || seen["second of "+worker(i)] != 1 || len(seen) != 2*gangSize {
			g.t.Errorf("tasks: %v", seen)
			break
		}
	}
	told := map[string]int{}
	for _, m := range boxOf(g.rig, "gang", store.Lead) {
		switch {
		case m.Text == "unread until the end":
			told["mail"]++
		case strings.Contains(m.Text, " is lost"):
			told[m.From]++
		}
	}
	for _, name := range append([]string{"mail"}, lost...) {
		if told[name] != 1 {
			g.t.Errorf("the lead has %d messages of %s, want one: %v", told[name], name, told)
		}
	}
	if len(told) != len(lost)+1 {
		g.t.Errorf("the lead was told of %v, want %v", told, lost)
	}
	if g.stranger != nil && g.stranger.Probe() != signals.Alive {
		g.t.Error("a stranger was ended")
	}
	check := into[api.Checkup](g.rig, "doctor")
	for _, c := range check.Checks {
		if (strings.HasPrefix(c.Name, "team ") || c.Name == "litter" || c.Name == "locks" || c.Name == "base directory" || c.Name == "run folder") && c.Status != "ok" {
			g.t.Errorf("doctor after --fix: %+v", c)
		}
	}
	if left := into[[]api.Litter](g.rig, "gc", "--dry-run"); len(left) > 0 {
		g.t.Errorf("left: %+v", left)
	}
}

// kill ends the host of a member as a crash would.
func (g *gang) kill(name string, sig syscall.Signal) {
	g.t.Helper()
	if err := hostRecord(g.rig, "gang", name).Process.Signal(sig); err != nil {
		g.t.Fatal(err)
	}
}

// TestSH09_CR06_FaultOfTheLead: up is killed. Its team goes on, is taken over, and
// whoever asks for the same teammates again gets no second ones.
func TestSH09_CR06_FaultOfTheLead(t *testing.T) {
	t.Parallel()
	g := newGang(t)
	up := g.start(nil, "up")
	g.eventually("the team is there", func() bool { return g.alive("gang") == gangSize })
	g.atWork(gangSize)
	putMail(g.rig, "gang", worker(0), store.Lead, "unread until the end")
	up.signal(syscall.SIGKILL)
	up.wait()
	before := hostRecord(g.rig, "gang", worker(3)).Process
	g.states(nil)
	if got := into[api.Takeover](g.rig, "takeover", "gang"); len(got.Adopted) != gangSize {
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
}

// TestTC09_FaultOfAHost: a host is killed in the middle of a task, with what it runs
// left behind.
func TestTC09_FaultOfAHost(t *testing.T) {
	t.Parallel()
	g := newGang(t)
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
	g := newGang(t)
	g.begin()
	hosts := []panes.HostRecord{}
	for i := range gangSize {
		hosts = append(hosts, hostRecord(g.rig, "gang", worker(i)))
	}
	for _, rec := range hosts { // first, so that none says goodbye
		if err := rec.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	g.tmux.Kill()
	for _, rec := range hosts {
		if _, err := (signals.Ending{Host: rec.Host, Kill: 2 * time.Second}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(g.path("run", "leadlight")); err != nil {
		t.Fatal(err)
	}
	self, err := signals.Self()
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range hosts {
		rec.Process.PID = self.PID // given out again
		rec.Process.Start = self.Start
		rec.Process.Boot = "another-boot"
		data, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		plant(g.rig, panes.OwnPath("gang", "hosts", worker(i)+".json"), data)
	}
	g.stranger = &self
	g.states(everybody(api.StateLost))
	if m := g.member(worker(0)); m.Reason != "the machine was restarted" {
		t.Errorf("the reason is %q", m.Reason)
	}
	g.sound(names()...)
	if n := g.alive("gang"); n != 0 {
		t.Errorf("%d were started again without being asked", n)
	}
}

// TestFaultOfAStoppedHost: a host that is stopped is unknown, not dead: nothing of
// it is touched, and it goes on when it is let go. tmux lets it go at once; so tmux
// is stopped, too.
func TestFaultOfAStoppedHost(t *testing.T) {
	t.Parallel()
	g := newGang(t)
	g.begin()
	resume := g.tmux.Stop()
	g.kill(worker(4), syscall.SIGSTOP)
	g.eventually("it is unknown", func() bool {
		m := g.member(worker(4))
		return m.State == api.StateUnknown && m.Reason != ""
	})
	g.run("gc") // it may say that tmux does not answer
	if ids := g.with("in_progress"); len(ids) != gangSize {
		t.Errorf("in progress: %v", ids)
	}
	g.kill(worker(4), syscall.SIGCONT)
	resume()
	g.states(nil)
	g.sound()
}

// TestMH03_FaultOfTheFolders: the run folder is removed under everybody; nobody
// notices for long.
func TestMH03_FaultOfTheFolders(t *testing.T) {
	t.Parallel()
	g := newGang(t)
	g.begin()
	if err := os.RemoveAll(g.path("run", "leadlight")); err != nil {
		t.Fatal(err)
	}
	g.states(nil)
	g.sound()
}

// TestMH03_FaultOfTheDisk: the base directory cannot be written for a while. Who
// wants to write is told so at once with the path, and nothing is harmed.
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
		if res.exit == 0 || !strings.Contains(res.err, "read-only") || time.Since(began) > 5*time.Second {
			t.Errorf("%v: exit %d after %s, %s", args, res.exit, time.Since(began), res.err)
		}
	}
	g.states(nil)
	release()
	sameButLead(t, before, tree(t, g.path("base", "tasks")))
	g.sound()
}
