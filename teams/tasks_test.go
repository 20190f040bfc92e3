package teams_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func TestTasks(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("a"), running("b"))
	lead := d.as("")
	one, err := lead.AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "one", Owner: "a"})
	if err != nil || one.ID != "1" || !one.Ready || one.Status != "pending" {
		t.Fatalf("%+v, %v", one, err)
	}
	two, err := lead.AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "two", BlockedBy: []string{"1"}})
	if err != nil || two.Status != "blocked" || two.Ready {
		t.Fatalf("%+v, %v", two, err)
	}
	t.Run("TC11_meant for somebody", func(t *testing.T) {
		_, err := d.as("b").ClaimNext(t.Context(), "alpha", 0)
		wantCode(t, err, fault.NoTaskReady)
		_, err = d.as("b").ClaimTask(t.Context(), "alpha", "1")
		wantCode(t, err, fault.TaskClaimed)
		box, err := lead.Inbox(t.Context(), "alpha", "a", teams.InboxFilter{})
		if err != nil || len(box) != 1 || box[0].Type != "task_assignment" {
			t.Errorf("its owner was not told: %+v, %v", box, err)
		}
	})
	t.Run("DP03_blocked", func(t *testing.T) {
		for _, status := range []string{"in_progress", "completed"} {
			_, err := lead.UpdateTask(t.Context(), "alpha", "2", teams.TaskChange{Status: &status})
			wantCode(t, err, fault.TaskBlocked)
		}
		_, err := d.as("b").ClaimTask(t.Context(), "alpha", "2")
		wantCode(t, err, fault.TaskBlocked)
	})
	t.Run("M08_completion unblocks", func(t *testing.T) {
		if _, err := d.as("a").ClaimNext(t.Context(), "alpha", 0); err != nil {
			t.Fatal(err)
		}
		_, err := d.as("b").CompleteTask(t.Context(), "alpha", "1", "")
		wantCode(t, err, fault.TaskClaimed)
		done, err := d.as("a").CompleteTask(t.Context(), "alpha", "1", "it works")
		if err != nil || done.Status != "completed" || done.Result != "it works" {
			t.Fatalf("%+v, %v", done, err)
		}
		got, err := d.as("b").ClaimNext(t.Context(), "alpha", 0)
		if err != nil || got.ID != "2" || got.Owner != "b" || got.Status != "in_progress" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("D2_failed is not claimable until released", func(t *testing.T) {
		failed, err := d.as("b").FailTask(t.Context(), "alpha", "2", "no luck")
		if err != nil || failed.Status != "failed" || failed.Owner != "b" || failed.Failure != "no luck" {
			t.Fatalf("%+v, %v", failed, err)
		}
		_, err = d.as("a").ClaimNext(t.Context(), "alpha", 0)
		wantCode(t, err, fault.NoTaskReady)
		back, err := lead.ReleaseTask(t.Context(), "alpha", "2")
		if err != nil || back.Status != "pending" || back.Failure != "" || !back.Ready {
			t.Errorf("%+v, %v", back, err)
		}
	})
	t.Run("metadata", func(t *testing.T) {
		got, err := lead.UpdateTask(t.Context(), "alpha", "2", teams.TaskChange{Metadata: map[string]json.RawMessage{"k": json.RawMessage(`{"n":1}`)}})
		if err != nil || string(got.Metadata["k"]) == "" {
			t.Fatalf("%+v, %v", got, err)
		}
		got, err = lead.UpdateTask(t.Context(), "alpha", "2", teams.TaskChange{Metadata: map[string]json.RawMessage{"k": json.RawMessage(`null`)}})
		if _, still := got.Metadata["k"]; err != nil || still {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("status and blockers", func(t *testing.T) {
		update := func(as string, c teams.TaskChange) api.Task {
			got, err := d.as(as).UpdateTask(t.Context(), "alpha", "2", c)
			if err != nil {
				t.Fatalf("%+v, %v", c, err)
			}
			return got
		}
		if got := update("b", teams.TaskChange{Status: new("claimed")}); got.Status != "in_progress" || got.Owner != "b" {
			t.Errorf("claimed: %+v", got)
		}
		if _, err := d.as("b").FailTask(t.Context(), "alpha", "2", "no luck"); err != nil {
			t.Fatal(err)
		}
		if got := update("", teams.TaskChange{Status: new("todo")}); got.Status != "pending" || got.Failure != "" {
			t.Errorf("todo: %+v", got)
		}
		three, err := lead.AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "three"})
		if err != nil {
			t.Fatal(err)
		}
		if got := update("", teams.TaskChange{AddBlockedBy: []string{three.ID}}); got.Status != "blocked" {
			t.Errorf("blocked: %+v", got)
		}
		if got := update("", teams.TaskChange{RemoveBlockedBy: []string{three.ID}}); got.Status != "pending" || slices.Contains(got.BlockedBy, three.ID) {
			t.Errorf("free again: %+v", got)
		}
	})
	t.Run("deleted", func(t *testing.T) {
		gone := "deleted"
		if _, err := lead.UpdateTask(t.Context(), "alpha", "2", teams.TaskChange{Status: &gone}); err != nil {
			t.Fatal(err)
		}
		_, err := lead.Task(t.Context(), "alpha", "2")
		wantCode(t, err, fault.TaskNotFound)
	})
	bad := "sideways"
	_, err = lead.UpdateTask(t.Context(), "alpha", "1", teams.TaskChange{Status: &bad})
	wantCode(t, err, fault.InvalidArgument)
}

// What a dead owner had in progress is free again, with a note who had it.
// https://github.com/win4r/ClawTeam-OpenClaw/pull/39
func TestTC09_SH19_TheDeadHoldNoTask(t *testing.T) {
	d := newDesk(t)
	dead := running("builder")
	long := time.Now().Add(-time.Hour)
	dead.Leadlight.SpawnedAt, dead.Leadlight.State = &long, api.StateActive // no host record, long ago: lost
	said := dead                                                            // its host has written its end down and told the lead, and is not at the roster yet
	bookkeeping := *running("said").Leadlight
	bookkeeping.SpawnedAt, bookkeeping.State = &long, api.StateActive
	said.Name, said.AgentID, said.Leadlight = "said", "said@alpha", &bookkeeping
	d.team("alpha", dead, said, running("slow"))
	end := panes.ExitRecord{State: api.StateLost, Reason: "its terminal has ended", At: time.Now()}
	rec := panes.HostRecord{Host: said.Leadlight.Host, Process: signals.Identity{PID: 4242, Start: 1, Boot: "b"}, Ended: &end,
		Socket: panes.NewManager(panes.Options{Base: d.base, Runtime: d.base}).SocketPath("alpha", "said")}
	if err := errors.Join(panes.NewRecords(d.fs.Dir()).WriteHost(t.Context(), "alpha", "said", rec), d.as("said").TellEnd(t.Context(), "alpha", end)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := d.as("").AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	for i, who := range []string{"builder", "slow"} {
		if _, err := d.as(who).ClaimTask(t.Context(), "alpha", []string{"1", "2"}[i]); err != nil {
			t.Fatal(err)
		}
	}
	lost, err := d.as("").Reconcile(t.Context(), "alpha")
	if err != nil || !slices.Equal(lost, []string{"builder", "said"}) {
		t.Fatalf("lost %v, %v", lost, err)
	}
	one, _ := d.as("").Task(t.Context(), "alpha", "1")
	if one.Status != "pending" || one.Owner != "" || !strings.Contains(string(one.Metadata["note"]), "builder had it") {
		t.Errorf("task of the dead: %+v", one)
	}
	if two, _ := d.as("").Task(t.Context(), "alpha", "2"); two.Owner != "slow" {
		t.Errorf("who is only slow lost its task: %+v", two)
	}
	if again, err := d.as("").Reconcile(t.Context(), "alpha"); err != nil || len(again) != 0 {
		t.Errorf("told twice: %v, %v", again, err)
	}
	box, _ := d.fs.Mail(nil).List(t.Context(), "alpha", store.Lead)
	for _, name := range lost {
		of := slices.DeleteFunc(slices.Clone(box), func(m store.Message) bool { return m.From != name })
		if len(of) != 1 || !strings.Contains(of[0].Text, "lost") || len(of[0].Odd) > 0 {
			t.Errorf("the lead was told %d times: %+v", len(of), of)
		}
	}
}

// counting counts what is done to the rosters.
type counting struct {
	store.Roster
	lists, updates int
}

func (c *counting) List(ctx context.Context) ([]string, error) {
	c.lists++
	return c.Roster.List(ctx)
}

func (c *counting) Update(ctx context.Context, team string, change func(*store.Team) error) error {
	c.updates++
	return c.Roster.Update(ctx, team, change)
}

// asked counts how often single tasks were asked for, and does something after the first.
type asked struct {
	store.Tasks
	gets  int
	after func()
}

func (a *asked) Get(ctx context.Context, team, id string) (store.Task, error) {
	task, err := a.Tasks.Get(ctx, team, id)
	if a.gets++; a.gets == 1 && a.after != nil {
		a.after()
	}
	return task, err
}

// However many wait for a task, the list is looked at once, and each owner is told.
func TestManyWaitForOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.team("alpha", running("ann"), running("bob"))
	first := d.add(teams.TaskSpec{Subject: "first"})
	for i := range 12 {
		d.add(teams.TaskSpec{Subject: "next", Owner: []string{"ann", "bob"}[i%2], BlockedBy: []string{first}})
	}
	tasks := &asked{Tasks: d.fs.Tasks()}
	d.tasks = tasks
	if _, err := d.as("").CompleteTask(t.Context(), "alpha", first, ""); err != nil {
		t.Fatal(err)
	}
	if tasks.gets > 3 {
		t.Errorf("%d tasks were asked for one by one", tasks.gets)
	}
	for _, name := range []string{"ann", "bob"} {
		if box, err := d.as("").Inbox(t.Context(), "alpha", name, teams.InboxFilter{}); err != nil || len(box) != 6 {
			t.Errorf("%s was told of %d tasks, %v", name, len(box), err)
		}
	}
}

// Nobody is told of a task that was completed since the team was looked at.
func TestAnOldLookTellsNobody(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.team("alpha", running("ann"))
	old := teams.Snapshot{Members: []api.Member{{Name: "ann", State: api.StateIdle, Kind: profiles.Interactive}}}
	for _, id := range []string{d.add(teams.TaskSpec{Subject: "done"}), d.add(teams.TaskSpec{Subject: "open"})} {
		task, err := d.as("").Task(t.Context(), "alpha", id)
		if err != nil {
			t.Fatal(err)
		}
		old.Tasks = []api.Task{task}
		if id == "1" {
			if _, err := d.as("").CompleteTask(t.Context(), "alpha", id, ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.as("").Offer(t.Context(), "alpha", old); err != nil {
			t.Fatal(err)
		}
	}
	d.add(teams.TaskSpec{Subject: "next", Owner: "ann", BlockedBy: []string{"2"}})
	ann := d.as("ann")
	d.tasks = &asked{Tasks: d.fs.Tasks(), after: func() {
		if _, err := ann.CompleteTask(t.Context(), "alpha", "3", ""); err != nil {
			t.Error(err)
		}
	}}
	if _, err := d.as("").CompleteTask(t.Context(), "alpha", "2", ""); err != nil {
		t.Fatal(err)
	}
	if box, err := d.as("").Inbox(t.Context(), "alpha", "ann", teams.InboxFilter{}); err != nil || len(box) != 1 || !strings.Contains(box[0].Text, "open") {
		t.Errorf("ann was told: %+v, %v", box, err)
	}
}

// However many are lost at once, the rosters are asked once and written once.
func TestXF21_TheLostAreWrittenDownTogether(t *testing.T) {
	d := newDesk(t)
	long := time.Now().Add(-time.Hour)
	var dead []store.Member
	for i := range 60 {
		m := running(fmt.Sprintf("m%02d", i))
		m.Leadlight.SpawnedAt, m.Leadlight.State = &long, api.StateActive // no host record, long ago: lost
		dead = append(dead, m)
	}
	d.team("alpha", dead...)
	roster := &counting{Roster: d.fs.Roster()}
	d.roster = roster
	lost, err := d.as("").Reconcile(t.Context(), "alpha")
	if err != nil || len(lost) != len(dead) {
		t.Fatalf("%d lost, %v", len(lost), err)
	}
	if roster.updates != 1 || roster.lists > 1 {
		t.Errorf("the roster was written %d times, all rosters were asked %d times", roster.updates, roster.lists)
	}
	if box, _ := d.as("").Inbox(t.Context(), "alpha", "", teams.InboxFilter{}); len(box) != len(dead) {
		t.Errorf("the lead was told of %d", len(box))
	}
}

// Work that was given to one is not done by another, whatever becomes of the one.
func TestTC11_AssignedWorkStaysAssigned(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("deploy"), running("check"))
	lead := d.as("")
	if _, err := lead.AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "check it", Owner: "check"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.as("check").ClaimTask(t.Context(), "alpha", "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.as("check").FailTask(t.Context(), "alpha", "1", "no"); err != nil {
		t.Fatal(err)
	}
	got, err := lead.ReleaseTask(t.Context(), "alpha", "1")
	if err != nil || got.Owner != "" || !got.Ready {
		t.Fatalf("%+v, %v", got, err)
	}
	_, err = d.as("deploy").ClaimNext(t.Context(), "alpha", 0)
	wantCode(t, err, fault.NoTaskReady)
	_, err = d.as("deploy").ClaimTask(t.Context(), "alpha", "1")
	wantCode(t, err, fault.TaskClaimed)
	if got, err := d.as("check").ClaimNext(t.Context(), "alpha", 0); err != nil || got.ID != "1" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := lead.ReleaseTask(t.Context(), "alpha", "1"); err != nil {
		t.Fatal(err)
	}
	other := "deploy"
	if _, err := lead.UpdateTask(t.Context(), "alpha", "1", teams.TaskChange{Owner: &other}); err != nil {
		t.Fatal(err)
	}
	if got, err := d.as("deploy").ClaimNext(t.Context(), "alpha", 0); err != nil || got.Owner != "deploy" {
		t.Errorf("given to another: %+v, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.as("deploy").ClaimNext(ctx, "alpha", time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
}

// An agent at a prompt that makes its own next task ready is told of it; a program that
// looks by itself is not.
func TestXD01_WhoMakesItsOwnTaskReady(t *testing.T) {
	for kind, want := range map[string]int{"interactive": 1, "plain": 0, "worker": 0} {
		d := newDesk(t)
		ann := running("ann")
		ann.Leadlight.Kind = kind
		d.team("alpha", ann)
		for _, spec := range []teams.TaskSpec{{Subject: "first", Owner: "ann"}, {Subject: "next", Owner: "ann", BlockedBy: []string{"1"}}} {
			if _, err := d.as("").AddTask(t.Context(), "alpha", spec); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.as("ann").CompleteTask(t.Context(), "alpha", "1", "done"); err != nil {
			t.Fatal(err)
		}
		box, err := d.as("ann").Inbox(t.Context(), "alpha", "", teams.InboxFilter{Unread: true})
		told := 0
		for _, m := range box {
			if strings.Contains(m.Text, `"taskId":"2"`) {
				told++
			}
		}
		if err != nil || told != want {
			t.Errorf("%s: told %d times: %+v %v", kind, told, box, err)
		}
	}
}

// TestXD02_ACutOffUpIsMadeWhole: up was killed when its tasks were there, but not yet what
// they wait for, nor that their commands come from the file. The next one makes up for it.
func TestXD02_ACutOffUpIsMadeWhole(t *testing.T) {
	d := newDesk(t)
	made := teams.TeamSpec{Name: "alpha", File: "/here/leadlight.yaml"}
	if _, err := d.as("").CreateTeam(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	run := map[string]json.RawMessage{teams.RunKey: json.RawMessage(`"go vet"`)}
	d.add(teams.TaskSpec{Subject: "first", Metadata: run})
	d.add(teams.TaskSpec{Subject: "second"})
	d.add(teams.TaskSpec{Subject: "other", Metadata: map[string]json.RawMessage{teams.RunKey: json.RawMessage(`"rm -r /"`)}})
	plan := teams.Plan{Team: made, Tasks: []teams.TaskSpec{{Subject: "first", Metadata: run}, {Subject: "second", BlockedBy: []string{"1"}}, {Subject: "other", Metadata: run}}}
	snap, err := d.as("").Start(t.Context(), plan, func(string) {})
	if err != nil || len(snap.Tasks) != 3 || !slices.Equal(snap.Tasks[1].BlockedBy, []string{"1"}) {
		t.Errorf("%+v, %v", snap.Tasks, err)
	}
	if trusted := panes.NewRecords(d.fs.Dir()).TrustedRuns(t.Context(), "alpha"); !maps.Equal(trusted, map[string]string{"1": "go vet"}) {
		t.Errorf("trusted are %v", trusted)
	}
}

// contested is a list in which somebody else is always a moment faster: each change is made
// again.
type contested struct{ store.Tasks }

func (c contested) Update(ctx context.Context, team, id string, change func(*store.Task) error) (store.Task, error) {
	return c.Tasks.Update(ctx, team, id, func(t *store.Task) error {
		lost := t.Clone()
		if err := change(&lost); err != nil {
			return err
		}
		return change(t)
	})
}

func TestUsageCountsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.team("alpha", running("a"))
	if _, err := d.as("").AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "one"}); err != nil {
		t.Fatal(err)
	}
	d.tasks = contested{d.fs.Tasks()}
	for range 2 {
		if err := d.as("").AddUsage(t.Context(), "alpha", "1", api.Usage{InputTokens: 10}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // more than any number can hold
		if err := d.as("").AddUsage(t.Context(), "alpha", "1", api.Usage{CostUSD: math.MaxFloat64}); err != nil {
			t.Fatal(err)
		}
	}
	list, _, err := d.as("").TaskList(t.Context(), "alpha", teams.TaskFilter{})
	if err != nil || len(list) != 1 || list[0].Usage == nil || *list[0].Usage != (api.Usage{InputTokens: 20, CostUSD: math.MaxFloat64}) {
		t.Errorf("%+v, %v", list, err)
	}
}
