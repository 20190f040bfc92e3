package integration_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// told lists the types of the events of a team that the daemon has kept.
func (r *rig) told(team string) []events.Type {
	r.t.Helper()
	var all []events.Type
	for line := range strings.Lines(r.must("events", "--team", team)) {
		var e events.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			r.t.Fatalf("%v in %s", err, line)
		}
		all = append(all, e.Type)
	}
	return all
}

// TestO13_WorkersStreamIsObserved: a worker whose command speaks stream-json shows a
// team. The daemon tells of it, is killed, and goes on where it was: every event once
// and in order.
func TestO13_WorkersStreamIsObserved(t *testing.T) {
	t.Parallel()
	r := newRig(t, "160x50")
	r.team("crew")
	stream, err := os.ReadFile("testdata/stream.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(stream))
	half := len(lines) / 2
	for name, part := range map[string][][]byte{"first": lines[:half], "second": lines[half:]} {
		if err := os.WriteFile(r.path("work", name), bytes.Join(part, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.daemon()
	r.must("spawn", "bob", "--agent", "shell", "--", "sh", "-c", "cat first; until test -e go; do sleep 0.05; done; cat second; until test -e end; do sleep 0.05; done # stream-json")
	r.must("task", "add", "a piece", "--owner", "bob")
	early := []events.Type{events.TeamCreated, events.TaskCreated, events.MemberJoined}
	r.eventually("the first half is told", func() bool { return len(r.told("alpha")) >= len(early) })
	if got := r.told("alpha"); !slices.Equal(got, early) {
		t.Fatalf("the first half: %v", got)
	}
	pid := into[api.DaemonStatus](r, "daemon", "status").PID
	daemon, err := signals.Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(daemon.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path("work", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := append(early, events.MessageSent, events.TaskClaimed, events.TaskCompleted, events.MemberIdle)
	c := r.dial()
	r.eventually("the second half is told", func() bool { return len(r.told("alpha")) >= len(all) })
	seen, err := rpc.Do[[]api.Observed](t.Context(), c, "observed.list", api.ObservedParams{Team: "crew"})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Member != "bob" || seen[0].Task != "1" || !strings.Contains(string(seen[0].State), `"status":"completed"`) {
		t.Errorf("observed: %+v", seen)
	}
	if err := os.WriteFile(r.path("work", "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.eventually("the task is done", func() bool { return strings.Contains(r.must("task", "show", "1", "--json"), `"completed"`) })
	if got := r.told("alpha"); !slices.Equal(got, all) {
		t.Errorf("told: %v\nwant  %v", got, all)
	}
	r.must("down", "crew")
	seen, err = rpc.Do[[]api.Observed](t.Context(), c, "observed.list", nil)
	if err != nil || len(seen) != 0 {
		t.Errorf("after the end of the team: %+v, %v", seen, err)
	}
}
