package teams_test

import (
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams"
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
				mail, _ := d.fs.Mail().List(t.Context(), "alpha", store.Lead)
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
