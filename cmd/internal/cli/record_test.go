package cli

import (
	"testing"

	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestRecordCountsTries: a task that was begun again after its teammate was lost is in
// the record with both tries, also when another process goes on with it.
func TestRecordCountsTries(t *testing.T) {
	p := dial.Paths{Base: "/b", State: t.TempDir(), Key: "k"}
	see := func(r *recorder, statuses ...string) {
		for _, s := range statuses {
			r.see(teams.Snapshot{Tasks: []api.Task{{ID: "1", Subject: "x", Status: s}}})
		}
	}
	first := newRecorder(p, api.Team{Name: "t"}, 1000)
	see(first, store.Pending, store.InProgress, store.InProgress, store.Pending, store.InProgress)
	if got := first.rec.Tasks[0].Attempts; got != 2 {
		t.Errorf("%d tries", got)
	}
	if err := first.write(); err != nil {
		t.Fatal(err)
	}
	next := newRecorder(p, api.Team{Name: "t"}, 1000)
	see(next, store.InProgress, store.Completed)
	if got := next.rec.Tasks[0]; got.Attempts != 2 || got.StartedAt != first.rec.Tasks[0].StartedAt {
		t.Errorf("it goes on as %+v", got)
	}
}
