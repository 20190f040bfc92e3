package runs

import (
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXS13_TasksCanBeGiven: a program gives a run its root task and items their source
// tasks, and reads from them how these ended.
func TestXS13_TasksCanBeGiven(t *testing.T) {
	s := newScratch(t)
	made := func(title string) api.RunTask {
		t.Helper()
		return ok[api.RunTask](s)(s.CreateTask(s.ctx, api.RunTaskParams{Title: title}))
	}
	root, byHand, byTeammate, spare := made("the whole"), made("sign"), made("build"), made("spare")
	run, list := s.begun(1)
	mine := ok[api.AgentTeamRun](s)(s.CreateRun(s.ctx, api.RunCreateParams{TeamID: run.TeamID, RootTaskID: root.ID}))
	mine = ok[api.AgentTeamRun](s)(s.Begin(s.ctx, mine.ID))
	if got := ok[api.RunTask](s)(s.Task(s.ctx, root.ID[:8])); mine.RootTaskID != root.ID || got.Status != api.ItemInProgress || got.Title != "the whole" {
		t.Errorf("%+v %+v", mine, got)
	}
	signed := ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: mine.ID, Title: "Sign it off", SourceTaskID: byHand.ID}))
	built := ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: mine.ID, Title: "Build it", OwnerAgentRoleID: list[0].OwnerAgentRoleID}))
	built = ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: built.ID, SourceTaskID: &byTeammate.ID}))

	for what, id := range map[string]string{"the root of a run": root.ID, "the source of an item": byHand.ID} {
		_, err := s.CreateItem(s.ctx, api.ItemParams{TeamRunID: mine.ID, Title: what, SourceTaskID: id})
		s.code(err, fault.Rejected)
		s.code(s.DeleteTask(s.ctx, id), fault.Rejected)
	}
	_, err := s.CreateRun(s.ctx, api.RunCreateParams{TeamID: run.TeamID, RootTaskID: root.ID})
	s.code(err, fault.Rejected)
	_, err = s.CreateItem(s.ctx, api.ItemParams{TeamRunID: mine.ID, Title: "x", SourceTaskID: "no-such"})
	s.code(err, fault.TaskNotFound)

	for _, step := range []struct{ status, result string }{{api.ItemInProgress, ""}, {api.ItemFailed, "no"}, {api.ItemTodo, ""}, {api.ItemDone, "signed"}} {
		ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: signed.ID, Status: &step.status, ResultSummary: &step.result}))
		got := ok[api.RunTask](s)(s.Task(s.ctx, byHand.ID))
		over := step.status == api.ItemDone || step.status == api.ItemFailed
		if got.Status != step.status || got.ResultSummary != step.result || got.CompletedAt > 0 != over {
			t.Errorf("the item is %s, its task %+v", step.status, got)
		}
	}
	_, err = s.UpdateItem(s.ctx, api.ItemChange{ID: signed.ID, SourceTaskID: &spare.ID})
	s.code(err, fault.Rejected)

	f := ok[ActiveItem](s)(s.Launch(s.ctx, built, "a"))
	_, err = s.UpdateItem(s.ctx, api.ItemChange{ID: built.ID, SourceTaskID: p("")})
	s.code(err, fault.Rejected)
	s.code(s.Complete(s.ctx, mine.ID, f.TaskID, api.ItemDone, "built"), "")
	got := ok[api.RunTask](s)(s.Task(s.ctx, byTeammate.ID))
	if f.TaskID != byTeammate.ID || got.Assignee != "a" || got.ResultSummary != "built" || got.ParentTaskID != root.ID || got.ItemID != built.ID || got.CompletedAt == 0 {
		t.Errorf("%+v %+v", f, got)
	}
	if _, ended, err := s.Finish(s.ctx, mine.ID); !ended || err != nil {
		t.Fatal(ended, err)
	}
	if got := ok[api.RunTask](s)(s.Task(s.ctx, root.ID)); got.Status != api.ItemDone || got.CompletedAt == 0 {
		t.Errorf("%+v", got)
	}
	s.code(s.DeleteTask(s.ctx, spare.ID), "")
	_, err = s.Task(s.ctx, spare.ID)
	s.code(err, fault.TaskNotFound)
}
