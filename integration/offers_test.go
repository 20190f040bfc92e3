package integration_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// notes are what the doers whose log is path have written down.
func notes(path string) []string {
	b, _ := os.ReadFile(path)
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
}

// count is how many of the notes end so.
func count(notes []string, end string) (n int) {
	for _, line := range notes {
		if strings.HasSuffix(line, " "+end) {
			n++
		}
	}
	return n
}

// wrote tells whether a note ends with each of these. Agents write a task down after it is done.
func wrote(log string, ends ...string) bool {
	seen := notes(log)
	return !slices.ContainsFunc(ends, func(end string) bool { return count(seen, end) == 0 })
}

// TestXD01_TheDaemonOffersTasks: with a daemon and no up, agents at prompts are told of
// tasks when these are ready: one that has an owner, and those that have none.
func TestXD01_TheDaemonOffersTasks(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.settings("profiles:\n  doer: " + doerProfile + "\n")
	r.team("alpha")
	log := r.path("work", "log")
	for _, name := range []string{"ann", "bob"} {
		r.spawn(name, []string{"--agent", "doer"}, r.stub("doer", log)...)
	}
	r.daemon()
	defer r.run("daemon", "stop")
	r.must("task", "add", "first", "--owner", "team-lead")
	r.must("task", "add", "free", "--blocked-by", "1")
	r.must("task", "add", "owned", "--blocked-by", "1", "--owner", "bob")
	r.must("task", "add", "last", "--blocked-by", "2,3")
	for _, name := range []string{"ann", "bob"} {
		if got := len(into[[]api.Message](r, "inbox", name)); got != 0 {
			t.Errorf("%s was told of a task that is not ready", name)
		}
	}
	r.eventually("both rest", func() bool { // else both tasks go to one of them
		return !slices.ContainsFunc(into[[]api.Member](r, "ps"), func(m api.Member) bool { return m.State != api.StateIdle })
	})
	begun := time.Now()
	r.must("task", "done", "1")
	r.eventually("all are done", func() bool {
		return !slices.ContainsFunc(into[[]api.Task](r, "task", "ls"), func(k api.Task) bool { return k.Status != "completed" })
	})
	r.eventually("all have written it down", func() bool { return wrote(log, "done 2", "done 3", "done 4") })
	seen := notes(log)
	reminded := time.Since(begun) > 20*time.Second // who has no turn at the CPU is told again, after half a minute
	for id := 2; id <= 4; id++ {
		if told, done := count(seen, fmt.Sprint("told ", id)), count(seen, fmt.Sprint("done ", id)); told != 1 && !reminded || done != 1 {
			t.Errorf("task %d: told %d times, done %d times\n%s", id, told, done, strings.Join(seen, "\n"))
		}
	}
	if !slices.Contains(seen, "bob done 3") || !slices.Contains(seen, "ann done 2") {
		t.Errorf("not shared out:\n%s", strings.Join(seen, "\n"))
	}
}

// TestXD01_NobodyLeads: where up has gone, or a team was made by hand, agents at prompts are
// told of tasks that nobody owns, without a daemon: by whoever changes a task, and by the hosts
// of those that come to rest.
func TestXD01_NobodyLeads(t *testing.T) {
	t.Parallel()
	r := newHeadless(t)
	r.settings("profiles:\n  doer: " + doerProfile + "\n")
	file := fmt.Sprintf("team: left\nmembers:\n  - {name: ann, agent: doer, command: [%q, stub, doer, %q]}\ntasks: [{subject: free}, {subject: last, blockedBy: [1]}]\n", r.stub("")[0], r.path("work", "log"))
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	done := func() bool {
		return !slices.ContainsFunc(into[[]api.Task](r, "task", "ls"), func(k api.Task) bool { return k.Status != "completed" })
	}
	r.must("up", "--detach")
	r.eventually("all are done", done)
	r.must("task", "add", "later")
	r.eventually("the later one is done", done)
	r.must("stop", "ann")
	r.must("task", "add", "for whoever comes")
	r.must("restart", "ann")
	r.eventually("it is done when somebody is there again", done)
	if res := r.run("daemon", "status"); res.exit != 1 {
		t.Errorf("a daemon runs: %s", res.out)
	}
	r.must("down")
}
