package runs

import (
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// A task that ended while nobody looked took no longer for that.
func TestATaskEndedWhenItDid(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(1)
	f := ok[ActiveItem](s)(s.Launch(s.ctx, list[0], "a"))
	s.code(s.Complete(s.ctx, run.ID, f.TaskID, api.ItemDone, ""), "")
	if _, err := s.db.ExecContext(s.ctx, `UPDATE tasks SET started_at = 1000, completed_at = 9000 WHERE id = ?`, f.TaskID); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{4000, 10, 99000} { // the last two cannot be
		s.code(s.EndedAt(s.ctx, f.TaskID, time.UnixMilli(at)), "")
	}
	if r := ok[api.RunReport](s)(s.Report(s.ctx, run.ID)); r.Tasks[0].CompletedAt != 4000 {
		t.Errorf("%+v", r.Tasks[0])
	}
}

// What the tasks of a run have cost stands with them and is summed, in a run that is
// carried out here and in one that another process has recorded.
func TestUsageOfARun(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(3)
	if r := ok[api.RunReport](s)(s.Report(s.ctx, run.ID)); r.Usage != nil {
		t.Errorf("nobody has told of any cost: %+v", r.Usage)
	}
	for i, u := range []*api.Usage{{InputTokens: 100, OutputTokens: 20, CostUSD: 0.25}, {InputTokens: 3}, nil} {
		f := ok[ActiveItem](s)(s.Launch(s.ctx, list[i], "a"))
		if u != nil {
			s.code(s.Spent(s.ctx, f.TaskID, *u), "")
		}
		s.code(s.Complete(s.ctx, run.ID, f.TaskID, api.ItemDone, ""), "")
	}
	want := api.Usage{InputTokens: 103, OutputTokens: 20, CostUSD: 0.25}
	if r := ok[api.RunReport](s)(s.Report(s.ctx, run.ID)); r.Usage == nil || *r.Usage != want || r.Tasks[2].Usage != nil {
		t.Errorf("%+v of %+v, want %+v", r.Usage, r.Tasks, want)
	}
	s.code(s.Import(s.ctx, api.RunRecord{ID: "elsewhere", Team: "other", Status: api.RunCompleted, StartedAt: 1, CompletedAt: 9, Tasks: []api.RunRecordTask{
		{ID: "1", Title: "one", Status: api.ItemDone, StartedAt: 2, CompletedAt: 3, Usage: &want}, {ID: "2", Title: "two", Status: api.ItemDone, StartedAt: 3, CompletedAt: 4},
	}}), "")
	if r := ok[api.RunReport](s)(s.Report(s.ctx, "elsewhere")); r.Usage == nil || *r.Usage != want {
		t.Errorf("recorded: %+v, want %+v", r.Usage, want)
	}
}
