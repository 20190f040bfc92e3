package runs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// picture is what somebody knows who takes what is loaded, and then each event.
type picture struct {
	items map[string]api.AgentTeamItem
	run   api.AgentTeamRun
}

func (p *picture) take(events []api.TeamRunEvent) {
	for _, e := range events {
		for _, it := range e.Items {
			p.items[it.ID] = it
		}
		if e.Run != nil {
			p.run = *e.Run
		}
		switch {
		case e.Type == api.EvItemDeleted:
			delete(p.items, e.Item.ID)
		case e.Item != nil:
			p.items[e.Item.ID] = *e.Item
		}
	}
}

// agrees compares the picture with what the lists say.
func (p *picture) agrees(s *scratch, after string) {
	s.t.Helper()
	p.take(s.events)
	s.events = nil
	now := map[string]api.AgentTeamItem{}
	for _, it := range ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: p.run.ID})) {
		now[it.ID] = it
	}
	if diff := cmp.Diff(now, p.items); diff != "" {
		s.t.Errorf("after %s (-listed +events):\n%s", after, diff)
	}
	if r := ok[api.AgentTeamRun](s)(s.Run(s.ctx, p.run.ID)); r != p.run {
		s.t.Errorf("after %s: run %+v, events %+v", after, r, p.run)
	}
}

// TestC13_Increments: who takes what is loaded, and then each event as it comes,
// has what the lists say, whatever happens.
func TestC13_Increments(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(5)
	local := &picture{items: map[string]api.AgentTeamItem{}}
	if err := s.Loaded(s.ctx, api.TeamRunFilter{TeamRunID: run.ID}, local.take); err != nil || len(local.items) != 5 {
		t.Fatal(err, len(local.items))
	}
	var f ActiveItem
	var blocked api.AgentTeamItem
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"a begin", func() { f = ok[ActiveItem](s)(s.Launch(s.ctx, list[0], "a")) }},
		{"a move", func() {
			ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: list[2].ID, BeforeID: list[0].ID}))
		}},
		{"a deletion", func() { s.code(s.DeleteItem(s.ctx, list[1].ID), "") }},
		{"an item that waits", func() {
			blocked = ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "new", BlockedBy: []string{list[0].ID, list[3].ID}}))
		}},
		{"the deletion of one that it waits for", func() { s.code(s.DeleteItem(s.ctx, list[3].ID), "") }},
		{"the end of the other", func() { s.code(s.Complete(s.ctx, run.ID, f.TaskID, api.ItemDone, "x"), "") }},
		{"an item that waits for what is done", func() {
			ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "late", BlockedBy: []string{list[0].ID}}))
		}},
		{"moves to where no room is", func() {
			for range 20 {
				for _, id := range []string{list[2].ID, blocked.ID} {
					ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: id, AfterID: list[0].ID}))
					local.agrees(s, "a move to where no room is")
				}
			}
		}},
		{"a part", func() {
			ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "part", ParentItemID: list[2].ID}))
		}},
		{"the end of the numbers", func() {
			ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: list[4].ID, SortOrder: p(int64(maxOrder))}))
			ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "last"}))
		}},
		{"cancel", func() { ok[api.AgentTeamRun](s)(s.Cancel(s.ctx, run.ID, "")) }},
	} {
		step.do()
		local.agrees(s, step.name)
	}
}

// TestC13_Records: what a record brings is emitted as it is, and nothing else is.
func TestC13_Records(t *testing.T) {
	s := newScratch(t)
	rec := api.RunRecord{ID: "r1", Team: "review", Status: api.RunRunning, StartedAt: 1000, Members: []api.RunRecordMember{{Name: "vet", Profile: "shell"}},
		Tasks: []api.RunRecordTask{{ID: "1", Title: "one", Owner: "vet", Status: api.ItemInProgress, StartedAt: 2000}, {ID: "2", Title: "two", Status: "odd", BlockedBy: []string{"1"}}}}
	local := &picture{items: map[string]api.AgentTeamItem{}}
	in := func(what string, want ...string) {
		t.Helper()
		s.code(s.Import(s.ctx, rec), "")
		events := s.events
		s.emitted(want...)
		s.events = events
		local.agrees(s, what)
	}
	in("the first", api.EvTeamCreated, api.EvMemberAdded, api.EvRunCreated, api.EvItemCreated, api.EvItemCreated)
	in("the same")
	if !local.run.Recorded || local.items[recordID("r1", "item", "2")].Status != api.ItemTodo {
		t.Errorf("%+v", local)
	}
	rec.Tasks = append(rec.Tasks[:1:1], api.RunRecordTask{ID: "3", Title: "three", Status: api.ItemDone, CompletedAt: 3000})
	rec.Tasks[0].Status, rec.Tasks[0].CompletedAt = api.ItemDone, 4000
	in("another", api.EvItemUpdated, api.EvItemCreated, api.EvItemDeleted)
	rec.Status, rec.CompletedAt = api.RunCompleted, 5000
	in("the last", api.EvRunUpdated)
	var root string
	if err := s.db.QueryRow(`SELECT status || ' ' || completed_at FROM tasks WHERE id = ?`, local.run.RootTaskID).Scan(&root); err != nil || root != "done 5000" {
		t.Errorf("the root task is %q: %v", root, err)
	}
}
