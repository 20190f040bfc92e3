package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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
	clock    bool   // it was moved: times may lie ahead
}

const gangSize = 6

func newGang(t *testing.T) *gang { return gangOn(t, newRig(t, "220x60")) }

func gangOn(t *testing.T, r *rig) *gang {
	t.Helper()
	g := &gang{rig: r}
	id, err := signals.Identify(g.someStranger())
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
	return g
}

// someStranger is a program that has nothing to do with us, in a pane of the same terminal
// if there is one.
func (g *gang) someStranger() (pid int) {
	g.t.Helper()
	if g.isHeadless() {
		c := exec.Command("sleep", "1000")
		if err := c.Start(); err != nil {
			g.t.Fatal(err)
		}
		g.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		return c.Process.Pid
	}
	pid, err := strconv.Atoi(g.tmux.Run("split-window", "-d", "-P", "-F", "#{pane_pid}", "-t", g.lead, "--", "sleep", "1000"))
	if err != nil {
		g.t.Fatal(err)
	}
	return pid
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

// looksAtLeast is how many looks a wait of two seconds is on a machine that has nothing
// else to do. Where other tests take the processor, two seconds are not two seconds.
const looksAtLeast = 40

// states waits, two seconds at most, until the members are as they should be.
func (g *gang) states(want map[string]string) {
	g.t.Helper()
	began := time.Now()
	var got map[string]string
	for looks := 1; ; looks++ {
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
		if took := time.Since(began); took > 2*time.Second && looks >= looksAtLeast {
			g.t.Errorf("after %s the states are %v, want %v and the rest active", took, got, want)
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
		if len(lost) > 0 && strings.Contains(c.Detail, " is lost: ") && strings.Contains(c.Fix, "leadlight restart --lost") {
			continue // until they are started again
		}
		if g.clock && strings.HasSuffix(c.Detail, " is in the future") {
			continue // it is
		}
		if (strings.HasPrefix(c.Name, "team ") || c.Name == "orphans" || c.Name == "locks" || c.Name == "base directory" || c.Name == "run folder") && c.Status != "ok" {
			g.t.Errorf("doctor after --fix: %+v", c)
		}
	}
	if left := into[[]api.Orphan](g.rig, "gc", "--dry-run"); len(left) > 0 {
		g.t.Errorf("left: %+v", left)
	}
}

// kill ends the host of a member as a crash would.
func (g *gang) kill(name string, sig syscall.Signal) {
	g.t.Helper()
	if err := syscall.Kill(hostRecord(g.rig, "gang", name).Process.PID, sig); err != nil {
		g.t.Fatal(err)
	}
}
