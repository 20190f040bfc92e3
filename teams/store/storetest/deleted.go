package storetest

import (
	"sync"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// testDeletedStaysAway: mail and tasks that race the removal of their team are not
// there for the next team of that name.
func testDeletedStaysAway(t *testing.T, open Opener) {
	s := open.team(t)
	for range 5 {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for {
					_, err := s.Mail.Put(ctx(t), team, "builder", store.Message{From: store.Lead, Text: "old"})
					if err == nil {
						_, err = s.Tasks.Create(ctx(t), team, store.Task{Subject: "old"})
					}
					if err != nil {
						wantCode(t, "work on a team that is deleted", err, fault.TeamNotFound)
						return
					}
				}
			})
		}
		ok(t, s.Roster.Delete(ctx(t), team))
		all.Wait()
		refused(t, "get", fault.TeamNotFound)(s.Roster.Get(ctx(t), team))
		ok(t, s.Roster.Create(ctx(t), alpha()))
		if box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder")); len(box) > 0 {
			t.Fatalf("the next team has inherited %d messages", len(box))
		}
		if tasks := list(t, s); len(tasks) > 0 {
			t.Fatalf("the next team has inherited %d tasks", len(tasks))
		}
	}
	if left := must[[]store.Remain](t)(s.Roster.Remains(ctx(t))); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}
