package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXD01_WhichTasksWaitForWhom: up says it for every task that is open.
func TestXD01_WhichTasksWaitForWhom(t *testing.T) {
	snap := teams.Snapshot{
		Members: []api.Member{{Name: "ann", State: api.StateActive}},
		Tasks: []api.Task{
			{ID: "1", Status: "completed"}, {ID: "2", Status: "in_progress", Owner: "ann"}, {ID: "3", Status: "pending", Owner: "bob"},
			{ID: "4", Status: "pending"}, {ID: "5", Status: "blocked", BlockedBy: []string{"1", "2", "3"}}, {ID: "6", Status: "pending", Owner: "bob"},
			{ID: "7", Status: "failed", Owner: "bob"}, {ID: "8", Status: "pending", Owner: "gone"},
		},
		Unclaimed: []string{"8"},
	}
	want := "task 2 waits for ann, who works on it\ntasks 3, 6 wait for bob\ntask 4 waits for a teammate that is idle\ntask 5 waits for tasks 2, 3"
	if got := strings.Join(waits(snap), "\n"); got != want {
		t.Errorf("said\n%s\nwant\n%s", got, want)
	}
}

// TestXD01_SaidAgainAfterAMinute: once, until something happens.
func TestXD01_SaidAgainAfterAMinute(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	snap := teams.Snapshot{Tasks: []api.Task{{ID: "1", Status: "pending"}}}
	s := &stillness{}
	said := []int{}
	for second := range 200 {
		if second == 100 {
			snap.Members = []api.Member{{Name: "ann", State: api.StateIdle}}
		}
		if s.see(now.Add(time.Duration(second)*time.Second), snap) {
			said = append(said, second)
		}
	}
	if len(said) != 2 || said[0] != 60 || said[1] != 160 {
		t.Errorf("said at %v, want 60 and 160", said)
	}
}
