package store_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// https://github.com/randlee/agent-team-mail (docs/agent-team-api.md)
func TestIF04_Times(t *testing.T) {
	ten := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{
		`1772445600000`: ten, `1772445600`: ten, `1772445600.0`: ten, `"1772445600000"`: ten, `1.7724456e12`: ten,
		`"2026-03-02T10:00:00Z"`: ten, `"2026-03-02T12:00:00+02:00"`: ten, `"2026-03-02T10:00:00.000Z"`: ten, `"2026-03-02 10:00:00"`: ten,
		`"2026-03-02"`: ten.Add(-10 * time.Hour), `"yesterday"`: {}, `null`: {}, `{}`: {}, `-5`: {}, `1e300`: {}, `"NaN"`: {}, `true`: {}, ``: {},
	} {
		if got := store.ParseTime(json.RawMessage(in)); !got.Equal(want) {
			t.Errorf("%s is %v, want %v", in, got, want)
		}
	}
	if got := store.FormatTime(ten.Add(7 * time.Millisecond).In(time.FixedZone("", 3600))); got != "2026-03-02T10:00:00.007Z" {
		t.Errorf("written as %s", got)
	}
}

func TestDP04_Cycles(t *testing.T) {
	g := store.Graph{"1": {"2"}, "2": {"1"}, "3": {"3"}, "4": {"5"}, "5": {"6", "1"}, "6": {"4"}, "7": {"99"}, "8": {"1"}, "10": {"7"}}
	want := "cycle 1<->2 / task 3 blocks itself / cycle 4->5->6->4"
	if got := strings.Join(g.Cycles(), " / "); got != want {
		t.Errorf("cycles %s, want %s", got, want)
	}
	chain := store.Graph{}
	for i := range 5000 {
		chain[string(rune('a'+i))] = []string{string(rune('a' + i + 1))}
	}
	if err := chain.Check("a"); err != nil {
		t.Errorf("a long chain: %v", err)
	}
	if n := testing.AllocsPerRun(1, func() { chain.Cycles() }); n > 5000 {
		t.Errorf("to look for cycles in a chain of 5000 took %v allocations: more than one look at each", n)
	}
}

func TestIDNumber(t *testing.T) {
	for id, want := range map[string]int64{"0": -1, "7": 7, "120": 120, "": -1, "07": -1, "-1": -1, "1x": -1, "x": -1, "9999999999999999": -1} {
		if got := store.IDNumber(id); got != want {
			t.Errorf("%q is %d, want %d", id, got, want)
		}
	}
}

func TestClaimableSaysWhy(t *testing.T) {
	for _, c := range []struct {
		task store.Task
		code fault.Code
		says string
	}{
		{store.Task{ID: "1", Status: store.Pending}, "", ""},
		{store.Task{ID: "1", Status: store.Pending, Owner: "bob"}, "", ""},
		{store.Task{ID: "1", Status: store.Pending, Owner: "eve"}, fault.TaskClaimed, "taken by eve"},
		{store.Task{ID: "1", Status: store.InProgress, Owner: "eve"}, fault.TaskClaimed, "taken by eve"},
		{store.Task{ID: "1", Status: store.InProgress, Owner: "bob"}, fault.TaskClaimed, "taken by bob already"},
		{store.Task{ID: "1", Status: store.InProgress}, fault.TaskClaimed, "in_progress"},
		{store.Task{ID: "1", Status: store.Completed, Owner: "eve"}, fault.TaskClaimed, "completed"},
		{store.Task{ID: "1", Status: store.Pending, Open: []string{"2", "3"}}, fault.TaskBlocked, "waits for tasks 2, 3"},
		{store.Task{ID: "1", Status: store.Pending, Open: []string{"2", "9"}, Missing: []string{"9"}}, fault.TaskBlocked, "waits for tasks 2, 9, and 9 does not exist"},
		{store.Task{ID: "1", Status: store.Pending, Failure: "exit 1"}, fault.TaskBlocked, "has failed: exit 1"},
		{store.Task{ID: "1", Status: store.Pending, Metadata: map[string]json.RawMessage{"awaitsHooks": json.RawMessage("true")}}, fault.TaskBlocked, "answer of its hooks"},
		{store.Task{ID: "1", Status: store.Pending, Internal: true}, fault.TaskNotFound, ""},
	} {
		err := store.Claimable(&c.task, "bob")
		if fault.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v (%s), want %s %q", c.task, err, fault.CodeOf(err), c.code, c.says)
		}
		if free := c.task.Owner == "" || c.task.Status == store.Completed; free && err != nil && !c.task.Internal && fault.Of(err).Hint == "" {
			t.Errorf("%+v: no way out is named", c.task)
		}
	}
}
