package integration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestC09_OnceThoughUnreadable: while the file of a task cannot be read, its item is
// not given to the teammate a second time.
func TestC09_OnceThoughUnreadable(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	c, _ := r.daemon("--backend", "headless")
	l := r.listen(api.TeamRunFilter{})
	log, goOn := r.path("work", "log"), r.path("work", "go")
	def := api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: "once"}, Members: []api.MemberDefinition{
		{Name: "slow", Profile: "shell", Spec: api.RoleSpec{Run: "echo $LEADLIGHT_TASK >> " + log + "; until [ -e " + goOn + " ]; do sleep 0.05; done"}},
		{Name: "quick", Profile: "shell", Spec: api.RoleSpec{Run: "true"}},
	}}
	team := call[api.AgentTeam](t, c, "team:define", def)
	run := call[api.AgentTeamRun](t, c, "teamRun:create", api.RunCreateParams{TeamID: team.ID, Cwd: r.path("work"), Items: []api.ItemSpec{{Title: "one", OwnerAgentRoleID: "once/slow"}}})
	waitFor(t, "it is under way", func() bool { _, err := os.Stat(log); return err == nil })
	live := call[api.RunReport](t, c, "teamRun:report", api.IDParams{ID: run.ID}).LiveTeam
	tasks := r.path("base", "tasks", live)
	whole, err := os.ReadFile(filepath.Join(tasks, "1.json"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(data []byte) {
		if err := os.WriteFile(filepath.Join(tasks, "1.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(whole[:len(whole)/2])
	second := call[api.AgentTeamItem](t, c, "teamItem:create", api.ItemParams{TeamRunID: run.ID, Title: "two", OwnerAgentRoleID: "once/quick"})
	l.await("the other item is done", func(e api.TeamRunEvent) bool {
		return e.Item != nil && e.Item.ID == second.ID && e.Item.Status == api.ItemDone
	})
	if files, err := filepath.Glob(filepath.Join(tasks, "*.json")); err != nil || len(files) != 2 {
		t.Errorf("the tasks %v: %v", files, err)
	}
	put(whole)
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.status(api.RunCompleted)
	if data, err := os.ReadFile(log); err != nil || string(data) != "1\n" {
		t.Errorf("it was begun as %q: %v", data, err)
	}
	call[api.AgentTeamRun](t, c, "teamRun:wait", api.IDParams{ID: run.ID})
	r.must("daemon", "stop")
}

// TestC09_LostOverIt: an item whose teammate gets lost over it is begun again, three
// times at most, and the run says so.
func TestC09_LostOverIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	c, _ := r.daemon("--backend", "headless")
	log := r.path("work", "log")
	def := api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: "lost"}, Members: []api.MemberDefinition{
		{Name: "w", Profile: "shell", Spec: api.RoleSpec{Run: "echo x >> " + log + "; sleep 1; kill -KILL $PPID; sleep 1000"}},
	}}
	team := call[api.AgentTeam](t, c, "team:define", def)
	run := call[api.AgentTeamRun](t, c, "teamRun:create", api.RunCreateParams{TeamID: team.ID, Cwd: r.path("work"), Items: []api.ItemSpec{{Title: "one", OwnerAgentRoleID: "lost/w"}}})
	var report api.RunReport
	waitFor(t, "the run is over", func() bool {
		report = call[api.RunReport](t, c, "teamRun:report", api.IDParams{ID: run.ID})
		return report.Run.Final()
	})
	if it := report.Items[0]; it.Status != api.ItemFailed || it.ResultSummary != "w was lost 3 times over it" || report.Tasks[0].Attempts != 3 || report.Members[0].Retries != 2 {
		t.Errorf("%+v\n%+v\n%+v", it, report.Tasks, report.Members)
	}
	if data, err := os.ReadFile(log); err != nil || string(data) != "x\nx\nx\n" {
		t.Errorf("it was begun as %q: %v", data, err)
	}
	call[api.AgentTeamRun](t, c, "teamRun:wait", api.IDParams{ID: run.ID})
	r.must("down", report.LiveTeam)
	r.must("daemon", "stop")
}

// TestC08_RequiredMembersFirst: a run does not start before its required members are
// up, and fails if one cannot be.
func TestC08_RequiredMembersFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	c, _ := r.daemon("--backend", "headless")
	member := func(name, run string) api.MemberDefinition {
		return api.MemberDefinition{Name: name, Profile: "shell", Spec: api.RoleSpec{Run: run}, IsRequired: true}
	}
	create := func(name string, members ...api.MemberDefinition) api.AgentTeamRun {
		team := call[api.AgentTeam](t, c, "team:define", api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: name}, Members: members})
		return call[api.AgentTeamRun](t, c, "teamRun:create", api.RunCreateParams{TeamID: team.ID, Cwd: r.path("work"), Items: []api.ItemSpec{{Title: "by hand", OwnerAgentRoleID: "lead"}}})
	}
	l := r.listen(api.TeamRunFilter{})
	good := create("good", member("a", "true"), member("b", "true"))
	l.status(api.RunRunning)
	report := call[api.RunReport](t, c, "teamRun:report", api.IDParams{ID: good.ID})
	if up := into[[]api.Member](r, "ps", "-t", report.LiveTeam); len(up) != 2 || !up[0].Live() || !up[1].Live() || len(report.Members) != 2 {
		t.Errorf("when it started there were %+v, %+v", up, report.Members)
	}
	call[api.AgentTeamRun](t, c, "teamRun:cancel", api.IDParams{ID: good.ID})
	gone := member("c", "true")
	gone.Spec.Cwd = r.path("nowhere")
	bad := create("bad", member("a", "true"), gone)
	l.await("it has failed", func(e api.TeamRunEvent) bool {
		return e.TeamRunID == bad.ID && e.Run != nil && e.Run.Status == api.RunFailed && strings.Contains(e.Run.Error, "a required member")
	})
	for _, run := range []api.AgentTeamRun{good, bad} { // what is down by itself is not taken down below
		call[api.AgentTeamRun](t, c, "teamRun:wait", api.IDParams{ID: run.ID})
	}
	refused(t, c, "team:define", api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: "x"}, Members: []api.MemberDefinition{{Name: "a", Profile: "none"}}}, fault.ProfileNotFound)
	refused(t, c, "teamRun:create", api.RunCreateParams{TeamID: good.TeamID, Cwd: "here"}, fault.InvalidArgument)
	for _, team := range into[[]api.TeamSummary](r, "team", "ls") {
		r.must("down", team.Name)
	}
	r.must("daemon", "stop")
}
