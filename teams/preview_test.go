package teams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// noted are tasks of which it is known how they came.
type noted struct {
	store.Tasks
	came   []string
	faster func(*store.Task) error // what somebody else does just before a change
}

func (n *noted) Create(ctx context.Context, team string, t store.Task) (store.Task, error) {
	made, err := n.Tasks.Create(ctx, team, t)
	n.came = append(n.came, fmt.Sprint(made.ID, " ", t.Subject, t.BlockedBy))
	return made, err
}

// Update notes what the change leaves, and lets another one be faster once.
func (n *noted) Update(ctx context.Context, team, id string, change func(*store.Task) error) (store.Task, error) {
	if n.faster != nil {
		if _, err := n.Tasks.Update(ctx, team, id, n.faster); err != nil {
			return store.Task{}, err
		}
	}
	now, err := n.Tasks.Update(ctx, team, id, change)
	n.came = append(n.came, fmt.Sprint(id, " ", now.State(), now.BlockedBy))
	return now, err
}

// TestXD02_ARetryIsAsTheFileHasItNow: a failed task comes free in one change, with what it waits
// for now and nothing that the file had before, or else stays as somebody else has made it.
func TestXD02_ARetryIsAsTheFileHasItNow(t *testing.T) {
	command := func(line string) map[string]json.RawMessage {
		return map[string]json.RawMessage{RunKey: rawjson.Quote(line)}
	}
	p := Plan{Team: TeamSpec{Name: "alpha"}, Tasks: []TaskSpec{
		{Subject: "first"}, {Subject: "second", BlockedBy: []string{"3"}, Metadata: command("new")}, {Subject: "third"},
	}}
	free := func(t *store.Task) error { t.Failure = ""; return nil }
	for _, c := range []struct {
		faster        func(*store.Task) error
		came, trusted string
		meta          []string
	}{
		{nil, "[3 third[] 2 blocked[3]]", "new", []string{"createdAt", "createdBy", RunKey, "updatedAt", usageKey}},
		{free, "[3 third[] 2 blocked[1]]", "old", []string{"createdAt", "createdBy", RunKey, "ticket", "updatedAt", usageKey}},
	} {
		mem, ctx := memory.New(), t.Context()
		base, err := files.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer base.Close()
		tasks, was := &noted{Tasks: mem.Tasks(), faster: c.faster}, command("old")
		was["ticket"], was[usageKey] = json.RawMessage("7"), json.RawMessage("{}")
		s := assemble(&common{tasks: tasks, panes: panes.NewManager(panes.Options{Dir: base})})
		err = mem.Roster().Create(ctx, store.Team{Name: "alpha"})
		for _, task := range []store.Task{{Subject: "first"}, {Subject: "second", BlockedBy: []string{"1"}, Metadata: was, Failure: "exit 1"}} {
			task.Status, task.CreatedBy = store.Pending, store.Lead
			_, made := mem.Tasks().Create(ctx, "alpha", task)
			err = errors.Join(err, made)
		}
		if err := errors.Join(err, s.panes.Records().TrustRun(ctx, "alpha", "2", "old")); err != nil {
			t.Fatal(err)
		}
		_, err = s.addMissing(ctx, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "ann"}}}, p, func(string) {})
		now, got := mem.Tasks().Get(ctx, "alpha", "2")
		if err := errors.Join(err, got); err != nil || fmt.Sprint(tasks.came) != c.came {
			t.Errorf("%v came, want %s; %v", tasks.came, c.came, err)
		}
		if keys := slices.Sorted(maps.Keys(now.Metadata)); !slices.Equal(keys, c.meta) {
			t.Errorf("metadata %v, want %v", keys, c.meta)
		}
		if trusted := s.panes.Records().TrustedRuns(ctx, "alpha")["2"]; trusted != c.trusted {
			t.Errorf("the command %q is trusted, want %q", trusted, c.trusted)
		}
	}
}

// TestXD02_AddedWithWhatItWaitsFor: a task that the file has gained comes into a team that
// works with what it waits for, so that no worker takes it before.
func TestXD02_AddedWithWhatItWaitsFor(t *testing.T) {
	mem := memory.New()
	if err := mem.Roster().Create(t.Context(), store.Team{Name: "alpha"}); err != nil {
		t.Fatal(err)
	}
	tasks := &noted{Tasks: mem.Tasks()}
	s, t0 := assemble(&common{tasks: tasks}), store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "ann"}}}
	if _, err := mem.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "first", Status: store.Pending}); err != nil {
		t.Fatal(err)
	}
	p := Plan{Team: TeamSpec{Name: "alpha"}, Tasks: []TaskSpec{
		{Subject: "first"}, {Subject: "second", BlockedBy: []string{"4"}}, {Subject: "third", BlockedBy: []string{"1", "2"}}, {Subject: "fourth"},
	}}
	added, err := s.addMissing(t.Context(), t0, p, func(string) {})
	if want := "[2 fourth[] 3 second[2] 4 third[1 3]]"; err != nil || added != 3 || fmt.Sprint(tasks.came) != want {
		t.Errorf("%d added as %v, want %s; %v", added, tasks.came, want, err)
	}
	if added, err = s.addMissing(t.Context(), t0, p, func(string) {}); err != nil || added != 0 {
		t.Errorf("again: %d added, %v", added, err)
	}
}
