package history

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/db"
	"github.com/leadlight-dev/leadlight/teams/events"
)

func opened(t *testing.T, path string) *Store {
	t.Helper()
	d, err := db.Open(t.Context(), path, Component())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return New(d)
}

func event(seq uint64, team string, name events.Type, at time.Time) events.Event {
	return events.Event{Seq: seq, At: at, Type: name, Team: team, Data: &events.Team{Head: events.Head{Type: events.KindTeamCreated}, TeamName: team}}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestHistory: what was added is there after a reopening, picked as asked for, with the
// state that it led to; half of it is never there.
func TestHistory(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), "x.db"), time.Now()
	s := opened(t, path)
	ok(t, s.Add(t.Context(), []events.Event{
		event(1, "a", events.TeamCreated, now.Add(-time.Hour)), event(2, "b", events.TeamCreated, now), event(3, "a", events.TeamDeleted, now),
	}, map[string]json.RawMessage{"team/a": json.RawMessage(`{"n":1}`)}))
	err := s.Add(t.Context(), []events.Event{event(4, "a", events.TeamCreated, now), event(3, "a", events.TeamDeleted, now)}, map[string]json.RawMessage{"team/a": json.RawMessage(`{"n":2}`)})
	if err == nil {
		t.Error("a number was given twice")
	}
	s = opened(t, path)
	for name, tc := range map[string]struct {
		q    Query
		want []uint64
	}{
		"all":     {Query{}, []uint64{1, 2, 3}},
		"after":   {Query{After: 1}, []uint64{2, 3}},
		"until":   {Query{Until: 2}, []uint64{1, 2}},
		"since":   {Query{Since: now.Add(-time.Minute)}, []uint64{2, 3}},
		"team":    {Query{Team: "a"}, []uint64{1, 3}},
		"type":    {Query{Types: []string{"team:del"}}, []uint64{3}},
		"no type": {Query{Types: []string{"team_created", "%"}}, nil},
		"limit":   {Query{Limit: 1}, []uint64{1}},
	} {
		lines, err := s.Read(t.Context(), tc.q)
		ok(t, err)
		var got []uint64
		for _, l := range lines {
			got = append(got, l.Seq)
		}
		if len(got) != len(tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("%s: %v, want %v", name, got, tc.want)
			}
		}
	}
	states, err := s.States(t.Context(), "team/")
	ok(t, err)
	if len(states) != 1 || string(states["team/a"]) != `{"n":1}` {
		t.Errorf("states: %s", states)
	}
	ok(t, s.Add(t.Context(), nil, map[string]json.RawMessage{"team/a": nil}))
	if states, err = s.States(t.Context(), ""); err != nil || len(states) != 0 {
		t.Errorf("a state that was removed: %s, %v", states, err)
	}
	if last, err := s.Last(t.Context()); err != nil || last != 3 {
		t.Errorf("the last is %d, %v", last, err)
	}
}

// TestHistoryIsBounded: the oldest go, the last one stays so that the numbers go on.
func TestHistoryIsBounded(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "x.db"))
	s.most = 100
	var list []events.Event
	for seq := range uint64(pruneStep) {
		list = append(list, event(seq+1, "a", events.TeamCreated, time.Now()))
	}
	ok(t, s.Add(t.Context(), list, nil))
	oldest, err := s.Oldest(t.Context())
	ok(t, err)
	last, err := s.Last(t.Context())
	ok(t, err)
	if oldest != pruneStep-100+1 || last != pruneStep {
		t.Errorf("kept are %d to %d", oldest, last)
	}
	s.maxAge = 0
	for i := range list {
		list[i].Seq, list[i].At = last+uint64(i)+1, time.Now().Add(-time.Hour)
	}
	ok(t, s.Add(t.Context(), list, nil))
	if oldest, err = s.Oldest(t.Context()); err != nil || oldest != 2*pruneStep {
		t.Errorf("the oldest is %d, %v", oldest, err)
	}
}
