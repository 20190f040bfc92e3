package daemon

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// manyTeams makes teams whose teammates have ended, each with tasks and mail.
func manyTeams(tb *testing.T, fs *claudefs.FS, n int) {
	tb.Helper()
	now := time.Now()
	for i := range n {
		t := store.Team{Name: fmt.Sprintf("team-%d", i), CreatedAt: now}
		for k := range 3 {
			name := fmt.Sprintf("w%d", k)
			t.Members = append(t.Members, store.Member{Name: name, AgentID: name + "@" + t.Name, JoinedAt: now,
				Leadlight: &store.Bookkeeping{Host: "h-" + t.Name + name, Kind: "worker", State: api.StateStopped, SpawnedAt: &now, StoppedAt: &now}})
		}
		if err := fs.Roster().Create(tb.Context(), t); err != nil {
			tb.Fatal(err)
		}
		for k := range 3 {
			if _, err := fs.Tasks().Create(tb.Context(), t.Name, store.Task{Subject: fmt.Sprint("task ", k)}); err != nil {
				tb.Fatal(err)
			}
		}
		if _, err := fs.Mail().Put(tb.Context(), t.Name, "team-lead", store.Message{From: "w0", Text: "done", Timestamp: now}); err != nil {
			tb.Fatal(err)
		}
	}
}

// watching is a watcher of a base directory with n finished teams, and the file of its history.
func watching(tb *testing.T, n int) (w *watcher, history string) {
	tb.Helper()
	base := tb.TempDir()
	fs, err := claudefs.Open(base, claudefs.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { fs.Close() })
	manyTeams(tb, fs, n)
	noTerminal := fault.New(fault.BackendUnavailable, "no terminal here")
	manager := panes.NewManager(panes.Options{Dir: fs.Dir(), Base: base, Runtime: tb.TempDir(), Environ: os.Environ(),
		Choose: func(context.Context) (panes.Choice, error) { return panes.Choice{}, noTerminal },
		Open:   func(string, string) (backend.Backend, error) { return nil, noTerminal }})
	svc := teams.New(teams.Config{Base: base, Roster: fs.Roster(), Mail: fs.Mail(), Tasks: fs.Tasks(), Cwd: base, Environ: os.Environ(), Panes: manager,
		Caller: teams.Caller{Name: store.Lead}})
	history = filepath.Join(tb.TempDir(), "x.db")
	u := revived(tb, history)
	return &watcher{stores: Stores{Dir: fs.Dir(), Roster: fs.Roster(), Mail: fs.Mail(), Tasks: fs.Tasks(), Panes: manager, Watcher: &files.Watcher{}},
		service: svc, hub: u, log: slog.New(slog.DiscardHandler), teams: map[string]*teamWatch{}}, history
}

// TestXF21_FinishedTeamsAreReadOnce: a look at everything reads a team in which nobody
// lives again only when its files have changed.
func TestXF21_FinishedTeamsAreReadOnce(t *testing.T) {
	w, _ := watching(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel(); w.wg.Wait() }()
	past := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(w.stores.Dir.Path(), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, past, past)) // the times of files are trusted when they are old
	})
	if err != nil {
		t.Fatal(err)
	}
	w.refresh(ctx)
	w.refresh(ctx)
	for name, team := range w.teams {
		if !team.quiet() {
			t.Errorf("%s is looked at again, and nothing has changed", name)
		}
	}
	if _, err := w.stores.Tasks.Create(ctx, "team-1", store.Task{Subject: "new"}); err != nil {
		t.Fatal(err)
	}
	w.refresh(ctx)
	if got := w.hub.last("team-1"); len(got.Tasks) != 4 {
		t.Errorf("the new task is not seen: %d tasks", len(got.Tasks))
	}
	if _, err := w.stores.Mail.Put(ctx, "team-2", "w1", store.Message{From: "w0", Text: "x", Timestamp: time.Now()}); err != nil {
		t.Fatal(err)
	}
	w.refresh(ctx)
	if got := w.hub.last("team-2"); len(got.Boxes["w1"]) != 1 {
		t.Errorf("the new message is not seen: %v", got.Boxes)
	}
}

// TestXF21_TheFirstLookIsOneCommit: however many teams there are when a daemon comes up, it
// waits for the disk once before it answers.
func TestXF21_TheFirstLookIsOneCommit(t *testing.T) {
	w, history := watching(t, 20)
	wal := history + "-wal"
	before := commits(t, wal)
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan struct{})
	ended := make(chan error, 1)
	go func() { ended <- w.run(ctx, func() { close(ready) }) }()
	<-ready
	n := commits(t, wal) - before
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if known := len(w.hub.names()); n != 1 || known != 20 {
		t.Errorf("%d commits for %d teams, want 1 for 20", n, known)
	}
}

// commits counts the commits in a write-ahead log of SQLite: frames that say how large the
// database is after them.
func commits(t *testing.T, wal string) (n int) {
	t.Helper()
	data, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	const header, frame = 32, 24
	page := int(binary.BigEndian.Uint32(data[8:]))
	for at := header; at+frame <= len(data); at += frame + page {
		if binary.BigEndian.Uint32(data[at+4:]) > 0 {
			n++
		}
	}
	return n
}
