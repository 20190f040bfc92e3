package teams

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func TestSettled(t *testing.T) {
	live := api.Member{Name: "w", Kind: "worker", State: api.StateIdle}
	dead := api.Member{Name: "w", Kind: "worker", State: api.StateStopped}
	for _, tc := range []struct {
		name    string
		members []api.Member
		tasks   []api.Task
		want    bool
	}{
		{"no tasks, somebody runs", []api.Member{live}, nil, false},
		{"no tasks, nobody runs", []api.Member{dead}, nil, true},
		{"all completed", []api.Member{live}, []api.Task{{ID: "1", Status: store.Completed}}, true},
		{"one runs", []api.Member{live}, []api.Task{{ID: "1", Status: store.InProgress, Owner: "w"}}, false},
		{"one is ready", []api.Member{live}, []api.Task{{ID: "1", Status: store.Pending}}, false},
		{"one is ready and nobody is there", []api.Member{dead}, []api.Task{{ID: "1", Status: store.Pending}}, true},
		{"owned by somebody who is gone", []api.Member{dead}, []api.Task{{ID: "1", Status: store.Pending, Owner: "w"}}, true},
		{"owned by a worker that has no command", []api.Member{{Name: "x", Kind: "worker", State: api.StateIdle}}, []api.Task{{ID: "1", Status: store.Pending, Owner: "x"}}, true},
		{"free, and there is such a worker only", []api.Member{{Name: "x", Kind: "worker", State: api.StateIdle}}, []api.Task{{ID: "1", Status: store.Pending}}, true},
		{"free, and an agent is there besides", []api.Member{{Name: "x", Kind: "worker", State: api.StateIdle}, {Name: "a", Kind: "interactive", State: api.StateIdle}}, []api.Task{{ID: "1", Status: store.Pending}}, false},
		{"failed, and what waits for it", []api.Member{live}, []api.Task{
			{ID: "1", Status: store.FailedTask}, {ID: "2", Status: store.Blocked, BlockedBy: []string{"1"}}, {ID: "3", Status: store.Blocked, BlockedBy: []string{"2"}},
		}, true},
		{"failed, but another goes on", []api.Member{live}, []api.Task{
			{ID: "1", Status: store.FailedTask}, {ID: "2", Status: store.Pending},
		}, false},
		{"blocked by one that cannot be read", []api.Member{live}, []api.Task{
			{ID: "1", Status: store.Completed}, {ID: "3", Status: store.Blocked, BlockedBy: []string{"1", "2"}},
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			snap := Snapshot{Members: tc.members, Tasks: tc.tasks, Unclaimed: unclaimed(tc.tasks, tc.members, func(w string, _ api.Task) bool { return w == "w" })}
			if got := snap.Settled(); got != tc.want {
				t.Errorf("settled = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestColorsAreSpreadAndStable(t *testing.T) {
	var members []store.Member
	seen := map[string]int{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		c := pickColor(name, members)
		if again := pickColor(name, members); again != c {
			t.Errorf("%s: %s, then %s", name, c, again)
		}
		members = append(members, store.Member{Name: name, Color: c})
		seen[c]++
	}
	if len(seen) != len(assigned) {
		t.Errorf("six members share %d colours: %v", len(seen), seen)
	}
}

// What cannot be read is not known to be done: a team that holds it is not
// finished, and nobody may take it for that.
func TestCompletedNeedsEveryTaskRead(t *testing.T) {
	snap := Snapshot{Tasks: []api.Task{{ID: "1", Status: store.Completed}}}
	if !snap.Completed() {
		t.Error("one completed task is not completed")
	}
	snap.Warnings = []string{"2.json cannot be read"}
	if snap.Completed() {
		t.Error("a task that cannot be read counts as completed")
	}
}
