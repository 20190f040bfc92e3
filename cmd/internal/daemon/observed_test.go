package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/db"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/history"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// revived is a hub on the history that an earlier one has left.
func revived(t *testing.T, path string) *hub {
	t.Helper()
	store, err := db.Open(t.Context(), path, history.Component())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	u, err := newHub(t.Context(), history.New(store), slog.New(slog.DiscardHandler), func() {})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// observedRun is a record after n events of a run, of which the first gone are missing.
func observedRun(run, team string, gone, n int) observedNow {
	now := observedNow{record: panes.ObservedRecord{Run: run, Task: "1", Seq: uint64(n), State: json.RawMessage(fmt.Sprintf(`{"name":%q,"n":%d}`, team, n))}}
	for i := gone + 1; i <= n; i++ {
		now.events = append(now.events, events.Event{Seq: uint64(i), Type: events.MessageSent, Team: team, Member: "ann",
			Data: &events.Message{Head: events.Head{Type: events.KindMessage}, From: "ann", To: "bob", Content: fmt.Sprintf("%s %d", run, i)}})
	}
	return now
}

// contents lists what is in the history, in its order.
func contents(t *testing.T, u *hub) string {
	t.Helper()
	lines, err := u.history.Read(t.Context(), history.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, l := range lines {
		var e events.Event
		if err := json.Unmarshal(l.JSON, &e); err != nil {
			t.Fatal(err)
		}
		if e.Seq != uint64(i+1) || e.At.IsZero() {
			t.Errorf("event %d: %+v", i, e)
		}
		all = append(all, e.Data.(*events.Message).Content)
	}
	return strings.Join(all, ", ")
}

// TestO13_ObservedGoesOnAfterARestart: what was told once is not told again, by the
// same daemon or by the next one, and nothing in between is lost.
func TestO13_ObservedGoesOnAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var u *hub
	for _, step := range []struct {
		name    string
		restart bool
		now     observedNow
		want    string
	}{
		{"the first events", true, observedRun("a", "other", 0, 2), "a 1, a 2"},
		{"the same again", false, observedRun("a", "other", 0, 2), "a 1, a 2"},
		{"one more", false, observedRun("a", "other", 0, 3), "a 1, a 2, a 3"},
		{"a replay of less", false, observedRun("a", "other", 0, 1), "a 1, a 2, a 3"},
		{"the same after a restart", true, observedRun("a", "other", 0, 3), "a 1, a 2, a 3"},
		{"what happened while no daemon ran", true, observedRun("a", "other", 0, 5), "a 1, a 2, a 3, a 4, a 5"},
		{"the oldest are not kept any more", false, observedRun("a", "other", 6, 7), "a 1, a 2, a 3, a 4, a 5, a 7"},
		{"another run", true, observedRun("b", "other", 0, 1), "a 1, a 2, a 3, a 4, a 5, a 7, b 1"},
	} {
		if step.restart {
			u = revived(t, path)
		}
		u.ingestObserved(t.Context(), "alpha", "bob", step.now)
		if got := contents(t, u); got != step.want {
			t.Fatalf("%s: %s, want %s", step.name, got, step.want)
		}
		if got := u.observations("alpha"); len(got) != 1 || got[0].Member != "bob" {
			t.Fatalf("%s: %+v", step.name, got)
		}
	}
	u = revived(t, path)
	if got := u.observations(""); len(got) != 1 || got[0].Run != "b" || string(got[0].State) != `{"name":"other","n":1}` {
		t.Errorf("after a restart: %+v", got)
	}
	u.forget(t.Context(), "alpha", []string{"bob"})
	if len(u.observations("")) != 1 {
		t.Error("one that is there was forgotten")
	}
	u.forget(t.Context(), "alpha", nil)
	if got := revived(t, path).observations(""); len(got) != 0 {
		t.Errorf("what is gone was kept: %+v", got)
	}
}

// TestObservedOfATeamDeletedUnwatched: what was seen in the streams of a team that was
// deleted while no daemon ran is forgotten by the next one.
func TestObservedOfATeamDeletedUnwatched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	u := revived(t, path)
	for _, team := range []string{"deleted", "alpha"} {
		u.ingestObserved(t.Context(), team, "bob", observedRun("a", "other", 0, 1))
	}
	stores := memory.New()
	if err := stores.Roster().Create(t.Context(), store.Team{Name: "alpha"}); err != nil {
		t.Fatal(err)
	}
	u = revived(t, path)
	w := &watcher{stores: Stores{Stores: store.Stores{Roster: stores.Roster()}}, hub: u, log: slog.New(slog.DiscardHandler), teams: map[string]*teamWatch{"alpha": {}}}
	w.list(t.Context())
	if got := u.observations(""); len(got) != 1 || got[0].Team != "alpha" {
		t.Errorf("kept: %+v", got)
	}
}

// TestObservedTeamWithFiles: a team that has files here is told from those alone,
// up to its end, which only the stream still tells of.
func TestObservedTeamWithFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	u := revived(t, path)
	now := observedRun("a", "here", 0, 2)
	now.files = []string{"here"}
	u.ingestObserved(t.Context(), "alpha", "bob", now)
	u = revived(t, path)
	u.ingestObserved(t.Context(), "alpha", "bob", observedRun("a", "here", 0, 3)) // its files are gone now
	if got := contents(t, u); got != "" {
		t.Errorf("told twice: %s", got)
	}
	u.states["seen"] = changes.Team{Name: "seen"}
	u.ingestObserved(t.Context(), "alpha", "eve", observedRun("b", "seen", 0, 2))
	if got := contents(t, u); got != "" {
		t.Errorf("told twice: %s", got)
	}
}

// TestSubscribedToStreams: what is observed is part of the snapshot.
func TestSubscribedToStreams(t *testing.T) {
	u := revived(t, filepath.Join(t.TempDir(), "x.db"))
	u.ingestObserved(context.Background(), "alpha", "bob", observedRun("a", "other", 0, 2))
	for team, want := range map[string]int{"": 1, "alpha": 1, "beta": 0} {
		got, sub := u.subscribe(team)
		sub.Close()
		if len(got.Observed) != want || got.Seq != 2 {
			t.Errorf("snapshot of %q: %+v", team, got)
		}
	}
}
