package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestTasks holds a store.Tasks to its contract.
func TestTasks(t *testing.T, open Opener) {
	for name, test := range map[string]func(*testing.T, Opener){
		"CreateGetList":             testCreateTask,
		"TC05_IDsAreNeverUsedTwice": testIDs,
		"D2_D3_Update":              testUpdateTask,
		"UpdateFailsWhole":          testUpdateTaskFails,
		"M09_Claim":                 testClaim,
		"TC11_ClaimNext":            testClaimNext,
		"M08_DP01_Unblocking":       testUnblocking,
		"DP03_BlockedCannotStart":   testBlockedStart,
		"DP04_CyclesAreRefused":     testCycles,
		"MutualDependencies":        testMutual,
		"XF01_OwnersAreNames":       testOwnerAddress,
		"XF02_RemovedBlocksNothing": testRemovedBlocker,
		"XF12_CompletedAt":          testCompletedAt,
		"DeleteTask":                testDeleteTask,
		"D2_FailAndRelease":         testFail,
		"TC01_ParallelClaims":       testParallelClaims,
		"SE01_BadNamesAreRefused":   testBadLists,
		"WatchTasks":                testWatchTasks,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// add creates tasks with the given blockers.
func add(t testing.TB, s Stores, blockedBy ...string) store.Task {
	t.Helper()
	return must[store.Task](t)(s.Tasks.Create(ctx(t), team, store.Task{Subject: "Piece", BlockedBy: blockedBy}))
}

// set changes a task.
func set(t testing.TB, s Stores, id string, change func(*store.Task)) store.Task {
	t.Helper()
	return must[store.Task](t)(update(t, s, id, change))
}

// list lists the tasks.
func list(t testing.TB, s Stores) []store.Task {
	t.Helper()
	all, _, err := s.Tasks.List(ctx(t), team)
	ok(t, err)
	return all
}

func update(t testing.TB, s Stores, id string, change func(*store.Task)) (store.Task, error) {
	return s.Tasks.Update(ctx(t), team, id, func(x *store.Task) error { change(x); return nil })
}

func testCreateTask(t *testing.T, open Opener) {
	s := open.team(t)
	if list, warnings, err := s.Tasks.List(ctx(t), team); err != nil || len(list)+len(warnings) != 0 {
		t.Errorf("a list that does not exist: %v %v %v", list, warnings, err)
	}
	made := must[store.Task](t)(s.Tasks.Create(ctx(t), team, store.Task{
		ID: "99", Subject: "Write <x> & ü", Description: "long\ntext", ActiveForm: "Writing", Owner: "builder", CreatedBy: store.Lead,
		Metadata: map[string]json.RawMessage{"ticket": json.RawMessage(`{"n":1.50}`)},
	}))
	if made.ID != "1" || made.Status != store.Pending || time.Since(made.CreatedAt) > time.Minute || made.UpdatedAt.IsZero() {
		t.Errorf("made %+v", made)
	}
	got := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "1"))
	if diff := cmp.Diff(made, got, alike()); diff != "" {
		t.Error(diff)
	}
	if string(got.Metadata["ticket"]) != `{"n":1.50}` && strings.Join(strings.Fields(string(got.Metadata["ticket"])), "") != `{"n":1.50}` {
		t.Errorf("metadata: %s", got.Metadata["ticket"])
	}
	for range 10 {
		add(t, s)
	}
	var ids []string
	for _, x := range list(t, s) {
		ids = append(ids, x.ID)
	}
	if got := strings.Join(ids, " "); got != "1 2 3 4 5 6 7 8 9 10 11" {
		t.Errorf("order %s", got)
	}
	for what, bad := range map[string]store.Task{
		"no subject": {}, "blank subject": {Subject: " \n"}, "odd status": {Subject: "x", Status: "sleeping"}, "deleted": {Subject: "x", Status: store.Deleted},
	} {
		refused(t, what, fault.InvalidArgument)(s.Tasks.Create(ctx(t), team, bad))
	}
	refused(t, "a dangling blocker", fault.TaskNotFound)(s.Tasks.Create(ctx(t), team, store.Task{Subject: "x", BlockedBy: []string{"77"}}))
	if x := add(t, s); x.ID != "12" {
		t.Errorf("id %s after refused tasks, want 12", x.ID)
	}
}

func testIDs(t *testing.T, open Opener) {
	s := open.team(t)
	for range 3 {
		add(t, s)
	}
	ok(t, s.Tasks.Delete(ctx(t), team, "3"))
	ok(t, s.Tasks.Delete(ctx(t), team, "1"))
	if x := add(t, s); x.ID != "4" {
		t.Errorf("id %s, want 4", x.ID)
	}
	for _, id := range []string{"4", "2"} {
		ok(t, s.Tasks.Delete(ctx(t), team, id))
	}
	if x := add(t, s); x.ID != "5" {
		t.Errorf("id %s, want 5", x.ID)
	}
	for _, id := range []string{"0", "", "-1", "01", "x", "1/..", "9999999999999999999"} {
		refused(t, "get "+id, fault.TaskNotFound)(s.Tasks.Get(ctx(t), team, id))
		refused(t, "update "+id, fault.TaskNotFound)(update(t, s, id, func(*store.Task) {}))
		refused(t, "claim "+id, fault.TaskNotFound)(s.Tasks.Claim(ctx(t), team, id, "builder"))
		wantCode(t, "delete "+id, s.Tasks.Delete(ctx(t), team, id), fault.TaskNotFound)
	}
}

func testUpdateTask(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	got := set(t, s, "1", func(x *store.Task) {
		x.Status, x.Owner, x.Result, x.Subject = "claimed", "builder", "half of it", "New"
		x.Metadata["k"] = json.RawMessage(`"v"`)
	})
	if got.Status != store.InProgress || got.Owner != "builder" || got.Result != "half of it" || got.Subject != "New" || string(got.Metadata["k"]) != `"v"` {
		t.Errorf("got %+v", got)
	}
	if again := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "1")); !cmp.Equal(got, again, alike()) {
		t.Error(cmp.Diff(got, again, alike()))
	}
	got = set(t, s, "1", func(x *store.Task) {
		x.Status = "done"
		delete(x.Metadata, "k")
	})
	if got.Status != store.Completed || got.Metadata["k"] != nil || got.Result != "half of it" {
		t.Errorf("got %+v", got)
	}
}

func testUpdateTaskFails(t *testing.T, open Opener) {
	s := open.team(t)
	before := add(t, s)
	mine := errors.New("mine")
	_, err := s.Tasks.Update(ctx(t), team, "1", func(x *store.Task) error {
		x.Subject, x.Metadata["x"] = "changed", json.RawMessage("1")
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("error %v, want the function's own", err)
	}
	refused(t, "an odd status", fault.InvalidArgument)(update(t, s, "1", func(x *store.Task) { x.Status = "sleeping" }))
	refused(t, "no subject", fault.InvalidArgument)(update(t, s, "1", func(x *store.Task) { x.Subject = "" }))
	if after := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "1")); !cmp.Equal(before, after, alike()) {
		t.Error(cmp.Diff(before, after, alike()))
	}
}

func testClaim(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	got := must[store.Task](t)(s.Tasks.Claim(ctx(t), team, "1", "builder"))
	if got.Owner != "builder" || got.Status != store.InProgress {
		t.Errorf("claimed %+v", got)
	}
	err := refused(t, "claimed by another", fault.TaskClaimed)(s.Tasks.Claim(ctx(t), team, "1", "scout"))
	if err == nil || !strings.Contains(err.Error(), "builder") {
		t.Errorf("%v does not say who has it", err)
	}
	refused(t, "claimed already", fault.TaskClaimed)(s.Tasks.Claim(ctx(t), team, "1", "builder"))
	set(t, s, "1", func(x *store.Task) { x.Status = store.Completed })
	refused(t, "completed", fault.TaskClaimed)(s.Tasks.Claim(ctx(t), team, "1", "builder"))
	refused(t, "no such task", fault.TaskNotFound)(s.Tasks.Claim(ctx(t), team, "7", "builder"))
	refused(t, "an odd name", fault.InvalidName)(s.Tasks.Claim(ctx(t), team, "1", "a b"))
}

func testClaimNext(t *testing.T, open Opener) {
	s := open.team(t)
	refused(t, "an empty list", fault.NoTaskReady)(s.Tasks.ClaimNext(ctx(t), team, "core"))
	_ = must[store.Task](t)(s.Tasks.Create(ctx(t), team, store.Task{Subject: "for silent", Owner: "silent"}))
	_ = must[store.Task](t)(s.Tasks.Create(ctx(t), team, store.Task{Subject: "for writer", Owner: "writer"}))
	add(t, s, "1") // 3 waits
	add(t, s)      // 4
	add(t, s)      // 5
	next := func(who string) string {
		x, err := s.Tasks.ClaimNext(ctx(t), team, who)
		if err != nil {
			return string(fault.CodeOf(err))
		}
		return x.ID
	}
	for i, step := range []struct{ who, want string }{
		{"core", "4"}, {"writer-2", "5"}, {"core", "NO_TASK_READY"}, {"writer", "2"}, {"writer", "NO_TASK_READY"}, {"silent", "1"},
	} {
		if got := next(step.who); got != step.want {
			t.Errorf("step %d: %s got %s, want %s", i, step.who, got, step.want)
		}
	}
	set(t, s, "4", func(x *store.Task) { x.Status, x.Owner = store.Pending, "" })
	if got := next("core"); got != "4" {
		t.Errorf("after the release: %s, want 4", got)
	}
}

func testFail(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	_ = must[store.Task](t)(s.Tasks.Claim(ctx(t), team, "1", "builder"))
	got := set(t, s, "1", func(x *store.Task) { x.Failure = "exit 1" })
	if got.State() != store.FailedTask || got.Status != store.Pending || got.Owner != "builder" || got.Failure != "exit 1" {
		t.Errorf("failed: %+v", got)
	}
	refused(t, "claim next", fault.NoTaskReady)(s.Tasks.ClaimNext(ctx(t), team, "builder"))
	refused(t, "claim", fault.TaskBlocked)(s.Tasks.Claim(ctx(t), team, "1", "builder"))
	set(t, s, "1", func(x *store.Task) { x.Failure, x.Owner = "", "" })
	if x := must[store.Task](t)(s.Tasks.ClaimNext(ctx(t), team, "builder")); x.ID != "1" {
		t.Errorf("claimed %s", x.ID)
	}
	got = set(t, s, "1", func(x *store.Task) { x.Status = "failed" })
	if got.State() != store.FailedTask || got.Failure == "" {
		t.Errorf("failed by name: %+v", got)
	}
}

func testParallelClaims(t *testing.T, open Opener) {
	s := open.team(t)
	const claimers, total = 6, 18
	for range total {
		add(t, s)
	}
	var mu sync.Mutex
	taken := map[string]string{}
	parallel(t, claimers, func(i int) error {
		who := fmt.Sprint("w", i)
		for {
			x, err := s.Tasks.ClaimNext(ctx(t), team, who)
			if errors.Is(err, fault.NoTaskReady) {
				return nil
			}
			if err != nil {
				return err
			}
			mu.Lock()
			if other := taken[x.ID]; other != "" || x.Owner != who {
				t.Errorf("task %s went to %s and to %s (owner %s)", x.ID, other, who, x.Owner)
			}
			taken[x.ID] = who
			mu.Unlock()
		}
	})
	if len(taken) != total {
		t.Errorf("%d tasks claimed, want %d", len(taken), total)
	}
}

func testBadLists(t *testing.T, open Opener) {
	s := open.team(t)
	for _, name := range badNames() {
		refused(t, "create in "+name, fault.InvalidName)(s.Tasks.Create(ctx(t), name, store.Task{Subject: "x"}))
		_, _, err := s.Tasks.List(ctx(t), name)
		wantCode(t, "list "+name, err, fault.InvalidName)
		refused(t, "claim in "+name, fault.InvalidName)(s.Tasks.ClaimNext(ctx(t), name, "builder"))
	}
	refused(t, "create in no team", fault.TeamNotFound)(s.Tasks.Create(ctx(t), "nobody", store.Task{Subject: "x"}))
	refused(t, "claim for ../x", fault.InvalidName)(s.Tasks.ClaimNext(ctx(t), team, "../x"))
}

func testWatchTasks(t *testing.T, open Opener) {
	s := open.team(t)
	c := must[<-chan struct{}](t)(s.Tasks.Watch(ctx(t), team))
	watched(t, c, func() error {
		_, made := s.Tasks.Create(ctx(t), team, store.Task{Subject: "x"})
		_, done := update(t, s, "1", func(x *store.Task) { x.Status = store.Completed })
		return errors.Join(made, done)
	}, func() bool {
		all := list(t, s)
		return len(all) == 1 && all[0].Status == store.Completed
	})
}
