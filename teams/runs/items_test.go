package runs

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// order is the checklist as its titles.
func (s *scratch) order(runID string) string {
	s.t.Helper()
	var titles []string
	for _, it := range ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: runID})) {
		titles = append(titles, it.Title)
	}
	return strings.Join(titles, "")
}

// TestC05_ItemTransitions: every step of the table can be made by hand, every other
// one is refused and changes nothing.
func TestC05_ItemTransitions(t *testing.T) {
	s := newScratch(t)
	for _, from := range itemStatuses() {
		for _, to := range itemStatuses() {
			_, list := s.begun(1)
			if _, err := s.db.Exec(`UPDATE agent_team_items SET status = ?, owner_agent_role_id = 'lead' WHERE id = ?`, from, list[0].ID); err != nil {
				t.Fatal(err)
			}
			_, err := s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, Status: &to})
			now := ok[api.AgentTeamItem](s)(s.Item(s.ctx, list[0].ID)).Status
			switch allowed := from == to || slices.Contains(itemTransitions()[from], to); {
			case allowed && (err != nil || now != to):
				t.Errorf("%s → %s: %s %v", from, to, now, err)
			case !allowed && (fault.CodeOf(err) != fault.Rejected || now != from):
				t.Errorf("%s → %s was not refused: %s %v", from, to, now, err)
			case !allowed && strings.Contains(err.Error(), "final") != (from == api.ItemDone):
				t.Errorf("%s → %s: %v", from, to, err)
			}
		}
	}
}

func TestC05_Items(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(2)
	parent := ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "p", Description: "d"}))
	child := ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "c", ParentItemID: parent.ID, OwnerAgentRoleID: "shell"}))
	if parent.Status != api.ItemTodo || parent.SortOrder <= list[1].SortOrder || child.ParentItemID != parent.ID {
		t.Errorf("%+v %+v", parent, child)
	}
	other, foreign := s.begun(1)
	for _, bad := range []struct {
		p    api.ItemParams
		code fault.Code
	}{
		{api.ItemParams{TeamRunID: "none", Title: "x"}, fault.RunNotFound},
		{api.ItemParams{TeamRunID: run.ID, Title: ""}, fault.InvalidArgument},
		{api.ItemParams{TeamRunID: run.ID, Title: "\xff"}, fault.InvalidArgument},
		{api.ItemParams{TeamRunID: run.ID, Title: strings.Repeat("x", maxTitle+1)}, fault.LimitReached},
		{api.ItemParams{TeamRunID: run.ID, Title: "x", ParentItemID: "none"}, fault.ItemNotFound},
		{api.ItemParams{TeamRunID: run.ID, Title: "x", ParentItemID: foreign[0].ID}, fault.Rejected},
		{api.ItemParams{TeamRunID: run.ID, Title: "x", OwnerAgentRoleID: "none"}, fault.ProfileNotFound},
		{api.ItemParams{TeamRunID: run.ID, Title: "x", BlockedBy: []string{"none"}}, fault.ItemNotFound},
		{api.ItemParams{TeamRunID: run.ID, Title: "x", BlockedBy: []string{foreign[0].ID}}, fault.Rejected},
	} {
		_, err := s.CreateItem(s.ctx, bad.p)
		s.code(err, bad.code)
	}
	s.code(s.DeleteItem(s.ctx, parent.ID), fault.Rejected)
	_, err := s.MoveItem(s.ctx, api.ItemMove{ID: parent.ID, ParentItemID: &child.ID})
	s.code(err, fault.Rejected)
	_, err = s.UpdateItem(s.ctx, api.ItemChange{ID: parent.ID, Status: p(api.ItemDone)})
	s.code(err, fault.Rejected) // it follows its children
	s.events = nil
	up := ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: child.ID, Title: p("C"), Status: p(api.ItemDone), ResultSummary: p("well")}))
	if up.Title != "C" || up.Description != "" || up.ResultSummary != "well" || up.UpdatedAt < child.UpdatedAt {
		t.Errorf("%+v", up)
	}
	s.emitted(api.EvItemUpdated, api.EvItemUpdated)
	if now := ok[api.AgentTeamItem](s)(s.Item(s.ctx, parent.ID)); now.Status != api.ItemDone || now.ResultSummary != "1 of 1 items done" {
		t.Errorf("the parent did not follow: %+v", now)
	}
	if err := s.DeleteItem(s.ctx, child.ID); err != nil {
		t.Error(err)
	}
	s.code(s.DeleteItem(s.ctx, child.ID), fault.ItemNotFound)
	s.emitted(api.EvItemDeleted)
	page := ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: run.ID, After: list[0].ID, Limit: 1}))
	if len(page) != 1 || page[0].ID != list[1].ID {
		t.Errorf("%+v", page)
	}
	if n := s.order(other.ID); n != "1" {
		t.Errorf("the other run has %q", n)
	}
}

func TestC05_Move(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(4)
	for _, step := range []struct {
		p    api.ItemMove
		want string
	}{
		{api.ItemMove{ID: list[3].ID, BeforeID: list[0].ID}, "4123"},
		{api.ItemMove{ID: list[3].ID, AfterID: list[1].ID}, "1243"},
		{api.ItemMove{ID: list[0].ID, AfterID: list[2].ID}, "2431"},
		{api.ItemMove{ID: list[0].ID, SortOrder: p(int64(-5))}, "1243"},
		{api.ItemMove{ID: list[0].ID, BeforeID: list[0].ID}, "1243"},
	} {
		ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, step.p))
		if got := s.order(run.ID); got != step.want {
			t.Errorf("%+v: %s, want %s", step.p, got, step.want)
		}
	}
	s.emitted(api.EvItemMoved, api.EvItemMoved, api.EvItemMoved, api.EvItemMoved, api.EvItemMoved)
	for range 40 { // until there is no room, and more
		ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: list[2].ID, AfterID: list[0].ID}))
		ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: list[3].ID, AfterID: list[0].ID}))
		if got := s.order(run.ID); got != "1432" {
			t.Fatal(got)
		}
	}
	for _, bad := range []api.ItemMove{{ID: list[0].ID}, {ID: list[0].ID, SortOrder: p(int64(1)), AfterID: list[1].ID}} {
		_, err := s.MoveItem(s.ctx, bad)
		s.code(err, fault.InvalidArgument)
	}
	ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: list[0].ID, ParentItemID: &list[1].ID}))
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, Status: p(api.ItemFailed)}))
	if now := ok[api.AgentTeamItem](s)(s.Item(s.ctx, list[1].ID)); now.Status != api.ItemFailed {
		t.Errorf("%+v", now)
	}
}

// TestC05_Blocked: an item waits for others, and a run whose items wait in vain is
// over.
func TestC05_Blocked(t *testing.T) {
	s := newScratch(t)
	team := ok[api.AgentTeam](s)(s.CreateTeam(s.ctx, api.AgentTeamParams{Name: "t"}))
	spec := []api.ItemSpec{{Title: "1", BlockedBy: []int{2}}, {Title: "2"}, {Title: "3", BlockedBy: []int{1, 2}}}
	run := ok[api.AgentTeamRun](s)(s.CreateRun(s.ctx, api.RunCreateParams{TeamID: team.ID, Items: spec}))
	list := ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: run.ID}))
	states := func(want string) {
		t.Helper()
		var got []string
		for _, it := range ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: run.ID})) {
			got = append(got, it.Status)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	states("blocked todo blocked")
	_, err := s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, Status: p(api.ItemTodo)})
	s.code(err, fault.Rejected)
	ok[api.AgentTeamRun](s)(s.Begin(s.ctx, run.ID))
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[1].ID, Status: p(api.ItemDone)}))
	states("todo done blocked")
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, Status: p(api.ItemFailed)}))
	states("failed done blocked")
	end, ended, err := s.Finish(s.ctx, run.ID)
	if !ended || err != nil || end.Status != api.RunFailed || end.Summary != "1 of 3 items done, 1 failed, 1 blocked" {
		t.Errorf("%+v %v", end, err)
	}
	for _, bad := range [][]api.ItemSpec{{{Title: "1", BlockedBy: []int{1}}}, {{Title: "1", BlockedBy: []int{7}}}} {
		_, err := s.CreateRun(s.ctx, api.RunCreateParams{TeamID: team.ID, Items: bad})
		s.code(err, fault.InvalidArgument)
	}
	_, err = s.CreateRun(s.ctx, api.RunCreateParams{TeamID: team.ID, Items: []api.ItemSpec{{Title: "1", BlockedBy: []int{2}}, {Title: "2", BlockedBy: []int{1}}}})
	s.code(err, fault.Rejected)
	if n := len(ok[[]api.AgentTeamRun](s)(s.Runs(s.ctx, api.RunsParams{}))); n != 1 {
		t.Errorf("%d runs: a refused one was left", n)
	}
}

// TestC05_PartsAndWaiting: what follows its parts cannot wait itself, and nothing
// waits in a circle, be it by waiting or by being a part.
func TestC05_PartsAndWaiting(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(3)
	add := func(p api.ItemParams) (api.AgentTeamItem, error) {
		p.TeamRunID, p.Title = run.ID, cmp.Or(p.Title, "x")
		return s.CreateItem(s.ctx, p)
	}
	a := ok[api.AgentTeamItem](s)(add(api.ItemParams{BlockedBy: []string{list[0].ID}}))
	if a.Status != api.ItemBlocked || len(a.BlockedBy) != 1 {
		t.Errorf("%+v", a)
	}
	_, err := add(api.ItemParams{ParentItemID: a.ID})
	s.code(err, fault.Rejected) // a part of one that waits
	_, err = s.MoveItem(s.ctx, api.ItemMove{ID: list[1].ID, ParentItemID: &a.ID})
	s.code(err, fault.Rejected)
	part := ok[api.AgentTeamItem](s)(add(api.ItemParams{ParentItemID: list[1].ID}))
	s.code(s.change(s.ctx, "block", func(c *change) error { return c.block(list[1].ID, list[0].ID) }), fault.Rejected)
	_, err = add(api.ItemParams{ParentItemID: list[1].ID, BlockedBy: []string{list[1].ID}})
	s.code(err, fault.Rejected) // a part that waits for the whole
	late := ok[api.AgentTeamItem](s)(add(api.ItemParams{BlockedBy: []string{list[1].ID}}))
	_, err = s.MoveItem(s.ctx, api.ItemMove{ID: late.ID, ParentItemID: &list[1].ID})
	s.code(err, fault.Rejected)
	_, err = s.MoveItem(s.ctx, api.ItemMove{ID: list[1].ID, ParentItemID: &part.ID})
	s.code(err, fault.Rejected)
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: part.ID, Status: p(api.ItemDone)}))
	if now := ok[api.AgentTeamItem](s)(s.Item(s.ctx, late.ID)); now.Status != api.ItemTodo {
		t.Errorf("all parts are done, and who waits for the whole is %s", now.Status)
	}
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[2].ID, Status: p(api.ItemDone)}))
	_, err = add(api.ItemParams{ParentItemID: list[2].ID})
	s.code(err, fault.Rejected) // what is done is done
}

// TestC05_LastPart: an item that has lost its parts can begin.
func TestC05_LastPart(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(1)
	var parts []string
	for range 2 {
		it := ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "x", ParentItemID: list[0].ID}))
		parts = append(parts, it.ID)
	}
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: parts[0], Status: p(api.ItemDone)}))
	if now := ok[api.AgentTeamItem](s)(s.Item(s.ctx, list[0].ID)); now.Status != api.ItemInProgress {
		t.Errorf("%+v", now)
	}
	s.code(s.DeleteItem(s.ctx, parts[0]), "")
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: parts[1], Status: p(api.ItemInProgress)}))
	s.code(s.DeleteItem(s.ctx, parts[1]), "")
	if now := ok[[]api.AgentTeamItem](s)(s.Ready(s.ctx, run.ID, 9)); len(now) != 1 || now[0].ID != list[0].ID || now[0].ResultSummary != "" {
		t.Errorf("%+v", now)
	}
}

// TestC05_OrderHasBounds: numbers that not every program can keep are refused, and
// there is always room.
func TestC05_OrderHasBounds(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(3)
	for _, n := range []int64{maxOrder + 1, -maxOrder - 1, 1<<63 - 1, -1 << 63} {
		_, err := s.MoveItem(s.ctx, api.ItemMove{ID: list[0].ID, SortOrder: &n})
		s.code(err, fault.InvalidArgument)
		_, err = s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "x", SortOrder: &n})
		s.code(err, fault.InvalidArgument)
		_, err = s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: run.TeamID, AgentRoleID: "codex", MemberOrder: p(int(n))})
		s.code(err, fault.InvalidArgument)
	}
	m := ok[api.AgentTeamMember](s)(s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: run.TeamID, AgentRoleID: "codex", MemberOrder: p(maxOrder)}))
	_, err := s.UpdateMember(s.ctx, api.AgentTeamMemberChange{ID: m.ID, MemberOrder: p(maxOrder + 1)})
	s.code(err, fault.InvalidArgument)
	for _, edge := range []struct {
		order int64
		move  api.ItemMove
		want  string
	}{
		{maxOrder, api.ItemMove{ID: list[1].ID, AfterID: list[0].ID}, "312"},
		{-maxOrder, api.ItemMove{ID: list[1].ID, BeforeID: list[0].ID}, "213"},
	} {
		ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: list[0].ID, SortOrder: &edge.order}))
		for range 3 {
			ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, edge.move))
			if got := s.order(run.ID); got != edge.want {
				t.Errorf("at %d: %s, want %s", edge.order, got, edge.want)
			}
		}
	}
	ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: list[2].ID, SortOrder: p(int64(maxOrder))}))
	ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "4"}))
	if got := s.order(run.ID); got != "2134" {
		t.Error(got)
	}
	for _, it := range ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: run.ID})) {
		s.code(checkOrder("sortOrder", it.SortOrder), "")
	}
}

// TestC09_LaunchLooksAgain: what has changed since an item was found ready is seen
// before a teammate gets it.
func TestC09_LaunchLooksAgain(t *testing.T) {
	s := newScratch(t)
	for what, change := range map[string]func(api.AgentTeamRun, api.AgentTeamItem){
		"another owner": func(_ api.AgentTeamRun, it api.AgentTeamItem) {
			ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: it.ID, OwnerAgentRoleID: p("codex")}))
		},
		"no owner": func(_ api.AgentTeamRun, it api.AgentTeamItem) {
			ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: it.ID, OwnerAgentRoleID: p("")}))
		},
		"a part": func(r api.AgentTeamRun, it api.AgentTeamItem) {
			ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: r.ID, Title: "part", ParentItemID: it.ID}))
		},
		"another lead": func(r api.AgentTeamRun, it api.AgentTeamItem) {
			ok[api.AgentTeam](s)(s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: r.TeamID, LeadAgentRoleID: p("shell")}))
		},
	} {
		run, _ := s.begun(1)
		ready := ok[[]api.AgentTeamItem](s)(s.Ready(s.ctx, run.ID, 1))
		change(run, ready[0])
		if _, err := s.Launch(s.ctx, ready[0], "a"); fault.CodeOf(err) != fault.Rejected {
			t.Errorf("%s: %v", what, err)
		}
		if n := len(ok[[]ActiveItem](s)(s.ActiveItems(s.ctx, run.ID))); n != 0 {
			t.Errorf("%s: it flies", what)
		}
	}
	run, list := s.begun(1)
	ok[api.AgentTeam](s)(s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: run.TeamID, LeadAgentRoleID: p("codex")}))
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, OwnerAgentRoleID: p(LeadRole)}))
	if n := len(ok[[]api.AgentTeamItem](s)(s.Ready(s.ctx, run.ID, 9))); n != 0 {
		t.Error("a teammate would be the lead")
	}
}
