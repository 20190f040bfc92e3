package integration_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// TestReplacedWhereThePolicySaysSo: of two workers whose hosts are killed, up starts
// the one again whose policy says so, and tells of both once.
func TestReplacedWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	file := `{team: redo, members: [{name: again, run: sleep 1000}, {name: never, run: sleep 1000}, {name: other, run: sleep 1000}],
		tasks: [{subject: a, owner: again}, {subject: n, owner: never}, {subject: o, owner: other}], lifecycle: {ask: 1s, term: 1s}}`
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	up := r.start(nil, "up")
	r.eventually("all are there", func() bool { return r.alive("redo") == 3 })
	fs, err := claudefs.Open(r.path("base"), claudefs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	err = fs.Roster().Update(t.Context(), "redo", func(x *store.Team) error {
		x.Member("again").Leadlight.Restart = teams.RestartOnFailure
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	old := hostRecord(r, "redo", "again").Host
	for _, name := range []string{"again", "never"} {
		if err := syscall.Kill(hostRecord(r, "redo", name).Process.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	r.eventually("it has another host", func() bool {
		return otherHost(r, "again", old) && r.member("again").State == api.StateActive && r.member("again").Task == "1"
	})
	if m := r.member("never"); m.State != api.StateLost {
		t.Errorf("who is not to be started again is %s", m.State)
	}
	var told map[string]int
	r.eventually("the lead is told of both", func() bool {
		told = map[string]int{}
		for _, m := range boxOf(r, "redo", store.Lead) {
			if strings.Contains(m.Text, "is lost") {
				told[m.From]++
			}
		}
		return len(told) == 2
	})
	if told["again"] != 1 || told["never"] != 1 || len(told) != 2 {
		t.Errorf("the lead was told of %v", told)
	}
	up.signal(syscall.SIGINT)
	up.wait()
}

// TestReplacedOnceByTwo: where up and the daemon both watch a team, each loss is made good
// by one of them, and they share the count.
func TestReplacedOnceByTwo(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	file := `{team: redo, members: [{name: again, run: sleep 1000, restart: on-failure}], tasks: [{subject: a, owner: again}], lifecycle: {ask: 1s, term: 1s}}`
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	r.daemon()
	up := r.start(nil, "up")
	for loss := range 3 {
		r.eventually("it works", func() bool { return r.alive("redo") == 1 && r.member("again").Task == "1" })
		fs, err := claudefs.Open(r.path("base"), claudefs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		team, err := fs.Roster().Get(t.Context(), "redo")
		if err := errors.Join(err, fs.Close()); err != nil {
			t.Fatal(err)
		}
		times := 0
		if count := team.Member("again").Leadlight.Replaced; count != nil {
			times = count.Times
		}
		if times != loss {
			t.Fatalf("after %d losses it was started again %d times", loss, times)
		}
		old := hostRecord(r, "redo", "again").Host
		if err := syscall.Kill(hostRecord(r, "redo", "again").Process.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		r.eventually("it has another host", func() bool { return otherHost(r, "again", old) })
	}
	up.signal(syscall.SIGINT)
	up.wait()
	r.must("daemon", "stop")
}

// TestDaemonReplaces: without an up, the daemon starts those again whose policy says so.
func TestDaemonReplaces(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("redo")
	r.daemon()
	r.must("spawn", "again", "--agent", "shell", "--restart", "on-failure", "--", "sleep", "1000")
	r.must("spawn", "never", "--agent", "shell", "--", "sleep", "1000")
	r.must("task", "add", "a", "--owner", "again")
	r.eventually("it works", func() bool { return r.member("again").Task == "1" })
	old := hostRecord(r, "redo", "again").Host
	for _, name := range []string{"again", "never"} {
		if err := syscall.Kill(hostRecord(r, "redo", name).Process.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	r.eventually("it has another host and its task", func() bool {
		return otherHost(r, "again", old) && r.member("again").State == api.StateActive && r.member("again").Task == "1"
	})
	if m := r.member("never"); m.State != api.StateLost {
		t.Errorf("who is not to be started again is %s", m.State)
	}
	r.must("daemon", "stop")
}

// otherHost tells whether a member has a host that is not the old one. Between the two
// there is none.
func otherHost(r *rig, name, old string) bool {
	var rec panes.HostRecord
	data, err := os.ReadFile(r.path("base", "leadlight", "redo", "hosts", name+".json"))
	return err == nil && json.Unmarshal(data, &rec) == nil && rec.Host != old
}
