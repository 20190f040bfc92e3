package integration_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// daemon starts a daemon, if there is none, and connects to it, which keeps it: without a
// client and a live teammate it ends, on a busy machine between two runs of leadlight.
func (r *rig) daemon(args ...string) (c *rpc.Client, st api.DaemonStatus) {
	r.t.Helper()
	r.eventually("a daemon answers", func() bool {
		st = into[api.DaemonStatus](r, append([]string{"daemon", "start"}, args...)...)
		var err error
		c, err = rpc.Dial(r.t.Context(), st.Socket)
		return err == nil
	})
	if c == nil {
		r.t.FailNow()
	}
	r.t.Cleanup(func() { c.Close() })
	return c, st
}

// call calls a method that must succeed.
func call[R any](t testing.TB, c *rpc.Client, method string, params any) R {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	v, err := rpc.Do[R](ctx, c, method, params)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return v
}

// refused calls a method that must fail so.
func refused(t testing.TB, c *rpc.Client, method string, params any, code fault.Code) {
	t.Helper()
	if err := c.Call(t.Context(), method, params, nil); fault.CodeOf(err) != code {
		t.Errorf("%s %+v: %v, want %s", method, params, err, code)
	}
}

// listener keeps what teamRun:event tells.
type listener struct {
	t      testing.TB
	events chan api.TeamRunEvent
	seen   []api.TeamRunEvent
}

func (r *rig) listen(filter api.TeamRunFilter) *listener {
	c, _ := r.daemon("--backend", "headless")
	l := &listener{t: r.t, events: make(chan api.TeamRunEvent, 1000)}
	begun := make(chan struct{})
	go func() {
		defer close(l.events)
		_ = c.TeamRunEvents(r.t.Context(), filter, func() { close(begun) }, func(e api.TeamRunEvent) error { l.events <- e; return nil }) // the test ends it
	}()
	select {
	case <-begun:
	case <-time.After(time.Minute):
		r.t.Fatal("no subscription")
	}
	return l
}

// await waits for an event.
func (l *listener) await(what string, is func(api.TeamRunEvent) bool) api.TeamRunEvent {
	l.t.Helper()
	limit := time.After(60 * time.Second)
	for {
		select {
		case e, ok := <-l.events:
			if !ok {
				l.t.Fatalf("the stream ended; waited for %s", what)
			}
			l.seen = append(l.seen, e)
			if is(e) {
				return e
			}
		case <-limit:
			l.t.Fatalf("no event: %s; %d were told", what, len(l.seen))
		}
	}
}

func (l *listener) kind(kind string) api.TeamRunEvent {
	l.t.Helper()
	return l.await(kind, func(e api.TeamRunEvent) bool { return e.Type == kind })
}

func (l *listener) status(status string) api.AgentTeamRun {
	l.t.Helper()
	return *l.await("the run is "+status, func(e api.TeamRunEvent) bool { return e.Run != nil && e.Run.Status == status }).Run
}

// TestC02_C03_C04_C05_C06_C07_Contract: every method by its name, and every event,
// through the real socket, in the shapes of the contract.
func TestC02_C03_C04_C05_C06_C07_Contract(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	c, _ := r.daemon("--backend", "headless")
	l := r.listen(api.TeamRunFilter{})
	type object = map[string]any
	get := func(v object, name string) string { s, _ := v[name].(string); return s }

	team := call[object](t, c, "team:create", object{"name": "review", "description": "d", "maxParallelAgents": 2, "defaultModelPreference": "same", "defaultPersonality": "calm"})
	l.kind("team_created")
	shape(t, team, `createdAt defaultModelPreference defaultPersonality description id isActive leadAgentRoleId maxParallelAgents name updatedAt workspaceId`)
	refused(t, c, "team:create", object{"name": "review"}, fault.TeamExists)
	refused(t, c, "team:create", object{"nam": "x"}, fault.InvalidArgument)
	team = call[object](t, c, "team:update", object{"id": team["id"], "description": "e"})
	if l.kind("team_updated"); get(call[object](t, c, "team:get", object{"id": team["id"]}), "description") != "e" || len(call[[]object](t, c, "team:list", nil)) != 1 {
		t.Error("the change is not there")
	}

	var members []object
	for _, role := range []string{"shell", "exec"} {
		members = append(members, call[object](t, c, "teamMember:add", object{"teamId": team["id"], "agentRoleId": role, "isRequired": false, "roleGuidance": "g"}))
		l.kind("team_member_added")
	}
	shape(t, members[0], `agentRoleId createdAt id isRequired memberOrder roleGuidance teamId`)
	refused(t, c, "teamMember:add", object{"teamId": team["id"], "agentRoleId": "shell"}, fault.DuplicateName)
	refused(t, c, "teamMember:add", object{"teamId": team["id"], "agentRoleId": "none"}, fault.ProfileNotFound)
	call[object](t, c, "teamMember:update", object{"id": members[0]["id"], "roleGuidance": "h"})
	l.kind("team_member_updated")
	order := call[[]object](t, c, "teamMember:reorder", object{"teamId": team["id"], "memberIds": []any{members[1]["id"], members[0]["id"]}})
	if l.kind("team_members_reordered"); order[0]["id"] != members[1]["id"] || len(call[[]object](t, c, "teamMember:list", object{"teamId": team["id"]})) != 2 {
		t.Errorf("%v", order)
	}
	call[object](t, c, "teamMember:remove", object{"id": members[1]["id"]})
	l.kind("team_member_removed")

	run := call[object](t, c, "teamRun:create", object{"teamId": team["id"]})
	l.kind("team_run_created")
	shape(t, run, `id rootTaskId startedAt status teamId`)
	call[object](t, c, "teamRun:pause", object{"id": run["id"]})
	l.kind("team_run_updated")
	refused(t, c, "teamRun:pause", object{"id": run["id"]}, fault.Rejected)
	item := call[object](t, c, "teamItem:create", object{"teamRunId": run["id"], "title": "one", "description": "d"})
	l.kind("team_item_created")
	shape(t, item, `createdAt description id sortOrder status teamRunId title updatedAt`)
	child := call[object](t, c, "teamItem:create", object{"teamRunId": run["id"], "title": "two", "parentItemId": item["id"], "ownerAgentRoleId": "shell"})
	refused(t, c, "teamItem:delete", object{"id": item["id"]}, fault.Rejected)
	refused(t, c, "teamItem:update", object{"id": child["id"], "status": "finished"}, fault.InvalidArgument)
	call[object](t, c, "teamItem:move", object{"id": child["id"], "sortOrder": 7})
	l.kind("team_item_moved")
	done := call[object](t, c, "teamItem:update", object{"id": child["id"], "status": "done", "resultSummary": "by hand"})
	l.kind("team_item_updated")
	shape(t, done, `createdAt id ownerAgentRoleId parentItemId resultSummary sortOrder status teamRunId title updatedAt`)
	if list := call[[]object](t, c, "teamItem:list", object{"teamRunId": run["id"]}); len(list) != 2 || get(list[1], "status") != "done" {
		t.Errorf("%v", list)
	}
	call[object](t, c, "teamItem:delete", object{"id": child["id"]})
	l.kind("team_item_deleted")
	late := r.listen(api.TeamRunFilter{TeamRunID: get(run, "id")})
	if e := late.kind("team_run_loaded"); e.Run.Status != "paused" || len(e.Items) != 1 {
		t.Errorf("%+v", e)
	}
	call[object](t, c, "teamItem:create", object{"teamRunId": run["id"], "title": "three"})
	l.kind("team_item_created")
	call[object](t, c, "teamRun:resume", object{"id": run["id"]})
	l.status("running") // it has an item that waits for a person
	if end := call[object](t, c, "teamRun:cancel", object{"id": run["id"]}); get(end, "status") != "cancelled" || len(call[[]object](t, c, "teamRun:list", nil)) != 1 {
		t.Errorf("%v", end)
	}
	refused(t, c, "teamItem:create", object{"teamRunId": run["id"], "title": "late"}, fault.Rejected)
	refused(t, c, "team:delete", object{"id": team["id"]}, fault.Rejected)
	other := call[object](t, c, "team:create", object{"name": "other"})
	call[object](t, c, "team:delete", object{"id": other["id"]})
	l.kind("team_deleted")
	if out := r.must("events", "--type", "team:run"); !strings.Contains(out, `"team:run:item:moved","team":"review"`) {
		t.Errorf("the history: %s", out)
	}
	if left := into[[]api.TeamSummary](r, "team", "ls"); len(left) > 0 { // nobody has worked in it
		t.Errorf("left of a run without teammates: %+v", left)
	}
	r.must("daemon", "stop")
}

// shape checks which fields an object has.
func shape(t testing.TB, v map[string]any, want string) {
	t.Helper()
	var names []string
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != want {
		t.Errorf("fields %s\n  want %s", got, want)
	}
}

// waitFor waits for a condition of a long run.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit, tick := time.After(2*time.Minute), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not in time: %s", what)
		}
	}
}

// job is what the workers of the big run do: it notes its begin and its end, and
// fails where the title says so.
const job = `echo "+ $LEADLIGHT_TASK" >> "$LOG"
title=$(sed 's/.*"subject":"\([^"]*\)".*/\1/')
sleep 0.2
echo "= $title" >> "$LOG"
echo "- $LEADLIGHT_TASK" >> "$LOG"
case $title in bad*) echo "no luck with $title" >&2; exit 1;; esac
echo "did $title"`

// TestC08_C09_C12_FortyItems: forty items over four workers, some of which fail,
// with a pause, and the daemon killed in the middle: every item is carried out
// once, never more at a time than the limit, and says the same on both sides.
func TestC08_C09_C12_FortyItems(t *testing.T) {
	t.Parallel()
	const items, limit = 40, 3
	r := newRig(t, "")
	log := r.path("work", "log")
	c, st := r.daemon("--backend", "headless")
	most := limit
	def := api.TeamDefinition{AgentTeamParams: api.AgentTeamParams{Name: "forty", MaxParallelAgents: &most}}
	p := api.RunCreateParams{Cwd: r.path("work")}
	for i := range 4 {
		name := "w" + strconv.Itoa(i+1)
		def.Members = append(def.Members, api.MemberDefinition{Name: name, Profile: "shell", Spec: api.RoleSpec{Run: job, Env: []string{"LOG=" + log}}, IsRequired: i == 0})
	}
	bad := 0
	for i := range items {
		title := "item" + strconv.Itoa(i)
		if i%10 == 3 {
			title = "bad" + strconv.Itoa(i)
			bad++
		}
		p.Items = append(p.Items, api.ItemSpec{Title: title, OwnerAgentRoleID: "forty/w" + strconv.Itoa(i%4+1)})
	}
	p.TeamID = call[api.AgentTeam](t, c, "team:define", def).ID
	run := call[api.AgentTeamRun](t, c, "teamRun:create", p)
	landed := func(c *rpc.Client) int {
		n := 0
		for _, it := range call[[]api.AgentTeamItem](t, c, "teamItem:list", api.ItemsParams{TeamRunID: run.ID}) {
			if it.Status == api.ItemDone || it.Status == api.ItemFailed {
				n++
			}
		}
		return n
	}
	waitFor(t, "some items are done", func() bool { return landed(c) >= 8 })
	call[api.AgentTeamRun](t, c, "teamRun:pause", api.IDParams{ID: run.ID})
	waitFor(t, "nothing is under way", func() bool {
		return !slices.ContainsFunc(call[api.RunReport](t, c, "teamRun:report", api.IDParams{ID: run.ID}).Tasks, func(k api.RunTask) bool { return k.CompletedAt == 0 })
	})
	before := landed(c)
	call[api.AgentTeamRun](t, c, "teamRun:resume", api.IDParams{ID: run.ID})
	waitFor(t, "it goes on", func() bool { return landed(c) >= before+6 })
	if err := syscall.Kill(st.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the daemon is gone", func() bool { return !tmuxtest.Alive(st.PID) })
	c, _ = r.daemon("--backend", "headless")
	var report api.RunReport
	waitFor(t, "the run is over", func() bool {
		report = call[api.RunReport](t, c, "teamRun:report", api.IDParams{ID: run.ID})
		return report.Run.Final()
	})
	if want := strconv.Itoa(items-bad) + " of 40 items done, 4 failed"; report.Run.Status != api.RunFailed || report.Run.Summary != want {
		t.Errorf("%+v, want %s", report.Run, want)
	}
	checkOnce(t, log, items, limit)
	checkBothSides(t, report, items)
	waitFor(t, "the teammates are gone", func() bool {
		m := call[api.RunReport](t, c, "teamRun:report", api.IDParams{ID: run.ID}).Members
		return !slices.ContainsFunc(m, func(m api.RunMember) bool { return m.EndedAt == 0 })
	})
	r.must("down", report.LiveTeam)
	r.must("daemon", "stop")
}

// checkOnce reads what the workers have noted.
func checkOnce(t *testing.T, log string, items, limit int) {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	done, now, most := map[string]int{}, 0, 0
	for line := range strings.Lines(string(data)) {
		switch kind, what, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
		case "+":
			now++
		case "-":
			now--
		case "=":
			done[what]++
		}
		most = max(most, now)
	}
	if most > limit || most < 2 {
		t.Errorf("%d items were under way at a time, the limit is %d", most, limit)
	}
	for title, n := range done {
		if n != 1 {
			t.Errorf("%s was carried out %d times", title, n)
		}
	}
	if len(done) != items {
		t.Errorf("%d items were carried out", len(done))
	}
}

func checkBothSides(t *testing.T, report api.RunReport, items int) {
	t.Helper()
	tasks := map[string]api.RunTask{}
	for _, k := range report.Tasks {
		tasks[k.ID] = k
	}
	if len(tasks) != items || len(report.Items) != items {
		t.Errorf("%d tasks of %d items", len(tasks), len(report.Items))
	}
	for _, it := range report.Items {
		k := tasks[it.SourceTaskID]
		good := it.Status == api.ItemDone && it.ResultSummary == "did "+it.Title+"\n"
		if strings.HasPrefix(it.Title, "bad") {
			good = it.Status == api.ItemFailed && strings.HasPrefix(it.ResultSummary, "no luck with "+it.Title)
		}
		if !good || k.ResultSummary != it.ResultSummary || k.Status != it.Status || k.Attempts != 1 {
			t.Errorf("item %+v\ntask %+v", it, k)
		}
	}
}

// TestC11_PreferencesReachTheWork: the agent of a cheap and calm team is started
// with the cheap model, and it and its tasks know the personality.
func TestC11_PreferencesReachTheWork(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	conf := filepath.Join(r.path("home"), "leadlight", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(conf), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(conf, []byte(`
profiles: {stub: {kind: worker, command: [sh, -c, 'cat; echo "model $1, $LEADLIGHT_PERSONALITY"', stub], models: [small], modelArgs: ["{model}"]}}
models: {stub: {cheaper: small}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := r.daemon("--backend", "headless")
	l := r.listen(api.TeamRunFilter{})
	team := call[api.AgentTeam](t, c, "team:create", api.AgentTeamParams{Name: "cheap", DefaultModelPreference: "cheaper", DefaultPersonality: "calm and brief"})
	run := call[api.AgentTeamRun](t, c, "teamRun:create", api.RunCreateParams{TeamID: team.ID, Cwd: r.path("work"), Items: []api.ItemSpec{{Title: "one", OwnerAgentRoleID: "stub"}}})
	if e := l.kind("team_item_spawned"); e.Item.SourceTaskID == "" || e.Item.Status != api.ItemInProgress {
		t.Errorf("%+v", e.Item)
	}
	l.status(api.RunCompleted)
	it := call[[]api.AgentTeamItem](t, c, "teamItem:list", api.ItemsParams{TeamRunID: run.ID})[0]
	task, says, _ := strings.Cut(it.ResultSummary, "\n")
	var got struct {
		Metadata map[string]string `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(task), &got); err != nil || got.Metadata["personality"] != "calm and brief" || got.Metadata["model"] != "small" || got.Metadata["teamRun"] != run.ID {
		t.Errorf("the task was %s: %v", task, err)
	}
	if strings.TrimSpace(says) != "model small, calm and brief" {
		t.Errorf("the agent says %q", says)
	}
	waitFor(t, "the team is removed", func() bool { return len(into[[]api.TeamSummary](r, "team", "ls")) == 0 })
	r.must("daemon", "stop")
}
