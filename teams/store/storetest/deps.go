package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func testUnblocking(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	add(t, s)
	blocked := add(t, s, "1", "2")
	if blocked.State() != store.Blocked || !cmp.Equal(blocked.Open, []string{"1", "2"}) {
		t.Errorf("state %s, open %q", blocked.State(), blocked.Open)
	}
	refused(t, "claim while blocked", fault.TaskBlocked)(s.Tasks.Claim(ctx(t), team, "3", "builder"))
	for _, id := range []string{"1", "2"} {
		set(t, s, id, func(x *store.Task) { x.Status = store.Completed })
	}
	got := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "3"))
	if !got.Ready("builder") || !cmp.Equal(got.BlockedBy, []string{"1", "2"}) {
		t.Errorf("after its blockers are completed: %+v", got)
	}
	if x := must[store.Task](t)(s.Tasks.ClaimNext(ctx(t), team, "builder")); x.ID != "3" {
		t.Errorf("claimed %s", x.ID)
	}
}

func testBlockedStart(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	before := add(t, s, "1")
	for _, status := range []string{store.InProgress, store.Completed, "done"} {
		refused(t, status+" while blocked", fault.TaskBlocked)(update(t, s, "2", func(x *store.Task) { x.Status = status }))
	}
	if after := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "2")); !cmp.Equal(before, after, alike()) {
		t.Error(cmp.Diff(before, after, alike()))
	}
	set(t, s, "2", func(x *store.Task) { x.Owner = "builder" })
}

func testCycles(t *testing.T, open Opener) {
	s := open.team(t)
	for range 3 {
		add(t, s)
	}
	edge := func(id, by string) error {
		_, err := update(t, s, id, func(x *store.Task) { x.BlockedBy = append(x.BlockedBy, by) })
		return err
	}
	ok(t, edge("2", "1"))
	ok(t, edge("3", "2"))
	wantCode(t, "1 after 3", edge("1", "3"), fault.InvalidArgument)
	wantCode(t, "1 after 2", edge("1", "2"), fault.InvalidArgument)
	wantCode(t, "1 after itself", edge("1", "1"), fault.InvalidArgument)
	wantCode(t, "1 after nothing", edge("1", "44"), fault.TaskNotFound)
	refused(t, "3 before 1", fault.InvalidArgument)(update(t, s, "3", func(x *store.Task) { x.Blocks = append(x.Blocks, "1") }))
	refused(t, "a new one between 3 and 1", fault.InvalidArgument)(s.Tasks.Create(ctx(t), team, store.Task{Subject: "x", BlockedBy: []string{"3"}, Blocks: []string{"1"}}))
	got := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "1"))
	if len(got.BlockedBy) != 0 || !cmp.Equal(got.Blocks, []string{"2"}) {
		t.Errorf("task 1 was changed: %+v", got)
	}
}

func testMutual(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	add(t, s)
	_ = must[store.Task](t)(s.Tasks.Create(ctx(t), team, store.Task{Subject: "between", BlockedBy: []string{"1"}, Blocks: []string{"2"}}))
	edges := func() string {
		var b strings.Builder
		for _, x := range list(t, s) {
			fmt.Fprintf(&b, "%s%v%v ", x.ID, x.Blocks, x.BlockedBy)
		}
		return b.String()
	}
	if got := edges(); got != "1[3][] 2[][3] 3[2][1] " {
		t.Errorf("after create: %s", got)
	}
	set(t, s, "3", func(x *store.Task) { x.BlockedBy, x.Blocks = nil, nil })
	if got := edges(); got != "1[][] 2[][] 3[][] " {
		t.Errorf("after removal: %s", got)
	}
	set(t, s, "1", func(x *store.Task) { x.Blocks = []string{"2", "3", "2"} })
	if got := edges(); got != "1[2 3][] 2[][1] 3[][1] " {
		t.Errorf("after addition: %s", got)
	}
}

func testDeleteTask(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	add(t, s, "1")
	got := set(t, s, "1", func(x *store.Task) { x.Status = store.Deleted })
	if got.Status != store.Deleted {
		t.Errorf("status %s", got.Status)
	}
	refused(t, "get", fault.TaskNotFound)(s.Tasks.Get(ctx(t), team, "1"))
	if x := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "2")); len(x.BlockedBy) != 0 || !x.Ready("") {
		t.Errorf("its dependant: %+v", x)
	}
	wantCode(t, "delete again", s.Tasks.Delete(ctx(t), team, "1"), fault.TaskNotFound)
}
