package daemon

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
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
		if _, err := fs.Mail(nil).Put(tb.Context(), t.Name, "team-lead", store.Message{From: "w0", Text: "done", Timestamp: now}); err != nil {
			tb.Fatal(err)
		}
	}
}

// watched is a watcher, and what it has read.
type watched struct {
	*watcher
	read *reading
}

// watching is a watcher of a base directory with n finished teams, and the file of its history.
func watching(tb *testing.T, n int) (w watched, history string) {
	tb.Helper()
	base := tb.TempDir()
	fs, err := claudefs.Open(base, claudefs.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { fs.Close() })
	manyTeams(tb, fs, n)
	noTerminal := fault.New(fault.BackendUnavailable, "no terminal here")
	read := &reading{}
	roster, mail, tasks := readRoster{fs.Roster(), read}, readMail{fs.Mail(nil), read}, readTasks{fs.Tasks(), read}
	manager := panes.NewManager(panes.Options{Dir: fs.Dir(), Base: base, Runtime: tb.TempDir(), Environ: os.Environ(),
		Choose: func(context.Context) (panes.Choice, error) { return panes.Choice{}, noTerminal },
		Open:   func(string, string) (backend.Backend, error) { return nil, noTerminal }})
	svc := teams.New(teams.Config{Base: base, Roster: roster, Mail: mail, Tasks: tasks, Cwd: base, Environ: os.Environ(), Panes: manager,
		Caller: teams.Caller{Name: store.Lead}})
	history = filepath.Join(tb.TempDir(), "x.db")
	u := revived(tb, history)
	stores := Stores{Stores: store.Stores{Roster: roster, Mail: mail, Tasks: tasks}, Dir: fs.Dir(), Panes: manager, Watcher: &files.Watcher{}}
	return watched{newWatcher(stores, svc, u, slog.New(slog.DiscardHandler)), read}, history
}

// reading counts how often the files of teams are read and watched.
type reading struct {
	rosters, boxes, lists, watches atomic.Int64

	writes chan struct{} // a roster is written only with one from here; nil: at once
}

func (r *reading) String() string {
	return fmt.Sprintf("%d rosters, %d boxes, %d lists of tasks, %d watches", r.rosters.Load(), r.boxes.Load(), r.lists.Load(), r.watches.Load())
}

type (
	readRoster struct {
		store.Roster
		*reading
	}
	readMail struct {
		store.Mail
		*reading
	}
	readTasks struct {
		store.Tasks
		*reading
	}
)

func (r readRoster) Get(ctx context.Context, team string) (store.Team, error) {
	r.rosters.Add(1)
	return r.Roster.Get(ctx, team)
}

func (r readRoster) Update(ctx context.Context, team string, f func(*store.Team) error) error {
	if r.writes != nil {
		select {
		case <-r.writes:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return r.Roster.Update(ctx, team, f)
}

func (r readRoster) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	r.watches.Add(1)
	return r.Roster.Watch(ctx, team)
}

func (r readMail) List(ctx context.Context, team, owner string) ([]store.Message, error) {
	r.boxes.Add(1)
	return r.Mail.List(ctx, team, owner)
}

func (r readMail) Watch(ctx context.Context, team, owner string) (<-chan struct{}, error) {
	r.watches.Add(1)
	return r.Mail.Watch(ctx, team, owner)
}

func (r readTasks) List(ctx context.Context, team string) ([]store.Task, []string, error) {
	r.lists.Add(1)
	return r.Tasks.List(ctx, team)
}

func (r readTasks) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	r.watches.Add(1)
	return r.Tasks.Watch(ctx, team)
}

// old gives all files an old time: only then is it trusted.
func old(t *testing.T, base string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(base, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, past, past))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestXF21_FinishedTeamsAreReadOnce: of a team in which nobody lives each file is read once
// and nothing but its folders is watched; what changes in it is seen all the same.
func TestXF21_FinishedTeamsAreReadOnce(t *testing.T) {
	const n = 10
	w, _ := watching(t, n)
	old(t, w.stores.Dir.Path())
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel(); w.wg.Wait() }()
	for range 3 {
		w.refresh(ctx, time.Now())
	}
	close(w.begun)
	if got, want := w.read.String(), fmt.Sprintf("%d rosters, %d boxes, %d lists of tasks, 0 watches", n, 4*n, n); got != want {
		t.Errorf("three looks at %d finished teams: %s, want %s", n, got, want)
	}
	if _, err := w.stores.Tasks.Create(ctx, "team-1", store.Task{Subject: "new"}); err != nil {
		t.Fatal(err)
	}
	seen(t, "the new task", func() bool { return len(w.hub.last("team-1").Tasks) == 4 }) // nobody asks
	if _, err := w.stores.Mail.Put(ctx, "team-2", "w1", store.Message{From: "w0", Text: "x", Timestamp: time.Now()}); err != nil {
		t.Fatal(err)
	}
	seen(t, "the new message", func() bool { return len(w.hub.last("team-2").Boxes["w1"]) == 1 })
	live := func(state string) {
		t.Helper()
		if err := w.stores.Roster.Update(ctx, "team-3", func(now *store.Team) error {
			spawned := time.Now().Add(time.Minute) // however long this takes, it may still be without a host
			now.Members[0].Leadlight.State, now.Members[0].Leadlight.SpawnedAt = state, &spawned
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, state := range []string{api.StateStarting, api.StateStopped, api.StateStarting} {
		live(state)
		seen(t, "it is "+state, func() bool { return w.hub.last("team-3").Members[0].State == state })
	}
	if w.read.watches.Load() == 0 {
		t.Error("a team in which somebody lives is not watched")
	}
}

func seen(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not seen within 3 min: " + what)
		}
	}
}

// TestXF21_TheFirstLookIsOneCommit: however many teams there are when a daemon comes up, it
// waits for the disk once before it answers, and reads each file once, however new; that is a
// look for whoever has asked meanwhile, too.
func TestXF21_TheFirstLookIsOneCommit(t *testing.T) {
	w, history := watching(t, 20)
	asked := time.Now()
	wal := history + "-wal"
	before := commits(t, wal)
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan struct{})
	ended := make(chan error, 1)
	first := ""
	go func() {
		ended <- w.run(ctx, func() {
			w.refresh(ctx, asked)
			first = w.read.String()
			close(ready)
		})
	}()
	<-ready
	n := commits(t, wal) - before
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if known := len(w.hub.names()); n != 1 || known != 20 {
		t.Errorf("%d commits for %d teams, want 1 for 20", n, known)
	}
	if got, want := first, "20 rosters, 80 boxes, 20 lists of tasks, 1 watches"; got != want {
		t.Errorf("the first look: %s, want %s", got, want)
	}
}

// TestXF21_OneLookForAllPages: who reads the past page by page has every team looked at once,
// for the last page, whose end is now.
func TestXF21_OneLookForAllPages(t *testing.T) {
	w, _ := watching(t, 0)
	looks := 0
	d := &daemon{hub: w.hub, ready: make(chan struct{}), refresh: func(ctx context.Context, _ time.Time) {
		looks++
		w.hub.Publish(ctx, []events.Event{{Type: events.TeamCreated, Team: "late"}})
	}}
	close(d.ready)
	w.hub.Publish(t.Context(), slices.Repeat([]events.Event{{Type: events.TeamCreated, Team: "early"}}, 3*page+page/2))
	var p api.EventsParams
	seqs := 0
	for {
		got, err := d.list(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		seqs += len(got.Events)
		p.After = uint64(seqs)
		if !got.More {
			break
		}
	}
	if looks != 1 || seqs != 3*page+page/2+1 {
		t.Errorf("%d looks, %d events", looks, seqs)
	}
}

// TestXF21_TheLostAreWrittenDownLater: an answer waits for no disk because somebody is lost.
func TestXF21_TheLostAreWrittenDownLater(t *testing.T) {
	w, _ := watching(t, 3)
	gone := exec.Command("cat")
	input, err := gone.StdinPipe()
	if err := errors.Join(err, gone.Start()); err != nil {
		t.Fatal(err)
	}
	host, err := signals.Identify(gone.Process.Pid)
	if err := errors.Join(err, input.Close(), gone.Wait()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		team, id, past := fmt.Sprintf("team-%d", i), fmt.Sprintf("00000000-0000-4000-8000-%012d", i), time.Now().Add(-time.Hour)
		err := w.stores.Panes.Records().WriteHost(t.Context(), team, "w0",
			panes.HostRecord{Host: id, Process: host, Socket: w.stores.Panes.SocketPath(team, "w0"), StartedAt: past})
		if err == nil {
			err = w.stores.Roster.Update(t.Context(), team, func(now *store.Team) error {
				b := now.Members[0].Leadlight
				b.Host, b.State, b.SpawnedAt, b.StoppedAt = id, api.StateActive, &past, nil
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.read.writes = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel(); w.wg.Wait() }()
	w.refresh(ctx, time.Now()) // returns though nothing can be written
	for i := range 3 {
		if m := w.hub.last(fmt.Sprintf("team-%d", i)).Members[0]; m.State != api.StateLost {
			t.Errorf("it is %s", m.State)
		}
	}
	close(w.read.writes)
	seen(t, "all are written down", func() bool {
		for i := range 3 {
			now, err := w.stores.Roster.Get(ctx, fmt.Sprintf("team-%d", i))
			if err != nil || now.Members[0].Leadlight.State != api.StateLost {
				return false
			}
		}
		return true
	})
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
