package runs

import (
	"slices"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXS05_ResumeKeepsTheStart: a run that had begun goes on where it was, also if only
// people worked in it.
func TestXS05_ResumeKeepsTheStart(t *testing.T) {
	s := newScratch(t)
	run, _ := s.begun(1)
	ok[api.AgentTeamRun](s)(s.Pause(s.ctx, run.ID))
	if got := ok[api.AgentTeamRun](s)(s.Resume(s.ctx, run.ID)); got.Status != api.RunRunning || got.StartedAt != run.StartedAt {
		t.Errorf("%+v, it began as %+v", got, run)
	}
	fresh := ok[api.AgentTeamRun](s)(s.CreateRun(s.ctx, api.RunCreateParams{TeamID: run.TeamID}))
	ok[api.AgentTeamRun](s)(s.Pause(s.ctx, fresh.ID))
	if got := ok[api.AgentTeamRun](s)(s.Resume(s.ctx, fresh.ID)); got.Status != api.RunPending {
		t.Errorf("it had not begun, and is %s", got.Status)
	}
}

// TestXS06_ARetryKeepsTheHistory: an item that is tried again keeps its first task.
func TestXS06_ARetryKeepsTheHistory(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(1)
	for _, try := range []string{"first", "second"} {
		if err := s.Joined(s.ctx, run.ID, "a", "shell"); err != nil {
			t.Fatal(err)
		}
		it := ok[api.AgentTeamItem](s)(s.Item(s.ctx, list[0].ID))
		f := ok[ActiveItem](s)(s.Launch(s.ctx, it, "a"))
		s.code(s.Complete(s.ctx, run.ID, f.TaskID, api.ItemFailed, try), "")
		ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: it.ID, Status: p(api.ItemTodo)}))
	}
	got := ok[api.RunReport](s)(s.Report(s.ctx, run.ID))
	if len(got.Tasks) != 2 || got.Tasks[0].ItemID != list[0].ID || got.Tasks[1].ItemID != list[0].ID || got.Members[0].Retries != 1 {
		t.Errorf("%+v %+v", got.Tasks, got.Members)
	}
}

// TestXF10_NobodyHoldsARunUp: what a teammate carries out is not begun by hand, and what
// a person has begun ends with the run.
func TestXF10_NobodyHoldsARunUp(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(2)
	_, err := s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, Status: p(api.ItemInProgress)})
	s.code(err, fault.Rejected)
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, OwnerAgentRoleID: p(LeadRole)}))
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, Status: p(api.ItemInProgress)}))
	end := ok[api.AgentTeamRun](s)(s.Cancel(s.ctx, run.ID, ""))
	it := ok[api.AgentTeamItem](s)(s.Item(s.ctx, list[0].ID))
	if it.Status != api.ItemFailed || it.ResultSummary == "" || end.Summary != "0 of 2 items done, 1 cut off, 1 todo" {
		t.Errorf("%+v %s", it, end.Summary)
	}
}

// TestXF10_DefineKeepsWhatItLeavesOpen: a team file that says nothing of what was set by
// the API does not take it away.
func TestXF10_DefineKeepsWhatItLeavesOpen(t *testing.T) {
	s := newScratch(t)
	def := api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: "review"}, Members: []api.MemberDefinition{{Name: "vet", Profile: "shell"}, {Name: "old", Profile: "shell"}}}
	team := ok[api.AgentTeam](s)(s.Define(s.ctx, def))
	ok[api.AgentTeam](s)(s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: team.ID, MaxParallelAgents: p(2), DefaultPersonality: p("calm"), DefaultModelPreference: p("cheaper")}))
	vet := ok[[]api.AgentTeamMember](s)(s.Members(s.ctx, team.ID))[0]
	ok[api.AgentTeamMember](s)(s.UpdateMember(s.ctx, api.AgentTeamMemberChange{ID: vet.ID, RoleGuidance: p("look twice"), IsRequired: p(true)}))
	ok[api.AgentTeamMember](s)(s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: team.ID, AgentRoleID: "codex"}))
	def.Members = def.Members[:1]
	team = ok[api.AgentTeam](s)(s.Define(s.ctx, def))
	if team.MaxParallelAgents != 2 || team.DefaultPersonality != "calm" || team.DefaultModelPreference != "cheaper" {
		t.Errorf("%+v", team)
	}
	var roles []string
	for _, m := range ok[[]api.AgentTeamMember](s)(s.Members(s.ctx, team.ID)) {
		roles = append(roles, m.AgentRoleID)
		if m.AgentRoleID == "review/vet" && (m.RoleGuidance != "look twice" || !m.IsRequired) {
			t.Errorf("%+v", m)
		}
	}
	if slices.Sort(roles); !slices.Equal(roles, []string{"codex", "review/vet"}) {
		t.Errorf("%v", roles)
	}
}

// TestXF10_TheSameFileAgainChangesNothing: a description that comes again as it was takes
// back nothing that was set since; what it says anew counts.
func TestXF10_TheSameFileAgainChangesNothing(t *testing.T) {
	s := newScratch(t)
	def := api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: "review", Description: "of the file", MaxParallelAgents: p(3)},
		Members: []api.MemberDefinition{{Name: "vet", Profile: "shell", Spec: api.RoleSpec{Run: "true", Env: []string{}}}, {Name: "lint", Profile: "shell"}, {Name: "gone", Profile: "shell"}}}
	team := ok[api.AgentTeam](s)(s.Define(s.ctx, def))
	ok[api.AgentTeam](s)(s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: team.ID, Description: p("by hand"), MaxParallelAgents: p(2)}))
	ok[api.AgentRole](s)(s.SaveRole(s.ctx, api.AgentRole{ID: "review/vet", Profile: "shell", Spec: api.RoleSpec{Run: "false"}}))
	own := ok[api.AgentRole](s)(s.SaveRole(s.ctx, api.AgentRole{ID: "review/own", Profile: "shell"}))
	ok[api.AgentTeamMember](s)(s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: team.ID, AgentRoleID: own.ID}))
	list := ok[[]api.AgentTeamMember](s)(s.Members(s.ctx, team.ID))
	s.code(s.RemoveMember(s.ctx, list[2].ID), "")
	ok[[]api.AgentTeamMember](s)(s.Reorder(s.ctx, api.ReorderParams{TeamID: team.ID, MemberIDs: []string{list[3].ID, list[1].ID, list[0].ID}}))
	before := ok[[]api.AgentTeamMember](s)(s.Members(s.ctx, team.ID))
	again := ok[api.AgentTeam](s)(s.Define(s.ctx, def))
	if again.Description != "by hand" || again.MaxParallelAgents != 2 {
		t.Errorf("%+v", again)
	}
	if got := ok[[]api.AgentTeamMember](s)(s.Members(s.ctx, team.ID)); !slices.Equal(got, before) {
		t.Errorf("the members are %+v, were %+v", got, before)
	}
	if got := ok[api.AgentRole](s)(s.Role(s.ctx, "review/vet")); got.Spec.Run != "false" {
		t.Errorf("the role is %+v", got)
	}
	def.Description, def.MaxParallelAgents, def.Members = "anew", nil, def.Members[:1]
	def.Members[0].Spec.Run = "exit 1"
	again = ok[api.AgentTeam](s)(s.Define(s.ctx, def))
	if again.Description != "anew" || again.MaxParallelAgents != defaultParallel {
		t.Errorf("%+v", again)
	}
	if got := ok[api.AgentRole](s)(s.Role(s.ctx, "review/vet")); got.Spec.Run != "exit 1" {
		t.Errorf("the role is %+v", got)
	}
	if got := ok[[]api.AgentTeamMember](s)(s.Members(s.ctx, team.ID)); len(got) != 2 || got[0].AgentRoleID != own.ID {
		t.Errorf("%+v", got)
	}
	_, err := s.Role(s.ctx, "review/lint")
	s.code(err, fault.ProfileNotFound)
	s.code(s.DeleteTeam(s.ctx, team.ID), "")
	for _, r := range ok[[]api.AgentRole](s)(s.Roles(s.ctx)) {
		if r.Profile != r.ID && r.ID != LeadRole {
			t.Errorf("the role %s is left", r.ID)
		}
	}
}

// TestXF10_NoItemInProgressHasNobody: whatever is changed of an item, or of who leads, one
// that is in progress has somebody who can end it.
func TestXF10_NoItemInProgressHasNobody(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(1)
	id := list[0].ID
	for _, c := range []struct {
		change api.ItemChange
		code   fault.Code
	}{
		{api.ItemChange{OwnerAgentRoleID: p("lead"), Status: p(api.ItemInProgress)}, ""},
		{api.ItemChange{OwnerAgentRoleID: p("shell")}, fault.Rejected},
		{api.ItemChange{OwnerAgentRoleID: p("shell"), Status: p(api.ItemTodo)}, ""},
		{api.ItemChange{OwnerAgentRoleID: p("lead")}, ""},
		{api.ItemChange{OwnerAgentRoleID: p("shell"), Status: p(api.ItemInProgress)}, fault.Rejected},
		{api.ItemChange{OwnerAgentRoleID: p("")}, ""},
		{api.ItemChange{Status: p(api.ItemInProgress)}, ""},
		{api.ItemChange{Title: p("by hand")}, ""},
	} {
		c.change.ID = id
		_, err := s.UpdateItem(s.ctx, c.change)
		s.code(err, c.code)
	}
	ok[api.AgentTeam](s)(s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: run.TeamID, LeadAgentRoleID: p("codex")}))
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: id, OwnerAgentRoleID: p("codex")}))
	_, err := s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: run.TeamID, LeadAgentRoleID: p("claude")})
	s.code(err, fault.Rejected)
}

// TestXF10_NothingIsInProgressAfterTheEnd: a run that ends leaves nothing in progress, not
// above what was not begun either, and a record of one neither.
func TestXF10_NothingIsInProgressAfterTheEnd(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(4)
	for i, parent := range []string{"", list[0].ID, list[1].ID, list[1].ID} {
		if parent != "" {
			ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: list[i].ID, ParentItemID: &parent}))
		}
	}
	ok[api.AgentTeamItem](s)(s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "x", ParentItemID: list[0].ID}))
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[2].ID, Status: p(api.ItemDone)}))
	if got := ok[api.AgentTeamItem](s)(s.Item(s.ctx, list[0].ID)); got.Status != api.ItemInProgress {
		t.Fatalf("%+v", got)
	}
	end := ok[api.AgentTeamRun](s)(s.Cancel(s.ctx, run.ID, ""))
	for _, it := range ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: run.ID})) {
		if it.Status == api.ItemInProgress {
			t.Errorf("%+v", it)
		}
	}
	if end.Summary != "1 of 3 items done, 2 todo" {
		t.Errorf("%+v", end)
	}
	rec := api.RunRecord{ID: "r", Team: "other", Status: api.RunCancelled, StartedAt: 1, Tasks: []api.RunRecordTask{{ID: "1", Title: "x", Status: api.ItemInProgress}}}
	s.code(s.Import(s.ctx, rec), "")
	if got := ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: "r"})); got[0].Status != api.ItemFailed || got[0].ResultSummary == "" {
		t.Errorf("%+v", got)
	}
}

// TestXS11_OwnersAreOfTheTeam: an item has an owner who carries it out, as long as it is
// open.
func TestXS11_OwnersAreOfTheTeam(t *testing.T) {
	s := newScratch(t)
	run, list := s.begun(1)
	ok[api.AgentRole](s)(s.SaveRole(s.ctx, api.AgentRole{ID: "other", Profile: "shell"}))
	_, err := s.CreateItem(s.ctx, api.ItemParams{TeamRunID: run.ID, Title: "x", OwnerAgentRoleID: "other"})
	s.code(err, fault.Rejected)
	empty := ok[api.AgentTeam](s)(s.CreateTeam(s.ctx, api.AgentTeamParams{Name: "without members"}))
	alone := ok[api.AgentTeamRun](s)(s.CreateRun(s.ctx, api.RunCreateParams{TeamID: empty.ID}))
	for owner, code := range map[string]fault.Code{"other": fault.Rejected, "nobody": fault.ProfileNotFound, "shell": "", LeadRole: "", "": ""} { // a profile is started, a person does the rest
		_, err := s.CreateItem(s.ctx, api.ItemParams{TeamRunID: alone.ID, Title: "x", OwnerAgentRoleID: owner})
		s.code(err, code)
	}
	s.code(s.DeleteRole(s.ctx, "shell"), fault.Rejected)
	m := ok[api.AgentTeamMember](s)(s.AddMember(s.ctx, api.AgentTeamMemberParams{TeamID: run.TeamID, AgentRoleID: "other"}))
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, OwnerAgentRoleID: p("other")}))
	s.code(s.RemoveMember(s.ctx, m.ID), fault.Rejected)
	ok[api.AgentTeamItem](s)(s.UpdateItem(s.ctx, api.ItemChange{ID: list[0].ID, OwnerAgentRoleID: p("")}))
	s.code(s.RemoveMember(s.ctx, m.ID), "")
	s.code(s.DeleteRole(s.ctx, "other"), "")
	s.code(s.DeleteRole(s.ctx, "shell"), fault.Rejected)
}

// TestXS08_OneRuleForTheLimit: 0 is refused by each way in, and what is left out is 4, or
// stays.
func TestXS08_OneRuleForTheLimit(t *testing.T) {
	s := newScratch(t)
	team := ok[api.AgentTeam](s)(s.CreateTeam(s.ctx, api.AgentTeamParams{Name: "a"}))
	for _, n := range []int{0, -1, maxParallel + 1} {
		_, err := s.CreateTeam(s.ctx, api.AgentTeamParams{Name: "b", MaxParallelAgents: p(n)})
		s.code(err, fault.InvalidArgument)
		_, err = s.Define(s.ctx, api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: "b", MaxParallelAgents: p(n)}})
		s.code(err, fault.InvalidArgument)
		_, err = s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: team.ID, MaxParallelAgents: p(n)})
		s.code(err, fault.InvalidArgument)
	}
	if team.MaxParallelAgents != 4 {
		t.Errorf("%+v", team)
	}
}

// What the database cannot tell is not refused for a reason of ours.
func TestAFaultOfTheDatabaseIsNoRefusal(t *testing.T) {
	for table, do := range map[string]func(s *scratch, team string) error{
		"workspaces": func(s *scratch, team string) error {
			_, err := s.UpdateTeam(s.ctx, api.AgentTeamChange{ID: team, Name: p("other")})
			return err
		},
		"agent_team_runs": func(s *scratch, team string) error { return s.DeleteTeam(s.ctx, team) },
	} {
		t.Run(table, func(t *testing.T) {
			s := newScratch(t)
			run, _ := s.begun(1)
			if _, err := s.db.ExecContext(s.ctx, `ALTER TABLE `+table+` RENAME TO away`); err != nil {
				t.Fatal(err)
			}
			s.code(do(s, run.TeamID), fault.Failed)
		})
	}
}
