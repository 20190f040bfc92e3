package storetest

import (
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func testOwnerAddress(t *testing.T, open Opener) {
	s := open.team(t)
	made := must[store.Task](t)(s.Tasks.Create(ctx(t), team, store.Task{Subject: "x", Owner: "builder@alpha"}))
	if made = must[store.Task](t)(s.Tasks.Get(ctx(t), team, made.ID)); made.Owner != "builder" || !made.Ready("builder") {
		t.Errorf("owner %q, ready %t", made.Owner, made.Ready("builder"))
	}
	refused(t, "another claims it", fault.TaskClaimed)(s.Tasks.Claim(ctx(t), team, made.ID, "other"))
	if got := must[store.Task](t)(s.Tasks.Claim(ctx(t), team, made.ID, "builder@alpha")); got.Owner != "builder" {
		t.Errorf("claimed by %q", got.Owner)
	}
	add(t, s)
	if got := must[store.Task](t)(s.Tasks.ClaimNext(ctx(t), team, "builder@alpha")); got.Owner != "builder" {
		t.Errorf("claimed by %q", got.Owner)
	}
}

func testRemovedBlocker(t *testing.T, open Opener) {
	s := open.team(t)
	for range 2 {
		add(t, s)
	}
	add(t, s, "1", "2")
	set(t, s, "1", func(x *store.Task) { x.Status = store.Completed })
	ok(t, s.Tasks.Delete(ctx(t), team, "1"))
	ok(t, s.Tasks.Delete(ctx(t), team, "2"))
	if got := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "3")); !got.Ready("builder") {
		t.Errorf("waits for %q, which were removed", got.Open)
	}
	refused(t, "task 0", fault.TaskNotFound)(s.Tasks.Get(ctx(t), team, "0"))
}

func testFoldedNames(t *testing.T, open Opener) {
	s := open.team(t)
	for _, name := range []string{"Builder", "BUILDER", "builder"} {
		err := s.Roster.Update(ctx(t), team, func(x *store.Team) error {
			x.Members = append(x.Members, store.Member{Name: name})
			return nil
		})
		wantCode(t, name+" beside builder", err, fault.DuplicateName)
	}
	x := alpha()
	x.Name, x.Members = "twins", append(x.Members, store.Member{Name: "Builder"})
	wantCode(t, "twins", s.Roster.Create(ctx(t), x), fault.DuplicateName)
}

func testCompletedAt(t *testing.T, open Opener) {
	s := open.team(t)
	add(t, s)
	for status, want := range map[string]bool{store.InProgress: false, store.Completed: true} {
		got := set(t, s, "1", func(x *store.Task) { x.Status = status })
		if got.CompletedAt.IsZero() == want {
			t.Errorf("%s: completed at %s", status, got.CompletedAt)
		}
	}
	set(t, s, "1", func(x *store.Task) { x.Status = store.Completed })
	got := must[store.Task](t)(s.Tasks.Get(ctx(t), team, "1"))
	if got.CompletedAt.IsZero() || len(got.Metadata["completedAt"]) == 0 {
		t.Errorf("it was not kept: %+v", got)
	}
	got = set(t, s, "1", func(x *store.Task) { x.Status = store.Pending })
	if !got.CompletedAt.IsZero() || got.Metadata["completedAt"] != nil {
		t.Errorf("it is kept of a task that is pending again: %+v", got)
	}
}
