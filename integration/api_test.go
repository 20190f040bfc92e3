package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// dial starts a daemon and speaks to it.
func (r *rig) dial() *rpc.Client {
	r.t.Helper()
	c, err := rpc.Dial(r.t.Context(), into[api.DaemonStatus](r, "daemon", "start").Socket)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close(); r.must("daemon", "stop") })
	return c
}

// TestM02_M23_M24_TeammateByItsHandle: a teammate runs in a session of its own; by its
// name a program sends it mail, sees whether it lives and what it does, and asks it
// to end.
func TestM02_M23_M24_TeammateByItsHandle(t *testing.T) {
	t.Parallel()
	r := newRig(t, "160x50")
	r.team("alpha")
	see := func(state string) (m api.Member) {
		t.Helper()
		r.eventually("it is "+state, func() bool {
			list := into[[]api.Member](r, "ps", "--all")
			m = list[0]
			return len(list) == 1 && m.State == state
		})
		return m
	}
	r.must("spawn", "bob", "--agent", "shell", "--", "sh", "-c", "until test -e go; do sleep 0.05; done")
	if m := see(api.StateIdle); !m.Live() {
		t.Errorf("idle: %+v", m)
	}
	r.must("task", "add", "wait", "--owner", "bob")
	busy := see(api.StateActive)
	r.eventually("its command runs", func() bool {
		busy = see(api.StateActive)
		return busy.PID != hostRecord(r, "alpha", "bob").Process.PID
	})
	table, err := signals.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	agent, found := table.Find(busy.PID)
	host, hosted := table.Find(hostRecord(r, "alpha", "bob").Process.PID)
	self, _ := table.Find(os.Getpid())
	if !found || !hosted || agent.SID != agent.PID || agent.SID == host.SID || host.SID == self.SID {
		t.Errorf("the sessions are %d of the agent %d, %d of its host and %d of ours", agent.SID, busy.PID, host.SID, self.SID)
	}
	sent := into[api.Sent](r, "send", "bob", "hurry")
	box := into[[]api.Message](r, "inbox", "bob")
	if len(box) != 1 || box[0].ID != sent.ID || box[0].Text != "hurry" {
		t.Errorf("its inbox: %+v", box)
	}
	if err := os.WriteFile(r.path("work", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	see(api.StateIdle)
	end := into[api.Endings](r, "stop", "bob", "--reason", "done")
	if len(end.Members) != 1 || end.Members[0].Outcome != api.Approved || end.Members[0].RequestID == "" {
		t.Errorf("stop: %+v", end)
	}
	if m := see(api.StateStopped); m.Live() {
		t.Errorf("stopped: %+v", m)
	}
}

// TestCR04_StaleDaemon: the daemon was killed, its socket and its lock lie about, and
// its number belongs to another process. Of many that are started at once, one wins.
func TestCR04_StaleDaemon(t *testing.T) {
	t.Parallel()
	r := newRig(t, "160x50")
	r.team("alpha")
	_, first := r.daemon()
	id, err := signals.Identify(first.PID)
	if err = errors.Join(err, syscall.Kill(id.PID, syscall.SIGKILL), id.Wait(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(first.Socket); err != nil {
		t.Fatalf("its socket is gone: %v", err)
	}
	locks, err := filepath.Glob(r.path("home", "leadlight", "[!.]*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("locks: %v, %v", locks, err)
	}
	claim, err := os.ReadFile(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	claim = bytes.ReplaceAll(claim, []byte(strconv.Itoa(first.PID)), []byte(strconv.Itoa(os.Getpid())))
	if err := os.WriteFile(locks[0], claim, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := r.run("daemon", "status"); res.exit != 1 || !strings.Contains(res.err, "no daemon runs") {
		t.Errorf("status: exit %d, %s", res.exit, res.err)
	}
	starts := []*running{}
	for range 6 {
		starts = append(starts, r.start(nil, "daemon", "start", "--json"))
	}
	pids, started := map[int]int{}, 0
	for _, run := range starts {
		res := run.wait()
		started += strings.Count(res.err, "started a daemon")
		var s api.DaemonStatus
		if err := json.Unmarshal([]byte(res.out), &s); err != nil || res.exit != 0 {
			t.Errorf("start: exit %d, %s%s", res.exit, res.out, res.err)
		}
		pids[s.PID]++
	}
	if len(pids) != 1 || pids[first.PID] > 0 || pids[0] > 0 || started != 1 {
		t.Errorf("daemons: %v, the first was %d; %d say that they started it", pids, first.PID, started)
	}
	if err := os.Chmod(r.path("base"), 0o777); err != nil {
		t.Fatal(err)
	}
	r.eventually("doctor --fix removes the socket of a daemon that is gone", func() bool {
		// One of those that came too late may take the place of the last.
		if last, err := signals.Identify(into[api.DaemonStatus](r, "daemon", "start").PID); err == nil {
			if err = errors.Join(syscall.Kill(last.PID, syscall.SIGKILL), last.Wait(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		r.must("doctor", "--fix")
		_, err := os.Lstat(first.Socket)
		return errors.Is(err, fs.ErrNotExist)
	})
	if fi, err := os.Stat(r.path("base")); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("doctor --fix lets others write: %v, %v", fi.Mode(), err)
	}
	if err := errors.Join(os.WriteFile(first.Database, []byte("no database"), 0o600), os.RemoveAll(first.Database+"-wal")); err != nil {
		t.Fatal(err)
	}
	if res := r.run("doctor"); res.exit != 1 || !strings.Contains(res.out, "fail  daemon: ") || !strings.Contains(res.out, first.Database+" is damaged") {
		t.Errorf("doctor says nothing of the damaged history: exit %d, %s", res.exit, res.out)
	}
}
