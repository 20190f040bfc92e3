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

func set(s Stores, t testing.TB, id string, change func(*store.Task)) (store.Task, error) {
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
	list, _, err := s.Tasks.List(ctx(t), team)
	ok(t, err)
	var ids []string
	for _, x := range list {
		ids = append(ids, x.ID)
	}
	if got := strings.Join(ids, " "); got != "1 2 3 4 5 6 7 8 9 10 11" {
		t.Errorf("order %s", got)
	}
	for what, bad := range map[string]store.Task{
		"no subject": {}, "blank subject": {Subject: " \n"}, "odd status": {Subject: "x", Status: "sleeping"}, "deleted": {Subject: "x", Status: store.Deleted},
	} {
		_, err := s.Tasks.Create(ctx(t), team, bad)
		wantCode(t, what, err, fault.InvalidArgument)
	}
	_, err = s.Tasks.Create(ctx(t), team, store.Task{Subject: "x", BlockedBy: []string{"77"}})
	wantCode(t, "a dangling blocker", err, fault.TaskNotFound)
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
		_, err := s.Tasks.Get(ctx(t), team, id)
		wantCode(t, "get "+id, err, fault.TaskNotFound)
		_, err = set(s, t, id, func(*store.Task) {})
		wantCode(t, "update "+id, err, fault.TaskNotFound)
		_, err = s.Tasks.Claim(ctx(t), team, id, "builder")
		wantCode(t, "claim "+id, err, fault.TaskNotFound)
		wantCode(t, "delete "+id, s.Tasks.Delete(ctx(t), team, id), fault.TaskNotFound)
	}
}

func testUpdateTask(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	got, err := set(s, t, "1", func(x *store.Task) {
		x.Status, x.Owner, x.Result, x.Subject = "claimed", "builder", "half of it", "New"
		x.Metadata["k"] = json.RawMessage(`"v"`)
	})
	ok(t, err)
	if got.Status != store.InProgress || got.Owner != "builder" || got.Result != "half of it" || got.Subject != "New" || string(got.Metadata["k"]) != `"v"` {
		t.Errorf("got %+v", got)
	}
	if again := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "1")); !cmp.Equal(got, again, alike()) {
		t.Error(cmp.Diff(got, again, alike()))
	}
	got, err = set(s, t, "1", func(x *store.Task) {
		x.Status = "done"
		delete(x.Metadata, "k")
	})
	ok(t, err)
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
	_, err = set(s, t, "1", func(x *store.Task) { x.Status = "sleeping" })
	wantCode(t, "an odd status", err, fault.InvalidArgument)
	_, err = set(s, t, "1", func(x *store.Task) { x.Subject = "" })
	wantCode(t, "no subject", err, fault.InvalidArgument)
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
	_, err := s.Tasks.Claim(ctx(t), team, "1", "scout")
	wantCode(t, "claimed by another", err, fault.TaskClaimed)
	if err == nil || !strings.Contains(err.Error(), "builder") {
		t.Errorf("%v does not say who has it", err)
	}
	_, err = s.Tasks.Claim(ctx(t), team, "1", "builder")
	wantCode(t, "claimed already", err, fault.TaskClaimed)
	_, err = set(s, t, "1", func(x *store.Task) { x.Status = store.Completed })
	ok(t, err)
	_, err = s.Tasks.Claim(ctx(t), team, "1", "builder")
	wantCode(t, "completed", err, fault.TaskClaimed)
	_, err = s.Tasks.Claim(ctx(t), team, "7", "builder")
	wantCode(t, "no such task", err, fault.TaskNotFound)
	_, err = s.Tasks.Claim(ctx(t), team, "1", "a b")
	wantCode(t, "an odd name", err, fault.InvalidName)
}

func testClaimNext(t *testing.T, open Opener) {
	s := open.team(t)
	_, err := s.Tasks.ClaimNext(ctx(t), team, "core")
	wantCode(t, "an empty list", err, fault.NoTaskReady)
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
	_, err = set(s, t, "4", func(x *store.Task) { x.Status, x.Owner = store.Pending, "" })
	ok(t, err)
	if got := next("core"); got != "4" {
		t.Errorf("after the release: %s, want 4", got)
	}
}

func testFail(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	_ = must[store.Task](t)(s.Tasks.Claim(ctx(t), team, "1", "builder"))
	got, err := set(s, t, "1", func(x *store.Task) { x.Failure = "exit 1" })
	ok(t, err)
	if got.State() != store.FailedTask || got.Status != store.Pending || got.Owner != "builder" || got.Failure != "exit 1" {
		t.Errorf("failed: %+v", got)
	}
	_, err = s.Tasks.ClaimNext(ctx(t), team, "builder")
	wantCode(t, "claim next", err, fault.NoTaskReady)
	_, err = s.Tasks.Claim(ctx(t), team, "1", "builder")
	wantCode(t, "claim", err, fault.TaskBlocked)
	_, err = set(s, t, "1", func(x *store.Task) { x.Failure, x.Owner = "", "" })
	ok(t, err)
	if x := must[store.Task](t)(s.Tasks.ClaimNext(ctx(t), team, "builder")); x.ID != "1" {
		t.Errorf("claimed %s", x.ID)
	}
	got, err = set(s, t, "1", func(x *store.Task) { x.Status = "failed" })
	ok(t, err)
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
	var all sync.WaitGroup
	for i := range claimers {
		all.Go(func() {
			who := fmt.Sprint("w", i)
			for {
				x, err := s.Tasks.ClaimNext(ctx(t), team, who)
				if errors.Is(err, fault.NoTaskReady) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if other := taken[x.ID]; other != "" || x.Owner != who {
					t.Errorf("task %s went to %s and to %s (owner %s)", x.ID, other, who, x.Owner)
				}
				taken[x.ID] = who
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(taken) != total {
		t.Errorf("%d tasks claimed, want %d", len(taken), total)
	}
}

func testBadLists(t *testing.T, open Opener) {
	s := open.team(t)
	for _, name := range badNames() {
		_, err := s.Tasks.Create(ctx(t), name, store.Task{Subject: "x"})
		wantCode(t, "create in "+name, err, fault.InvalidName)
		_, _, err = s.Tasks.List(ctx(t), name)
		wantCode(t, "list "+name, err, fault.InvalidName)
		_, err = s.Tasks.ClaimNext(ctx(t), name, "builder")
		wantCode(t, "claim in "+name, err, fault.InvalidName)
	}
	_, err := s.Tasks.Create(ctx(t), "nobody", store.Task{Subject: "x"})
	wantCode(t, "create in no team", err, fault.TeamNotFound)
	_, err = s.Tasks.ClaimNext(ctx(t), team, "../x")
	wantCode(t, "claim for ../x", err, fault.InvalidName)
}

func testWatchTasks(t *testing.T, open Opener) {
	s := open.team(t)
	c := must[<-chan struct{}](t)(s.Tasks.Watch(ctx(t), team))
	hint(t, "first", c)
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() {
		if _, err := s.Tasks.Create(ctx(t), team, store.Task{Subject: "x"}); err != nil {
			t.Error(err)
		}
		if _, err := set(s, t, "1", func(x *store.Task) { x.Status = store.Completed }); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "completion", c, func() bool {
		list, _, err := s.Tasks.List(ctx(t), team)
		return err == nil && len(list) == 1 && list[0].Status == store.Completed
	})
}
