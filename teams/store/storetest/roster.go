package storetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestRoster holds a store.Roster to its contract.
func TestRoster(t *testing.T, open Opener) {
	for name, test := range map[string]func(*testing.T, Opener){
		"A01_CreateAndGet":            testCreate,
		"A02_CreateRefuses":           testCreateRefuses,
		"SE01_BadNamesAreRefused":     testBadTeams,
		"UpdateChangesOnlyWhatItSays": testUpdate,
		"UpdateFailsWhole":            testUpdateFails,
		"A18_ParallelUpdates":         testParallelUpdates,
		"A13_Delete":                  testDelete,
		"XH10_DeletedStaysAway":       testDeletedStaysAway,
		"List":                        testListTeams,
		"XF01_NamesDifferByMore":      testFoldedNames,
		"Watch":                       testWatchRoster,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func testCreate(t *testing.T, open Opener) {
	s := open.team(t)
	got := must[store.Team](t)(s.Roster.Get(ctx(t), team))
	want := alpha()
	if got.Name != want.Name || got.Description != want.Description || got.LeadAgentID != "team-lead@alpha" || got.LeadSessionID != "s-1" {
		t.Errorf("got %+v", got)
	}
	if !got.LedByUs() || got.Ours.Schema != store.Schema {
		t.Errorf("ours = %+v, want our schema", got.Ours)
	}
	if time.Since(got.CreatedAt) > time.Minute || got.Path == "" || len(got.Warnings) != 0 {
		t.Errorf("createdAt %v, path %q, warnings %q", got.CreatedAt, got.Path, got.Warnings)
	}
	if diff := cmp.Diff(want.Members, got.Members, alike()); diff != "" {
		t.Error(diff)
	}
}

func testCreateRefuses(t *testing.T, open Opener) {
	s := open.team(t)
	wantCode(t, "a second team of that name", s.Roster.Create(ctx(t), alpha()), fault.TeamExists)
	for _, name := range append(badNames(), "ab", "Alpha", "alpha_1", "alpha-", "a--b") {
		wantCode(t, name, s.Roster.Create(ctx(t), store.Team{Name: name}), fault.InvalidName)
	}
	twice := store.Team{Name: "beta", Members: []store.Member{{Name: "x"}, {Name: "x"}}}
	wantCode(t, "two members of one name", s.Roster.Create(ctx(t), twice), fault.DuplicateName)
	refused(t, "a team that was refused", fault.TeamNotFound)(s.Roster.Get(ctx(t), "beta"))
}

func testBadTeams(t *testing.T, open Opener) {
	s := open.team(t)
	for _, name := range badNames() {
		refused(t, "get "+name, fault.InvalidName)(s.Roster.Get(ctx(t), name))
		wantCode(t, "update "+name, s.Roster.Update(ctx(t), name, func(*store.Team) error { return nil }), fault.InvalidName)
		wantCode(t, "delete "+name, s.Roster.Delete(ctx(t), name), fault.InvalidName)
	}
	refused(t, "get", fault.TeamNotFound)(s.Roster.Get(ctx(t), "nobody"))
	wantCode(t, "update", s.Roster.Update(ctx(t), "nobody", func(*store.Team) error { return nil }), fault.TeamNotFound)
	wantCode(t, "delete", s.Roster.Delete(ctx(t), "nobody"), fault.TeamNotFound)
}

func testUpdate(t *testing.T, open Opener) {
	s := open.team(t)
	stopped := time.UnixMilli(1790000005000).UTC()
	code, active := 3, false
	ok(t, s.Roster.Update(ctx(t), team, func(x *store.Team) error {
		m := x.Member("builder")
		m.IsActive, m.Color, m.TmuxPaneID = &active, "", "%9"
		m.Metadata = map[string]json.RawMessage{"ticket": json.RawMessage("17")}
		m.Leadlight = &store.Bookkeeping{Host: "h1", Kind: "worker", State: "stopped", ExitCode: &code, StoppedAt: &stopped, Reason: "done",
			Replaced: &store.Replaced{Times: 2, At: stopped, GivenUp: true}}
		x.Members = append(x.Members, store.Member{Name: "scout", AgentID: "scout@alpha"})
		x.Metadata["project"] = json.RawMessage(`{"id":7}`)
		x.Ours.Cwd = "/srv/other"
		x.LeadProcess = &store.LeadProcess{PID: 12, PIDSpace: "host#pid:[1]", ProcStart: "77", ClaimedAt: stopped}
		return nil
	}))
	got := must[store.Team](t)(s.Roster.Get(ctx(t), team))
	m := got.Member("builder")
	if m.IsActive == nil || *m.IsActive || m.Color != "" || m.TmuxPaneID != "%9" || m.Prompt != alpha().Members[1].Prompt {
		t.Errorf("builder = %+v", m)
	}
	want := &store.Bookkeeping{Host: "h1", Kind: "worker", State: "stopped", ExitCode: &code, StoppedAt: &stopped, Reason: "done",
		Replaced: &store.Replaced{Times: 2, At: stopped, GivenUp: true}}
	if diff := cmp.Diff(want, m.Leadlight); diff != "" {
		t.Error(diff)
	}
	if string(m.Metadata["ticket"]) != "17" || got.Ours.Cwd != "/srv/other" || got.LeadProcess == nil || got.LeadProcess.PID != 12 {
		t.Errorf("metadata %s, ours %+v, lead process %+v", m.Metadata, got.Ours, got.LeadProcess)
	}
	if len(got.Members) != 4 || got.Members[3].Name != "scout" || got.Members[2].Name != "研究員" {
		t.Errorf("members = %+v", got.Members)
	}
	ok(t, s.Roster.Update(ctx(t), team, func(x *store.Team) error {
		x.Members = append(x.Members[:1], x.Members[2:]...)
		delete(x.Metadata, "project")
		x.LeadProcess = nil
		return nil
	}))
	got = must[store.Team](t)(s.Roster.Get(ctx(t), team))
	if got.Member("builder") != nil || got.Member("scout") == nil || got.Metadata["project"] != nil || got.LeadProcess != nil {
		t.Errorf("after removal: %+v", got)
	}
}

func testUpdateFails(t *testing.T, open Opener) {
	s := open.team(t)
	mine := errors.New("mine")
	err := s.Roster.Update(ctx(t), team, func(x *store.Team) error {
		x.Description, x.Members = "changed", nil
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("error %v, want the function's own", err)
	}
	add := func(name string) error {
		return s.Roster.Update(ctx(t), team, func(x *store.Team) error {
			x.Members = append(x.Members, store.Member{Name: name})
			return nil
		})
	}
	wantCode(t, "a taken name", add("builder"), fault.DuplicateName)
	for _, name := range append(badNames(), "a b", "user", "Team-Lead", "a@b", "*") {
		wantCode(t, "a member "+name, add(name), fault.InvalidName)
	}
	got := must[store.Team](t)(s.Roster.Get(ctx(t), team))
	if len(got.Members) != 3 || got.Description != "a team" {
		t.Errorf("a failed update changed the team: %+v", got)
	}
}

func testParallelUpdates(t *testing.T, open Opener) {
	s := open.team(t)
	parallel(t, 12, func(i int) error {
		return s.Roster.Update(ctx(t), team, func(x *store.Team) error {
			x.Members = append(x.Members, store.Member{Name: "m" + string(rune('a'+i))})
			return nil
		})
	})
	if got := must[store.Team](t)(s.Roster.Get(ctx(t), team)); len(got.Members) != 15 {
		t.Errorf("%d members, want 15", len(got.Members))
	}
}

func testDelete(t *testing.T, open Opener) {
	s := open.team(t)
	_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "x", Text: "old"}))
	_ = must[store.Task](t)(s.Tasks.Create(ctx(t), team, store.Task{Subject: "old"}))
	ok(t, s.Roster.Delete(ctx(t), team))
	refused(t, "get", fault.TeamNotFound)(s.Roster.Get(ctx(t), team))
	wantCode(t, "delete again", s.Roster.Delete(ctx(t), team), fault.TeamNotFound)
	ok(t, s.Roster.Create(ctx(t), alpha()))
	if box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder")); len(box) != 0 {
		t.Errorf("mail of the deleted team is still there: %+v", box)
	}
	if tasks := list(t, s); len(tasks) != 0 {
		t.Errorf("tasks of the deleted team are still there: %+v", tasks)
	}
}

func testListTeams(t *testing.T, open Opener) {
	s := open.open(t)
	if names := must[[]string](t)(s.Roster.List(ctx(t))); len(names) != 0 {
		t.Errorf("teams before the first: %q", names)
	}
	for _, name := range []string{"zeta", "alpha", "mid-team"} {
		ok(t, s.Roster.Create(ctx(t), store.Team{Name: name}))
	}
	if names := must[[]string](t)(s.Roster.List(ctx(t))); !cmp.Equal(names, []string{"alpha", "mid-team", "zeta"}) {
		t.Errorf("teams: %q", names)
	}
}

func testWatchRoster(t *testing.T, open Opener) {
	s := open.team(t)
	for _, which := range []string{team, ""} {
		c := must[<-chan struct{}](t)(s.Roster.Watch(ctx(t), which))
		want := "changed for " + which
		watched(t, c, func() error {
			return s.Roster.Update(ctx(t), team, func(x *store.Team) error { x.Description = want; return nil })
		}, func() bool {
			return must[store.Team](t)(s.Roster.Get(ctx(t), team)).Description == want
		})
	}
}
