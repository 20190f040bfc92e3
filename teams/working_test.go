package teams_test

import (
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestXD07_WhatSomebodyWorksOn: whoever runs is shown with the task that it has in progress,
// of whatever kind it is; of several with the one that it took last. A worker's host tells.
func TestXD07_WhatSomebodyWorksOn(t *testing.T) {
	d := newDesk(t)
	lead := d.as("")
	worker, foreign := running("worker"), store.Member{Name: "guest", AgentID: "guest@alpha", BackendType: "in-process", TmuxPaneID: "in-process"}
	worker.Leadlight.Kind = "worker"
	ann, bob := running("ann"), running("bob")
	spawned := time.Now().Add(time.Minute) // the test may take longer than who starts may be without a host
	ann.Leadlight.SpawnedAt, bob.Leadlight.SpawnedAt = &spawned, &spawned
	d.team("alpha", ann, bob, worker, foreign, stopped("gone"))
	for _, owner := range []string{"ann", "bob", "bob", "worker", "guest", "gone", "ann", "team-lead"} {
		if _, err := lead.AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "x", Owner: owner}); err != nil {
			t.Fatal(err)
		}
	}
	doing := store.InProgress
	for _, id := range []string{"2", "4", "5", "6", "7", "8", "3"} { // 1 is not begun
		if _, err := lead.UpdateTask(t.Context(), "alpha", id, teams.TaskChange{Status: &doing}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"ann": "7", "bob": "3", "worker": "", "guest": "5", "gone": "", "team-lead": "8"}
	check := func(what string, members []api.Member, err error) {
		t.Helper()
		if err != nil || len(members) < len(want)-1 {
			t.Errorf("%s: %d members, %v", what, len(members), err)
		}
		for _, m := range members {
			if m.Task != want[m.Name] {
				t.Errorf("%s: %s works on task %q, want %q", what, m.Name, m.Task, want[m.Name])
			}
		}
	}
	members, _, err := lead.Members(t.Context(), "alpha", true)
	check("Members", members, err)
	team, err := lead.Team(t.Context(), "alpha")
	check("Team", team.Members, err)
	snap, err := lead.Snapshot(t.Context(), "alpha")
	check("Snapshot", snap.Members, err)
	whole, err := lead.Whole(t.Context(), "alpha")
	check("Whole", whole.Team.Members, err)
	with, err := lead.TeamWith(t.Context(), "alpha", snap.Tasks)
	check("TeamWith", with.Members, err)
}
