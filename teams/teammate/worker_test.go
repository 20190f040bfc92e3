package teammate

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// lostAnswers are tasks of an engine whose answers to claims are lost.
type lostAnswers struct{ store.Tasks }

func (l lostAnswers) ClaimNext(ctx context.Context, team, who string) (store.Task, error) {
	if task, err := l.Tasks.ClaimNext(ctx, team, who); err != nil {
		return task, err
	}
	return store.Task{}, fault.New(fault.EngineUnavailable, "the engine was cut off")
}

// longAgo are tasks of which the first was taken long ago.
type longAgo struct{ store.Tasks }

func (l longAgo) List(ctx context.Context, team string) ([]store.Task, []string, error) {
	list, warnings, err := l.Tasks.List(ctx, team)
	if len(list) > 0 {
		list[0].UpdatedAt = list[0].UpdatedAt.Add(-time.Hour)
	}
	return list, warnings, err
}

// badWrites are tasks of an engine that takes nothing but claims.
type badWrites struct {
	store.Tasks
	code fault.Code
}

func (b badWrites) Update(context.Context, string, string, func(*store.Task) error) (store.Task, error) {
	return store.Task{}, fault.New(b.code, "nothing can be written")
}

// newWorker is bob of the team alpha, who runs line. serve lets him work on such tasks.
func newWorker(t *testing.T, line string) (m *teammate, mem *memory.Store, serve func(store.Tasks)) {
	mem = memory.New()
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	manager := panes.NewManager(panes.Options{Dir: dir, Runtime: t.TempDir()})
	if err := mem.Roster().Create(t.Context(), store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "bob"}}}); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{ID: uuid.NewString(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	m = &teammate{host: h, env: os.Environ(), o: Options{Team: "alpha", Agent: "bob", Panes: manager, Log: slog.New(slog.DiscardHandler)}, launch: panes.LaunchRecord{Dir: "/", Argv: []string{"sh", "-c", line}}}
	serve = func(tasks store.Tasks) {
		m.o.Service = teams.New(teams.Config{Roster: mem.Roster(), Mail: mem.Mail(), Tasks: tasks, Panes: manager, Caller: teams.Caller{Name: "bob", Teammate: true}})
	}
	return m, mem, serve
}

// A claim that was done although its answer was lost is carried out: nobody else would
// take the task. One that others gave him in progress is not.
func TestWorkerFindsWhatItHasClaimed(t *testing.T) {
	m, mem, serve := newWorker(t, "true")
	ctx := t.Context()
	for _, task := range []store.Task{
		{Subject: "put in progress"}, {Subject: "x"}, {Subject: "x", Owner: "eve"}, {Subject: "x"},
	} {
		if _, err := mem.Tasks().Create(ctx, "alpha", task); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := mem.Tasks().Claim(ctx, "alpha", "1", "bob"); err != nil {
		t.Fatal(err)
	}
	serve(lostAnswers{mem.Tasks()})
	if task, err := m.claim(ctx); fault.CodeOf(err) != fault.EngineUnavailable {
		t.Fatalf("%+v, %v", task, err)
	}
	serve(longAgo{mem.Tasks()})
	for _, want := range []string{"2", "4"} {
		if task, err := m.claim(ctx); err != nil || task.ID != want {
			t.Errorf("claimed %q, %v; want %s", task.ID, err, want)
		}
	}
	if _, err := m.claim(ctx); fault.CodeOf(err) != fault.NoTaskReady {
		t.Errorf("after all: %v", err)
	}
}

// What was carried out is not carried out again because it could not be written down: what it
// has brought is, when that can be done.
func TestWorkerKeepsWhatItHasBrought(t *testing.T) {
	for _, c := range []struct {
		code   fault.Code
		status string // in the end
		result string
	}{{fault.EngineUnavailable, store.Completed, "once\n"}, {fault.LimitReached, store.InProgress, ""}} {
		ran := filepath.Join(t.TempDir(), "ran")
		m, mem, serve := newWorker(t, "echo once | tee -a "+ran)
		m.writeFor = time.Nanosecond
		ctx := t.Context()
		if _, err := mem.Tasks().Create(ctx, "alpha", store.Task{Subject: "x"}); err != nil {
			t.Fatal(err)
		}
		serve(badWrites{mem.Tasks(), c.code})
		task, err := m.claim(ctx)
		if err != nil {
			t.Fatal(err)
		}
		m.run(ctx, task)
		m.unsure = time.Now().Add(-time.Hour) // the worst case: a claim failed that may have been this one
		serve(mem.Tasks())
		if task, err = m.claim(ctx); fault.CodeOf(err) != fault.NoTaskReady {
			t.Errorf("%s: task %s would be carried out again, %v", c.code, task.ID, err)
			m.run(ctx, task)
		}
		kept, err := mem.Tasks().Get(ctx, "alpha", "1")
		if err != nil || kept.Status != c.status || kept.Result != c.result {
			t.Errorf("%s: %+v, %v", c.code, kept, err)
		}
		if said, err := os.ReadFile(ran); string(said) != "once\n" {
			t.Errorf("%s: it ran: %q, %v", c.code, said, err)
		}
	}
}

// A task that was given to another while its command ran has not failed, however the command ended.
func TestWorkerWhoseTaskIsGivenAway(t *testing.T) {
	for _, line := range []string{"true", "false"} {
		m, mem, serve := newWorker(t, line)
		ctx := t.Context()
		for _, owner := range []string{"eve", ""} {
			if _, err := mem.Tasks().Create(ctx, "alpha", store.Task{Subject: "x"}); err != nil {
				t.Fatal(err)
			}
			serve(mem.Tasks())
			task, err := m.claim(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if owner == "" {
				err = mem.Tasks().Delete(ctx, "alpha", task.ID)
			} else {
				_, err = mem.Tasks().Update(ctx, "alpha", task.ID, func(t *store.Task) error { t.Owner = owner; return nil })
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := m.run(ctx, task); got != (teams.Idle{}) || len(m.brought) > 0 {
				t.Errorf("%s, then for %q: the lead is told %+v, kept is %v", line, owner, got, m.brought)
			}
		}
	}
}

func TestLastLines(t *testing.T) {
	if got := lastLines("a\r\nb \r\n\r\n"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
	if got := lastLines(strings.Repeat("\n", 3)); got != nil {
		t.Errorf("got %q", got)
	}
}
