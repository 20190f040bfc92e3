package watch

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// away is a list of tasks on an engine that goes away.
type away struct {
	store.Tasks
	gone atomic.Bool
}

func (a *away) List(ctx context.Context, team string) ([]store.Task, []string, error) {
	if a.gone.Load() {
		return nil, nil, fault.New(fault.EngineUnavailable, "it is away")
	}
	return a.Tasks.List(ctx, team)
}

// TestWhatTheEngineCouldNotTell: a hint came, and the engine was away at the look. When it is
// back the tasks are looked at again, though there is no other hint.
func TestWhatTheEngineCouldNotTell(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	manager := panes.NewManager(panes.Options{Dir: dir, Runtime: t.TempDir()})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		mem := memory.New()
		tasks := &away{Tasks: mem.Tasks()}
		team := store.Team{Name: "alpha", Ours: store.Ours{Schema: store.Schema}, Members: []store.Member{{Name: store.Lead}}}
		if err := mem.Roster().Create(ctx, team); err != nil {
			t.Fatal(err)
		}
		service := teams.New(teams.Config{Roster: mem.Roster(), Mail: mem.Mail(), Tasks: tasks, Panes: manager})
		var last atomic.Value
		last.Store(changes.Team{})
		w := New("alpha", Source{Service: service, Roster: mem.Roster(), Mail: mem.Mail(), Tasks: tasks, Log: slog.New(slog.DiscardHandler)},
			Options{Last: func() changes.Team { return last.Load().(changes.Team) }, Seen: func(_ context.Context, v View) { last.Store(v.Team) }})
		if err := w.Look(ctx); err != nil {
			t.Fatal(err)
		}
		w.Begin(ctx)
		ended := make(chan struct{})
		go func() { defer close(ended); w.Run(ctx) }()
		seen := func(when string, want int) {
			t.Helper()
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := len(last.Load().(changes.Team).Tasks); got != want {
				t.Errorf("%s: %d tasks, want %d", when, got, want)
			}
		}
		tasks.gone.Store(true)
		if _, err := mem.Tasks().Create(ctx, "alpha", store.Task{Subject: "one"}); err != nil {
			t.Fatal(err)
		}
		seen("while it is away", 0)
		tasks.gone.Store(false)
		seen("when it is back", 1)
		tasks.gone.Store(true)
		if _, err := mem.Tasks().Create(ctx, "alpha", store.Task{Subject: "two"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // it has looked, and would look again
		cancel()
		<-ended
		time.Sleep(time.Minute)
		synctest.Wait()
		if w.mu.Lock(); w.dirty.files() {
			t.Error("something of the watch runs after Run")
		}
		w.mu.Unlock()
		tasks.gone.Store(false)
		ctx, cancel = context.WithCancel(t.Context())
		ended = make(chan struct{})
		go func() { defer close(ended); w.Run(ctx) }()
		seen("in a later Run", 2)
		cancel()
		<-ended
	})
}
