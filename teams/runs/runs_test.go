package runs

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/db"
)

// scratch is a store in a new database, and the events it has emitted.
type scratch struct {
	*Store
	t      testing.TB
	ctx    context.Context
	events []api.TeamRunEvent
}

func newScratch(t testing.TB) *scratch {
	t.Helper()
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Component())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	s := &scratch{t: t, ctx: t.Context()}
	s.Store = New(d, func(list []api.TeamRunEvent) { s.events = append(s.events, list...) })
	if err := s.KeepProfiles(s.ctx, []string{"shell", "claude", "codex"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// ok takes the result of a call that must succeed.
func ok[T any](s *scratch) func(T, error) T {
	return func(v T, err error) T {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
		return v
	}
}

// code checks an error's code.
func (s *scratch) code(err error, want fault.Code) {
	s.t.Helper()
	if fault.CodeOf(err) != want {
		s.t.Errorf("%v (%s), want %s", err, fault.CodeOf(err), want)
	}
}

// emitted takes the events since it was last asked.
func (s *scratch) emitted(want ...string) {
	s.t.Helper()
	var got []string
	for _, e := range s.events {
		got = append(got, e.Type)
		if e.Timestamp == 0 {
			s.t.Errorf("%s has no time", e.Type)
		}
	}
	if s.events = nil; !slices.Equal(got, want) {
		s.t.Errorf("events %v, want %v", got, want)
	}
}

// begun is a run with items "1", "2", … of the role shell that is under way.
func (s *scratch) begun(n int) (api.AgentTeamRun, []api.AgentTeamItem) {
	s.t.Helper()
	team := ok[api.AgentTeam](s)(s.CreateTeam(s.ctx, api.AgentTeamParams{Name: "t" + newID()}))
	p := api.RunCreateParams{TeamID: team.ID}
	for i := range n {
		p.Items = append(p.Items, api.ItemSpec{Title: string(rune('1' + i)), OwnerAgentRoleID: "shell"})
	}
	run := ok[api.AgentTeamRun](s)(s.CreateRun(s.ctx, p))
	run = ok[api.AgentTeamRun](s)(s.Begin(s.ctx, run.ID))
	list := ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: run.ID}))
	s.events = nil
	return run, list
}

func p[T any](v T) *T { return &v }

// tables describes the tables of a database that the contract names.
func tables(s *scratch) []string {
	out, err := all(s.ctx, s.db, scanID, `
		SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '-') || ' ' || c.pk
			FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name LIKE 'agent\_team%' ESCAPE '\'
		UNION ALL SELECT m.name || ' → ' || f."table" || '.' || f."from" || ' ' || f.on_delete
			FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND m.name LIKE 'agent\_team%' ESCAPE '\'
		UNION ALL SELECT m.name || ' ' || i.name || ' ' || i."unique" || ' ' || (SELECT group_concat(name) FROM pragma_index_info(i.name))
			FROM sqlite_master m, pragma_index_list(m.name) i WHERE m.type = 'table' AND m.name LIKE 'agent\_team%' ESCAPE '\'
		ORDER BY 1`)
	return ok[[]string](s)(out, err)
}

// TestC01_Tables: every column, key, rule and index of the contract is there, as it
// says. The contract's own words make the other database.
func TestC01_Tables(t *testing.T) {
	s := newScratch(t)
	sql, err := os.ReadFile("testdata/contract.sql")
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "y.db"), db.Component{Name: "contract", Steps: []string{string(sql)}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ours := tables(s)
	for _, line := range tables(&scratch{Store: New(d, nil), t: t, ctx: t.Context()}) {
		if !slices.Contains(ours, line) {
			t.Errorf("the contract has %q, we do not", line)
		}
	}
	extra := []string{"idx_team_items_order", "idx_team_items_status", "idx_team_items_parent"}
	if n := len(ours) - len(extra) - len(tables(&scratch{Store: New(d, nil), t: t, ctx: t.Context()})); n != 0 {
		t.Errorf("%d more rows than the contract has: %s", n, strings.Join(ours, "\n"))
	}
}

func TestC02_Teams(t *testing.T) {
	s := newScratch(t)
	team := ok[api.AgentTeam](s)(s.CreateTeam(s.ctx, api.AgentTeamParams{Name: "review"}))
	want := api.AgentTeam{ID: team.ID, WorkspaceID: "default", Name: "review", LeadAgentRoleID: "lead", MaxParallelAgents: 4, IsActive: true,
		CreatedAt: team.CreatedAt, UpdatedAt: team.CreatedAt}
	if !reflect.DeepEqual(team, want) || team.CreatedAt < 1e12 {
		t.Errorf("%+v", team)
	}
	for _, bad := range []struct {
		p    api.AgentTeamParams
		code fault.Code
	}{
		{api.AgentTeamParams{Name: " "}, fault.InvalidArgument},
		{api.AgentTeamParams{Name: "review"}, fault.TeamExists},
		{api.AgentTeamParams{Name: "x", WorkspaceID: "none"}, fault.InvalidArgument},
		{api.AgentTeamParams{Name: "x", LeadAgentRoleID: "none"}, fault.ProfileNotFound},
		{api.AgentTeamParams{Name: "x", MaxParallelAgents: p(-1)}, fault.InvalidArgument},
		{api.AgentTeamParams{Name: "x", MaxParallelAgents: p(0)}, fault.InvalidArgument},
		{api.AgentTeamParams{Name: "x", DefaultModelPreference: "best"}, fault.InvalidModel},
	} {
		_, err := s.CreateTeam(s.ctx, bad.p)
		s.code(err, bad.code)
	}
	s.emitted(api.EvTeamCreated)
	team = ok[api.AgentTeam](s)(s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: team.ID, Description: p("all"), MaxParallelAgents: p(2), DefaultModelPreference: p("cheaper"), IsActive: p(false)}))
	if got := ok[api.AgentTeam](s)(s.Team(s.ctx, team.ID)); got != team || got.Description != "all" || got.MaxParallelAgents != 2 || got.IsActive || got.Name != "review" {
		t.Errorf("%+v", got)
	}
	_, err := s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: team.ID, MaxParallelAgents: p(0)})
	s.code(err, fault.InvalidArgument)
	_, err = s.CreateRun(s.ctx, api.RunCreateParams{TeamID: team.ID})
	s.code(err, fault.Rejected) // retired
	s.emitted(api.EvTeamUpdated)
	if list := ok[[]api.AgentTeam](s)(s.Teams(s.ctx, api.AgentTeamsParams{})); len(list) != 1 || list[0] != team {
		t.Errorf("%+v", list)
	}
	ok[api.AgentTeamMember](s)(s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: team.ID, AgentRoleID: "shell"}))
	if err := s.DeleteTeam(s.ctx, team.ID); err != nil {
		t.Error(err)
	}
	s.emitted(api.EvMemberAdded, api.EvTeamDeleted)
	if left := ok[[]api.AgentTeamMember](s)(members(s.ctx, s.db, team.ID)); len(left) > 0 {
		t.Errorf("the members of a deleted team are there: %v", left)
	}
	s.code(s.DeleteTeam(s.ctx, team.ID), fault.TeamNotFound)
	run, _ := s.begun(0)
	s.code(s.DeleteTeam(s.ctx, run.TeamID), fault.Rejected) // its history
}

func TestC03_Members(t *testing.T) {
	s := newScratch(t)
	team := ok[api.AgentTeam](s)(s.CreateTeam(s.ctx, api.AgentTeamParams{Name: "review"}))
	var ids []string
	for i, role := range []string{"shell", "claude", "codex"} {
		m := ok[api.AgentTeamMember](s)(s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: team.ID, AgentRoleID: role, IsRequired: i == 0, RoleGuidance: "g"}))
		if m.MemberOrder != i || m.IsRequired != (i == 0) || m.RoleGuidance != "g" {
			t.Errorf("%+v", m)
		}
		ids = append(ids, m.ID)
	}
	_, err := s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: team.ID, AgentRoleID: "shell"})
	s.code(err, fault.DuplicateName)
	_, err = s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: team.ID, AgentRoleID: "none"})
	s.code(err, fault.ProfileNotFound)
	_, err = s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: "none", AgentRoleID: "shell"})
	s.code(err, fault.TeamNotFound)
	m := ok[api.AgentTeamMember](s)(s.UpdateMember(s.ctx, api.AgentTeamMemberChange{ID: ids[1], IsRequired: p(true), RoleGuidance: p("")}))
	if !m.IsRequired || m.RoleGuidance != "" || m.MemberOrder != 1 {
		t.Errorf("%+v", m)
	}
	for _, bad := range [][]string{nil, ids[:2], {ids[0], ids[0], ids[1]}, {ids[0], ids[1], "none"}} {
		_, err = s.Reorder(s.ctx, api.ReorderParams{TeamID: team.ID, MemberIDs: bad})
		s.code(err, fault.InvalidArgument)
	}
	want := []string{ids[2], ids[0], ids[1]}
	ok[[]api.AgentTeamMember](s)(s.Reorder(s.ctx, api.ReorderParams{TeamID: team.ID, MemberIDs: want}))
	var got []string
	for _, m := range ok[[]api.AgentTeamMember](s)(s.Members(s.ctx, team.ID)) {
		got = append(got, m.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	if err := s.RemoveMember(s.ctx, ids[0]); err != nil {
		t.Error(err)
	}
	s.code(s.RemoveMember(s.ctx, ids[0]), fault.MemberNotFound)
	s.emitted(api.EvTeamCreated, api.EvMemberAdded, api.EvMemberAdded, api.EvMemberAdded, api.EvMemberUpdated, api.EvMembersReordered, api.EvMemberRemoved)
}

// TestC04_RunTransitions: every step that the table has is made, every other one is
// refused and changes nothing.
func TestC04_RunTransitions(t *testing.T) {
	s := newScratch(t)
	steps := map[string]func(context.Context, string) (api.AgentTeamRun, error){
		api.RunPaused: s.Pause, api.RunCancelled: func(ctx context.Context, id string) (api.AgentTeamRun, error) { return s.Cancel(ctx, id, "") },
		api.RunRunning: func(ctx context.Context, id string) (api.AgentTeamRun, error) {
			r, err := s.Begin(ctx, id)
			if paused := ok[api.AgentTeamRun](s)(s.Run(ctx, id)); paused.Status == api.RunPaused {
				s.code(err, fault.Rejected) // it is somebody's will
				s.code(s.Joined(ctx, id, "a", "shell"), "")
				return s.Resume(ctx, id)
			}
			return r, err
		},
		api.RunFailed: func(ctx context.Context, id string) (api.AgentTeamRun, error) { return s.Fail(ctx, id, "why") },
	}
	for _, from := range runStatuses() {
		for to, step := range steps {
			run, _ := s.begun(1)
			if _, err := s.db.Exec(`UPDATE agent_team_runs SET status = ? WHERE id = ?`, from, run.ID); err != nil {
				t.Fatal(err)
			}
			before := ok[api.AgentTeamRun](s)(s.Run(s.ctx, run.ID))
			got, err := step(s.ctx, run.ID)
			after := ok[api.AgentTeamRun](s)(s.Run(s.ctx, run.ID))
			switch allowed := slices.Contains(runTransitions()[from], to); {
			case allowed && (err != nil || got != after || after.Status != to || after.Final() != (after.CompletedAt > 0)):
				t.Errorf("%s → %s: %+v %v", from, to, after, err)
			case !allowed && (fault.CodeOf(err) != fault.Rejected || before != after):
				t.Errorf("%s → %s was not refused: %+v %v", from, to, after, err)
			}
		}
	}
}

func TestC04_Run(t *testing.T) {
	s := newScratch(t)
	run, _ := s.begun(0)
	if _, ended, err := s.Finish(s.ctx, run.ID); ended || err != nil {
		t.Errorf("a run without items ended: %v", err)
	}
	run, list := s.begun(2)
	ok[api.AgentTeamRun](s)(s.Pause(s.ctx, run.ID))
	_, err := s.Launch(s.ctx, list[0], "a")
	s.code(err, fault.Rejected)
	if back := ok[api.AgentTeamRun](s)(s.Resume(s.ctx, run.ID)); back.Status != api.RunRunning || back.StartedAt != run.StartedAt {
		t.Errorf("it had begun, and it is %+v", back)
	}
	if err := s.Joined(s.ctx, run.ID, "a", "shell"); err != nil {
		t.Fatal(err)
	}
	ok[ActiveItem](s)(s.Launch(s.ctx, list[0], "a"))
	end := ok[api.AgentTeamRun](s)(s.Cancel(s.ctx, run.ID, ""))
	if end.Summary != "0 of 2 items done, 1 cut off, 1 todo" || end.CompletedAt == 0 {
		t.Errorf("%+v", end)
	}
	if list := ok[[]Place](s)(s.Open(s.ctx)); len(list) != 2 || list[1].RunID != run.ID {
		t.Errorf("open are %+v", list)
	}
	if err := s.Left(s.ctx, run.ID); err != nil {
		t.Fatal(err)
	}
	if list := ok[[]Place](s)(s.Open(s.ctx)); len(list) != 1 {
		t.Errorf("open are %+v", list)
	}
	report := ok[api.RunReport](s)(s.Report(s.ctx, run.ID))
	if len(report.Tasks) != 1 || report.Tasks[0].CompletedAt == 0 || report.Members[0].EndedAt == 0 || report.Members[0].Items != 1 {
		t.Errorf("%+v", report)
	}
	_, err = s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "late"})
	s.code(err, fault.Rejected)
	s.code(func() error { _, err := s.Run(s.ctx, "none"); return err }(), fault.RunNotFound)
	if all := ok[[]api.AgentTeamRun](s)(s.Runs(s.ctx, api.RunsParams{})); len(all) != 2 || all[0].ID != run.ID {
		t.Errorf("%+v", all)
	}
}

// TestC09_SummaryOnBothSides: what a teammate has to say about an item stands in
// the item and in its task, and is written once.
func TestC09_SummaryOnBothSides(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(2)
	for i, end := range []struct{ status, says string }{{api.ItemDone, "fine"}, {api.ItemFailed, "broke"}} {
		f := ok[ActiveItem](s)(s.Launch(s.ctx, list[i], "a"))
		s.emitted(api.EvItemSpawned)
		_, err := s.Launch(s.ctx, list[i], "b")
		s.code(err, fault.Rejected) // it runs
		_, err = s.UpdateItem(s.ctx, api.ItemChange{ID: list[i].ID, Status: p(api.ItemDone)})
		s.code(err, fault.Rejected) // it is the teammate's
		s.code(s.DeleteItem(s.ctx, list[i].ID), fault.Rejected)
		for range 2 {
			if err := s.Complete(s.ctx, run.ID, f.TaskID, end.status, end.says); err != nil {
				t.Fatal(err)
			}
		}
		s.emitted(api.EvItemUpdated)
		it := ok[api.AgentTeamItem](s)(s.Item(s.ctx, list[i].ID))
		var task string
		if err := s.db.QueryRow(`SELECT result_summary FROM tasks WHERE id = ?`, f.TaskID).Scan(&task); err != nil {
			t.Fatal(err)
		}
		if it.Status != end.status || it.ResultSummary != end.says || task != end.says || it.SourceTaskID != f.TaskID {
			t.Errorf("%+v, task %q", it, task)
		}
	}
	end, ended, err := s.Finish(s.ctx, run.ID)
	if err != nil || !ended || end.Status != api.RunFailed || end.Error != "1 of 2 items done, 1 failed" {
		t.Errorf("%+v %v", end, err)
	}
}

// TestC12_LimitOfTheTeam: no more items begin at a time than the team may have.
func TestC12_LimitOfTheTeam(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(3)
	ok[api.AgentTeam](s)(s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: run.TeamID, MaxParallelAgents: p(2)}))
	f := ok[ActiveItem](s)(s.Launch(s.ctx, list[0], "a"))
	ok[ActiveItem](s)(s.Launch(s.ctx, list[1], "b"))
	_, err := s.Launch(s.ctx, list[2], "c")
	s.code(err, fault.LimitReached)
	if err := s.Complete(s.ctx, run.ID, f.TaskID, api.ItemDone, ""); err != nil {
		t.Fatal(err)
	}
	ok[ActiveItem](s)(s.Launch(s.ctx, list[2], "a"))
}

// TestC09_RecordsOfOthers: what another process has carried out is in the history,
// once, as its last record says, and is not to be paused or cancelled.
func TestC09_RecordsOfOthers(t *testing.T) {
	s := newScratch(t)
	rec := api.RunRecord{ID: "r1", Team: "review", Status: api.RunRunning, StartedAt: 1000,
		Members: []api.RunRecordMember{{Name: "vet", Profile: "shell"}},
		Tasks: []api.RunRecordTask{
			{ID: "1", Title: "vet", Owner: "vet", Status: api.ItemInProgress, StartedAt: 2000},
			{ID: "2", Title: "sum", Status: api.ItemBlocked, BlockedBy: []string{"1"}},
		}}
	in := func(rec api.RunRecord) {
		t.Helper()
		if err := s.Import(s.ctx, rec); err != nil {
			t.Fatal(err)
		}
	}
	in(rec)
	_, err := s.Cancel(s.ctx, "r1", "")
	s.code(err, fault.Rejected)
	_, err = s.CreateItem(s.ctx, api.ItemParams{TeamRunID: "r1", Title: "mine"})
	s.code(err, fault.Rejected) // the next record would not have it
	if open := ok[[]Place](s)(s.Open(s.ctx)); len(open) != 0 {
		t.Errorf("the daemon would carry it out: %+v", open)
	}
	rec.Status, rec.CompletedAt, rec.Error = api.RunFailed, 9000, "not all"
	rec.Tasks[0].Status, rec.Tasks[0].CompletedAt, rec.Tasks[0].Result, rec.Tasks[0].Attempts = api.ItemDone, 5000, "fine", 3
	in(rec)
	late := rec
	late.Status, late.Tasks = api.RunCompleted, nil
	in(late) // its last word was said
	got := ok[api.RunReport](s)(s.Report(s.ctx, "r1"))
	if got.Run.Status != api.RunFailed || got.Run.StartedAt != 1000 || got.Run.CompletedAt != 9000 || got.Run.Summary != "1 of 2 items done, 1 blocked" || got.Run.Error != "not all" {
		t.Errorf("%+v", got.Run)
	}
	if len(got.Items) != 2 || got.Items[0].ResultSummary != "fine" || got.Items[0].OwnerAgentRoleID != "review/vet" || got.Items[1].BlockedBy[0] != got.Items[0].ID {
		t.Errorf("%+v", got.Items)
	}
	if len(got.Tasks) != 1 || got.Members[0].BusyMs != 3000 || got.Members[0].Retries != 2 || got.Members[0].EndedAt != 9000 {
		t.Errorf("%+v %+v", got.Tasks, got.Members)
	}
	bad := rec
	bad.ID, bad.Status = "r2", "half"
	s.code(s.Import(s.ctx, bad), fault.InvalidArgument)
	run, _ := s.begun(1)
	place := ok[Place](s)(s.PlaceOf(s.ctx, run.ID))
	in(api.RunRecord{ID: "r3", Team: place.LiveTeam, Status: api.RunCompleted, StartedAt: 1, CompletedAt: 2})
	if n := len(ok[[]api.AgentTeamRun](s)(s.Runs(s.ctx, api.RunsParams{}))); n != 2 {
		t.Errorf("%d runs: that of the daemon itself was taken in", n)
	}
}

// TestFind: the beginning of an id is enough if it is the only one.
func TestFind(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(1)
	if got := ok[api.AgentTeamRun](s)(s.FindRun(s.ctx, run.ID[:6])); got.ID != run.ID {
		t.Errorf("%+v", got)
	}
	if got := ok[api.AgentTeamItem](s)(s.FindItem(s.ctx, list[0].ID)); got.ID != list[0].ID {
		t.Errorf("%+v", got)
	}
	for _, id := range []string{"", "zzzz", run.ID + "0"} {
		_, err := s.FindRun(s.ctx, id)
		s.code(err, fault.RunNotFound)
	}
	for range 17 {
		s.begun(0)
	}
	several := 0
	for _, c := range "0123456789abcdef" {
		if _, err := s.FindRun(s.ctx, string(c)); fault.CodeOf(err) == fault.InvalidArgument {
			several++
		}
	}
	if several == 0 {
		t.Error("of 18 ids no two begin alike")
	}
}
