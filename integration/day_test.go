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

// TestXD12_ADay: three agents at prompts work five tasks off while what happens in a day
// happens: one is killed, a plan is refused and comes again, one asks for permission, one
// shows a dialog, up is killed and started again, and the same template runs beside it.
func TestXD12_ADay(t *testing.T) {
	t.Parallel()
	r := newRig(t, "240x80")
	mine, other := r.project("mine"), r.project("other")
	up := r.startIn(mine, "up")
	beside := r.startIn(other, "up", "--detach")
	if res := beside.wait(); res.exit != 0 {
		t.Fatalf("up --detach: exit %d\n%s", res.exit, res.err)
	}
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
	rec := hostRecord(r, "mine", holder)
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
	seen := notes(filepath.Join(mine, "log"))
	for id := 1; id <= 5; id++ {
		if done := count(seen, fmt.Sprint("done ", id)); done != 1 {
			t.Errorf("task %d was done %d times\n%s\n%s", id, done, strings.Join(seen, "\n"), res.err)
		}
	}
	if !slices.Contains(seen, "bob dialog y") {
		t.Errorf("the dialog was answered otherwise:\n%s", strings.Join(seen, "\n"))
	}
	r.waitsForAnswer("other", "plan")
	for _, k := range into[[]api.Task](r, "task", "ls", "-t", "other") {
		if k.ID == "1" && k.Status != "in_progress" || slices.Contains([]string{"2", "3", "4"}, k.ID) && k.Status != "blocked" {
			t.Errorf("the other project: %+v", k)
		}
	}
	for _, m := range into[[]api.Member](r, "ps", "-t", "other") {
		if !m.Live() {
			t.Errorf("the other project: %s is %s", m.Name, m.State)
		}
	}
	r.must("down", "mine")
	r.must("down", "other", "--force", "--timeout", "2s")
}
