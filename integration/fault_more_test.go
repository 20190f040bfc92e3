package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// TestFaultOfTheDaemon: the daemon is killed. Nobody needs it; the next one takes its
// place and its history, and tells what happened meanwhile, once.
func TestFaultOfTheDaemon(t *testing.T) {
	t.Parallel()
	g := newGang(t)
	_, first := g.daemon()
	g.begin()
	id, err := signals.Identify(first.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Kill(id.PID, syscall.SIGKILL), id.Wait(t.Context())); err != nil {
		t.Fatal(err)
	}
	g.states(nil)
	g.must("send", worker(1), "while no daemon ran")
	g.sound()
	second := into[api.DaemonStatus](g.rig, "daemon", "start")
	if second.PID == first.PID || second.Live != gangSize || second.Tasks != 2*gangSize {
		t.Errorf("the next daemon: %+v", second)
	}
	seen, last := map[string]int{}, uint64(0)
	for line := range strings.Lines(g.must("events", "--team", "gang")) {
		var e events.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Seq <= last {
			t.Errorf("event %d after %d", e.Seq, last)
		}
		last = e.Seq
		switch d := e.Data.(type) {
		case *events.Team:
			seen[string(e.Type)]++
		case *events.Member:
			seen[string(e.Type)+d.Member.Name]++
		case *events.Task:
			seen[string(e.Type)+d.Task.Subject]++
		case *events.Message:
			seen[string(e.Type)+d.Content]++
		}
	}
	want := []string{string(events.TeamCreated), string(events.MessageSent) + "while no daemon ran", string(events.MessageSent) + "unread until the end"}
	for i := range gangSize {
		want = append(want, string(events.MemberJoined)+worker(i), string(events.TaskCreated)+"first of "+worker(i), string(events.TaskClaimed)+"first of "+worker(i))
	}
	for _, what := range want {
		if seen[what] != 1 {
			t.Errorf("%s was told %d times", what, seen[what])
		}
	}
	g.sound()
}

// TestFaultOfAnAgent: what a worker runs is killed. The task says so, its host goes on
// with the next one, and nobody else notices.
func TestFaultOfAnAgent(t *testing.T) {
	t.Parallel()
	g := newGang(t)
	g.begin()
	host := hostRecord(g.rig, "gang", worker(5)).Process
	g.killAgent(worker(5))
	g.failed = worker(5)
	g.atWork(gangSize) // with its second one
	g.states(nil)
	var failed []api.Task
	g.eventually("its task has failed", func() bool {
		failed = into[[]api.Task](g.rig, "task", "ls", "--status", "failed")
		return len(failed) > 0
	})
	if len(failed) != 1 || string(failed[0].Metadata["assignedTo"]) != `"`+worker(5)+`"` || !strings.Contains(failed[0].Failure, "SIGKILL") {
		t.Errorf("the task of the one whose agent was killed: %+v", failed)
	}
	if now := hostRecord(g.rig, "gang", worker(5)).Process; now != host {
		t.Error("its host has changed")
	}
	g.sound()
}

// killAgent kills what a member runs.
func (g *gang) killAgent(name string) {
	g.t.Helper()
	var m api.Member
	g.eventually("an agent of "+name+" runs", func() bool { // the task is claimed a moment before
		m = g.member(name)
		return m.PID != hostRecord(g.rig, "gang", name).Process.PID
	})
	agent, err := signals.Identify(m.PID)
	if err != nil {
		g.t.Fatal(err)
	}
	if err := syscall.Kill(agent.PID, syscall.SIGKILL); err != nil {
		g.t.Fatal(err)
	}
}

// TestFaultOfTheClock: it is moved, forth and back: whatever is on disk is days old, or
// comes from days ahead. Nobody is taken for dead, and no lock for stale.
func TestFaultOfTheClock(t *testing.T) {
	t.Parallel()
	g := newGang(t)
	g.clock = true
	g.begin()
	for _, shift := range []time.Duration{-48 * time.Hour, 96 * time.Hour, -48 * time.Hour} {
		for _, pattern := range []string{"teams/gang/config.json", "leadlight/gang/launch/*.json", "leadlight/gang/hosts/*.json", "tasks/gang/*.json"} {
			files, err := filepath.Glob(g.path("base", pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				moveTimes(t, file, shift)
			}
		}
		at := time.Now().Add(shift)
		for name := range tree(t, g.path("base")) {
			_ = os.Chtimes(g.path("base", name), at, at)
		}
		g.states(nil)
		g.must("send", worker(0), "after "+shift.String())
		g.sound()
	}
}

// moveTimes shifts every time that a file of JSON holds: text in RFC 3339, and
// milliseconds since 1970.
func moveTimes(t *testing.T, path string, shift time.Duration) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	var move func(any) any
	move = func(v any) any {
		switch x := v.(type) {
		case map[string]any:
			for k := range x {
				x[k] = move(x[k])
			}
		case []any:
			for i := range x {
				x[i] = move(x[i])
			}
		case string:
			if at, err := time.Parse(time.RFC3339Nano, x); err == nil {
				return at.Add(shift).Format(time.RFC3339Nano)
			}
		case json.Number:
			if n, err := x.Int64(); err == nil && n > 1e12 && n < 1e13 && len(x) == 13 {
				return json.Number(strconv.FormatInt(n+shift.Milliseconds(), 10))
			}
		}
		return v
	}
	out, err := json.Marshal(move(doc))
	if err == nil {
		temp := path + ".tmp.moved"
		err = errors.Join(os.WriteFile(temp, out, 0o600), os.Rename(temp, path))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFaultOfTheFullDisk: there is no room left for a while. Who wants to write is
// told so at once, the work that goes on is not harmed, and when there is room again
// everything is as it was.
func TestFaultOfTheFullDisk(t *testing.T) {
	t.Parallel()
	g := newGang(t)
	makeSmall(t, g, 4<<20)
	g.begin()
	before := tree(t, g.path("base", "tasks"))
	filler := g.path("base", "filler")
	fill(t, filler)
	for _, args := range [][]string{{"task", "add", "more"}, {"send", worker(0), "hello"}, {"team", "create", "other", "--description", "x"}} {
		began := time.Now()
		res := g.run(args...)
		if res.exit != 1 || !strings.Contains(res.err, "DISK_FULL") || time.Since(began) > time.Minute {
			t.Errorf("%v: exit %d after %s, %s", args, res.exit, time.Since(began), res.err)
		}
	}
	one := hostRecord(g.rig, "gang", worker(1)).Process
	if res := g.run("restart", worker(1)); res.exit != 1 || !strings.Contains(res.err, "restart "+worker(1)+", which runs on: ") || !strings.Contains(res.err, "DISK_FULL") || one.Probe() != signals.Alive {
		t.Errorf("restart: exit %d, its host is %s, %s", res.exit, one.Probe(), res.err)
	}
	if res := g.run("doctor"); res.exit != 1 || !strings.Contains(res.out, "fail  base directory: ") {
		t.Errorf("doctor: exit %d, %s", res.exit, res.out)
	}
	g.states(nil)
	g.kill(worker(3), syscall.SIGKILL) // somebody is lost while that cannot be written down
	g.states(map[string]string{worker(3): api.StateLost})
	g.killAgent(worker(5)) // and somebody's task has come to an end
	g.eventually("that cannot be written down", func() bool {
		return strings.Contains(g.must("capture", worker(5)), "cannot be written down just now")
	})
	sameButLead(t, before, tree(t, g.path("base", "tasks")))
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	g.failed = worker(5)
	g.eventually("it is written down", func() bool { return len(g.with("failed")) == 1 })
	g.sound(worker(3))
	fill(t, filler)
	var err error
	for i := 0; err == nil; i++ { // nor for one more file
		err = os.WriteFile(g.path("base", fmt.Sprintf("file-%d", i)), nil, 0o600)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	g.must("down", "gang", "--force", "--timeout", "1s") // it makes room
	if _, err := os.Lstat(g.path("base", "teams", "gang")); !errors.Is(err, os.ErrNotExist) || one.Probe() != signals.Gone {
		t.Errorf("after down on a full disk: %v, the host of %s is %s", err, worker(1), one.Probe())
	}
}

// fill writes until there is no room.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{64 << 10, 512, 1} {
		piece := make([]byte, size)
		for err = nil; err == nil; {
			_, err = f.Write(piece)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}
