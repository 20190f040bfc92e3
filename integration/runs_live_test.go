package integration_test

import (
	"os"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// settings writes the user's settings.
func (r *rig) settings(text string) {
	r.t.Helper()
	conf := r.path("home", "leadlight")
	if err := os.MkdirAll(conf, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path("home", "leadlight", "config.yaml"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// TestXF10_WhoEndsTheTeammatesOfARun: a teammate of a run that is restarted goes on with
// its item; for one that is stopped the item has failed, and how to end the run is said;
// down ends the run, whatever it still had to do.
func TestXF10_WhoEndsTheTeammatesOfARun(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.settings("lifecycle: {ask: 100ms}\n")
	c, _ := r.daemon("--backend", "headless")
	log, limit := r.path("work", "log"), 1
	shell := api.RoleSpec{Run: "echo $LEADLIGHT_AGENT >> " + log + "; sleep 1000"}
	team := call[api.AgentTeam](t, c, "team:define", api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: "live", MaxParallelAgents: &limit},
		Members: []api.MemberDefinition{{Name: "a", Profile: "shell", Spec: shell}, {Name: "b", Profile: "shell", Spec: shell}}})
	run := call[api.AgentTeamRun](t, c, "teamRun:create", api.RunCreateParams{TeamID: team.ID, Cwd: r.path("work"), Items: []api.ItemSpec{
		{Title: "1", OwnerAgentRoleID: "live/a"}, {Title: "2", OwnerAgentRoleID: "live/b"}, {Title: "3", OwnerAgentRoleID: "live/a"}}})
	begun := func(who string) {
		waitFor(t, who+" have begun", func() bool {
			return strings.Join(notes(log), "") == who
		})
	}
	report := func() api.RunReport {
		return call[api.RunReport](t, c, "teamRun:report", api.IDParams{ID: run.ID})
	}
	begun("a")
	live := report().LiveTeam
	r.must("restart", "a", "-t", live)
	begun("aa")
	if now := report(); now.Items[0].Status != api.ItemInProgress || len(now.Tasks) != 1 {
		t.Errorf("after the restart: %+v %+v", now.Items[0], now.Tasks)
	}
	got := r.run("stop", "a", "-t", live)
	if want := "leadlight run cancel " + run.ID[:8]; got.exit != 0 || !strings.Contains(got.err, want) {
		t.Errorf("stop: %d\n%s, want %q", got.exit, got.err, want)
	}
	begun("aab")
	if now := report(); now.Items[0].Status != api.ItemFailed || now.Items[0].ResultSummary != "a was stopped before it was done" {
		t.Errorf("after the stop: %+v", now.Items[0])
	}
	r.must("down", live)
	waitFor(t, "the run is over", func() bool { return report().Run.Final() })
	end := report()
	if end.Run.Status != api.RunCancelled || !strings.Contains(end.Run.Error, "taken down") || end.Run.Summary != "0 of 3 items done, 1 failed, 1 cut off, 1 todo" {
		t.Errorf("%+v", end.Run)
	}
	if list := into[[]api.TeamSummary](r, "team", "ls"); len(list) != 0 {
		t.Errorf("the teams are %+v", list)
	}
	call[api.AgentTeamRun](t, c, "teamRun:wait", api.IDParams{ID: run.ID})
	r.must("daemon", "stop")
}

// TestXF10_TheLimitIsOfAgents: no more agents are there than maxParallelAgents, also when
// each item needs another one; what its member is told reaches the worker.
func TestXF10_TheLimitIsOfAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	c, _ := r.daemon("--backend", "headless")
	limit := 1
	shell := api.RoleSpec{Run: "leadlight ps --json > ps-$LEADLIGHT_AGENT; grep -o '\"roleGuidance\":\"[^\"]*\"' > guidance-$LEADLIGHT_AGENT; echo $LEADLIGHT_ROLE_GUIDANCE >> guidance-$LEADLIGHT_AGENT"}
	def := api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: "few", MaxParallelAgents: &limit}}
	var items []api.ItemSpec
	for _, name := range []string{"a", "b", "c"} {
		def.Members = append(def.Members, api.MemberDefinition{Name: name, Profile: "shell", Spec: shell, RoleGuidance: "look twice, " + name})
		items = append(items, api.ItemSpec{Title: name, OwnerAgentRoleID: "few/" + name})
	}
	l := r.listen(api.TeamRunFilter{})
	team := call[api.AgentTeam](t, c, "team:define", def)
	run := call[api.AgentTeamRun](t, c, "teamRun:create", api.RunCreateParams{TeamID: team.ID, Cwd: r.path("work"), Items: items})
	l.status(api.RunCompleted)
	for _, name := range []string{"a", "b", "c"} {
		ps, err := os.ReadFile(r.path("work", "ps-"+name))
		if n := strings.Count(string(ps), `"name":`); err != nil || n != 1 {
			t.Errorf("with %s there were %d: %s %v", name, n, ps, err)
		}
		told, err := os.ReadFile(r.path("work", "guidance-"+name))
		if want := "\"roleGuidance\":\"look twice, " + name + "\"\nlook twice, " + name + "\n"; err != nil || string(told) != want {
			t.Errorf("%s was told %q: %v", name, told, err)
		}
	}
	call[api.AgentTeamRun](t, c, "teamRun:wait", api.IDParams{ID: run.ID})
	r.must("daemon", "stop")
}
