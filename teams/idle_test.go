package teams_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestA14_WhyATeammateRests: the reason is what is true of the teammate, and for a
// lead that is Claude Code one of those that it knows.
func TestA14_WhyATeammateRests(t *testing.T) {
	for _, tc := range []struct {
		what            string
		idle            teams.Idle
		plan            bool
		reason, claudes string
	}{
		{"nothing to say", teams.Idle{Summary: "s", Result: "r"}, false, "available", "available"},
		{"a task is done", teams.Idle{TaskID: "1", TaskStatus: "resolved"}, false, "task_complete", "available"},
		{"a task has failed", teams.Idle{TaskID: "1", TaskStatus: "failed", Fault: strings.Repeat("ü", 300), Result: strings.Repeat("r", 5000)}, false, "available", "available"},
		{"its plan is open", teams.Idle{TaskID: "1", TaskStatus: "resolved"}, true, "waiting_response", "available"},
		{"it asks", teams.Idle{Question: "Run make?"}, false, "waiting_response", ""},
	} {
		for _, ours := range []bool{true, false} {
			d := newDesk(t)
			d.team("alpha", running("ann"))
			if !ours {
				if err := d.fs.Roster().Update(t.Context(), "alpha", func(team *store.Team) error { team.Ours = store.Ours{}; return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if tc.plan {
				if _, err := d.as("ann").SubmitPlan(t.Context(), "alpha", "1. look", ""); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.as("ann").TellIdle(t.Context(), "alpha", tc.idle); err != nil {
				t.Fatal(err)
			}
			want := tc.reason
			if !ours {
				want = tc.claudes
			}
			if want == "" {
				mail, _ := d.fs.Mail(nil).List(t.Context(), "alpha", store.Lead)
				if m := mail[len(mail)-1]; m.Kind() != "message" || !strings.Contains(m.Text, "ann waits until somebody answers it in its pane: Run make?") {
					t.Errorf("%s: Claude Code got %+v", tc.what, m)
				}
				continue
			}
			f := d.last(store.Lead)
			if f["type"] != "idle_notification" || f["from"] != "ann" || f["idleReason"] != want {
				t.Errorf("%s, our lead %v: %v, want %s", tc.what, ours, f, want)
			}
			fault, _ := f["failureReason"].(string)
			result, _ := f["result"].(string)
			if len([]rune(fault)) != min(len([]rune(tc.idle.Fault)), 200) || len(result) != min(len(tc.idle.Result), 4000) {
				t.Errorf("%s: %d bytes of a reason, %d of a result", tc.what, len(fault), len(result))
			}
			if id, _ := f["completedTaskId"].(string); id != tc.idle.TaskID {
				t.Errorf("%s: %v", tc.what, f)
			}
		}
	}
}

// What a box with many notices costs grows with them, not with their square.
func TestManyNotices(t *testing.T) {
	var box []api.Message
	for i := range 4000 {
		text := store.Frame{Type: store.IdleNotification, CompletedTaskID: strconv.Itoa(i)}.Text()
		if i%4 == 0 {
			text = store.Frame{Type: store.IdleNotification, IdleReason: "available"}.Text()
		}
		box = append(box, api.Message{ID: strconv.Itoa(i), From: "m" + strconv.Itoa(i/4%7), Type: store.IdleNotification, Text: text})
	}
	got := teams.Collapse(box)
	if len(got) != 3000 || len(got[0].IDs) != 2 || got[0].ID != "1" {
		t.Errorf("%d remain, the first %+v", len(got), got[0])
	}
	half := testing.AllocsPerRun(1, func() { teams.Collapse(box[:2000]) })
	if all := testing.AllocsPerRun(1, func() { teams.Collapse(box) }); all > 3*half {
		t.Errorf("%v allocations for 4000 notices, %v for 2000", all, half)
	}
}
