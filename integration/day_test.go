package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// dayFile is a team of three at prompts, with a diamond of tasks and two that nobody owns.
const dayFile = `team: %s
profiles:
  doer: ` + doerProfile + `
members:
  - {name: ann, agent: doer, command: [%s], restart: on-failure}
  - {name: bob, agent: doer, command: [%s], restart: on-failure}
  - {name: cy, agent: doer, command: [%s], restart: on-failure}
tasks:
  - {subject: design, description: "plan", owner: ann}
  - {subject: left side, description: "permission long", blockedBy: [1]}
  - {subject: right side, description: "dialog", owner: bob, blockedBy: [1]}
  - {subject: join, owner: cy, blockedBy: [2, 3]}
  - {subject: write it up}
`

// project makes a folder with a team file, and returns the folder.
func (r *rig) project(name string) string {
	r.t.Helper()
	dir := r.path("work", name)
	words := []string{}
	for _, w := range r.stub("doer", filepath.Join(dir, "log")) {
		words = append(words, fmt.Sprintf("%q", w))
	}
	argv := strings.Join(words, ", ")
	if err := os.Mkdir(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "leadlight.yaml"), fmt.Appendf(nil, dayFile, name, argv, argv, argv), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return dir
}

// waitsForAnswer is what waits for a person in a team, of that kind.
func (r *rig) waitsForAnswer(team, kind string) (id string) {
	r.eventually("there is a "+kind+" to answer in "+team, func() bool {
		var all []struct{ ID, Kind, Type string }
		_ = json.Unmarshal([]byte(r.run("requests", "-t", team, "--json").out), &all)
		for _, q := range all {
			if q.Kind == kind || q.Type == kind {
				id = q.ID
				return true
			}
		}
		return false
	})
	return id
}

// ticks writes a tick onto the disk every 100 ms, and starts a program for each, so that
// it is late where the machine is: time in ticks is the time that a team had there. note
// writes another line.
func (r *rig) ticks(log string) (note func(line string), stop func()) {
	r.t.Helper()
	f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
				r.run("version")
				fmt.Fprintln(f, "clock tick")
				_ = f.Sync()
			}
		}
	}()
	stop = func() {
		close(over)
		<-ended
		_ = f.Close()
	}
	return func(line string) { fmt.Fprintln(f, line) }, stop
}

// leftWaiting reads in a record which ready tasks waited for more than so many ticks while a
// doer rested who may do them.
func leftWaiting(record []string, limit int) (found []string) {
	owner := map[string]string{"1": "ann", "3": "bob", "4": "cy"}
	waitsFor := map[string][]string{"2": {"1"}, "3": {"1"}, "4": {"2", "3"}}
	done, taken, resting, waited := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, line := range record {
		words := append(strings.Fields(line), "", "", "")
		who, what, id := words[0], words[1], words[2]
		switch resting[who] = what == "rests"; what {
		case "told", "takes":
			taken[id] = true
		case "done":
			done[id] = true
		case "killed":
			taken[id] = false
		}
		for _, id := range []string{"1", "2", "3", "4", "5"} {
			ready := !done[id] && !taken[id] && !slices.ContainsFunc(waitsFor[id], func(other string) bool { return !done[other] })
			idle := func(name string) bool { return resting[name] && (owner[id] == "" || owner[id] == name) }
			if !ready {
				waited[id] = 0
			} else if what == "tick" && slices.ContainsFunc([]string{"ann", "bob", "cy"}, idle) {
				if waited[id]++; waited[id] == limit+1 {
					found = append(found, fmt.Sprintf("task %s waited for more than %d ticks while somebody rested", id, limit))
				}
			}
		}
	}
	return found
}

// TestXD12_WhoRestsIsSeen: what leftWaiting reads in a record.
func TestXD12_WhoRestsIsSeen(t *testing.T) {
	t.Parallel()
	ticks := func(n int) string { return strings.Repeat("clock tick\n", n) }
	begin := "ann begins\nann rests\nann told 1\nbob begins\nbob rests\nbob told 5\nbob takes 5\n"
	for record, want := range map[string]int{
		begin + ticks(9):                                         0, // nobody rests
		begin + "cy rests\n" + ticks(9):                          0, // nothing is ready
		begin + "ann done 1\nann rests\n" + ticks(5):             0,
		begin + "ann done 1\nann rests\n" + ticks(6):             1, // task 2; task 3 is bob's, who works
		begin + "ann done 1\nbob done 5\nbob rests\n" + ticks(6): 2,
		begin + "ann done 1\nann rests\n" + ticks(3) + "ann hears x\n" + ticks(3) + "ann rests\n" + ticks(2): 0,
		begin + "ann done 1\nann rests\n" + ticks(3) + "ann hears x\n" + ticks(3) + "ann rests\n" + ticks(3): 1,
		begin + "ann done 1\nann told 2\ncy rests\n" + ticks(3) + "ann killed 2\n" + ticks(6):                1,
	} {
		if got := leftWaiting(strings.Split(record, "\n"), 5); len(got) != want {
			t.Errorf("%q: %q, want %d", record, got, want)
		}
	}
}

// TestXD12_ADay: three agents at prompts work five tasks off while what happens in a day
// happens: one is killed, a plan is refused and comes again, one asks for permission, one
// shows a dialog, up is killed and started again, and the same template runs beside it.
func TestXD12_ADay(t *testing.T) {
	t.Parallel()
	r := newRig(t, "240x80")
	mine, other := r.project("mine"), r.project("other")
	note, stop := r.ticks(filepath.Join(mine, "log"))
	defer stop()
	up := r.startIn(mine, "up")
	beside := r.startIn(other, "up")
	r.waitsForAnswer("other", "plan")
	var stood string
	r.eventually("the other project has come to rest", func() bool {
		before := stood
		stood = r.standing("other")
		return stood == before && strings.Contains(stood, "1 in_progress ann") && strings.Contains(stood, "5 completed")
	})
	plan := r.waitsForAnswer("mine", "plan")
	r.must("deny", plan, "--reason", "think again", "-t", "mine")
	r.eventually("it is handed in again", func() bool { return r.waitsForAnswer("mine", "plan") != plan })
	up.signal(syscall.SIGKILL)
	up.wait()
	r.must("approve", r.waitsForAnswer("mine", "plan"), "-t", "mine")
	up = r.startIn(mine, "up")
	r.must("approve", r.waitsForAnswer("mine", "permission"), "-t", "mine")
	r.eventually("bob shows its dialog", func() bool {
		return slices.ContainsFunc(into[[]api.Member](r, "ps", "-t", "mine"), func(m api.Member) bool { return m.Name == "bob" && m.State == api.StateWaiting })
	})
	var holder string
	r.eventually("the left side is under way", func() bool {
		holder = into[api.Task](r, "task", "show", "2", "-t", "mine").Owner
		_, err := os.Stat(filepath.Join(mine, "long.once"))
		return holder != "" && err == nil
	})
	for _, m := range into[[]api.Member](r, "ps", "-t", "mine") {
		if m.Name == holder && m.Task != "2" {
			t.Errorf("%s is shown at task %q, want 2", m.Name, m.Task)
		}
	}
	rec := hostRecord(r, "mine", holder)
	note(holder + " killed 2")
	if err := syscall.Kill(rec.Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.must("keys", "bob", "y", "enter", "-t", "mine")
	if id := r.waitsForAnswer("mine", "permission"); id != "" { // who has the task now asks again
		r.must("approve", id, "-t", "mine")
	}
	res := up.wait()
	if res.exit != 0 {
		t.Errorf("up: exit %d\n%s%s", res.exit, res.out, res.err)
	}
	allDone := []string{"done 1", "done 2", "done 3", "done 4", "done 5"}
	r.eventually("all have written it down", func() bool { return wrote(filepath.Join(mine, "log"), allDone...) })
	seen := notes(filepath.Join(mine, "log"))
	for id := 1; id <= 5; id++ {
		if done := count(seen, fmt.Sprint("done ", id)); done != 1 {
			t.Errorf("task %d was done %d times\n%s\n%s", id, done, strings.Join(seen, "\n"), res.err)
		}
	}
	for _, slow := range leftWaiting(seen, 50) { // ticks: 5 s and more
		t.Errorf("%s\n%s", slow, strings.Join(seen, "\n"))
	}
	if !slices.Contains(seen, "bob dialog y") {
		t.Errorf("the dialog was answered otherwise:\n%s", strings.Join(seen, "\n"))
	}
	if res := r.startIn(mine, "down").wait(); res.exit != 0 {
		t.Errorf("down: exit %d\n%s%s", res.exit, res.out, res.err)
	}
	if now := r.standing("other"); now != stood {
		t.Errorf("the other project stood so:\n%s\nand now:\n%s", stood, now)
	}
	r.must("down", "other", "--force", "--timeout", "2s")
	if res := beside.wait(); res.exit != 0 || !strings.Contains(res.err, "was taken down by pid") {
		t.Errorf("up of the other project: exit %d\n%s", res.exit, res.err)
	}
	if panes := r.tmux.Run("list-panes", "-a", "-F", "#{pane_id}"); strings.TrimSpace(panes) != r.lead || len(into[[]api.TeamSummary](r, "team", "ls")) > 0 {
		t.Errorf("left behind: panes %s, teams %s", panes, r.must("team", "ls"))
	}
}

// standing is how a team stands: who runs, in which process and pane, and the tasks.
func (r *rig) standing(team string) string {
	r.t.Helper()
	var b strings.Builder
	for _, m := range into[[]api.Member](r, "ps", "--all", "-t", team) {
		fmt.Fprintln(&b, m.Name, m.PID, m.TmuxPaneID)
	}
	for _, k := range into[[]api.Task](r, "task", "ls", "-t", team) {
		fmt.Fprintln(&b, k.ID, k.Status, k.Owner, k.BlockedBy)
	}
	return b.String()
}
