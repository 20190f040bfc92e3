package daemon

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/changes"
)

// stateWith is a team with n tasks, and n messages in a box.
func stateWith(n int) changes.Team {
	t := changes.Team{Name: "a", Members: []api.Member{{Name: "bob"}}, Boxes: map[string][]api.Message{"odd/name": {}}}
	for i := range n {
		t.Tasks = append(t.Tasks, api.Task{ID: fmt.Sprint(i), Subject: "s"})
		t.Boxes["odd/name"] = append(t.Boxes["odd/name"], api.Message{ID: fmt.Sprint(i)})
	}
	return t
}

// What the history holds of a team is what was seen last, whatever changes; and only what has
// changed is written, also by a daemon that has read an older one's rows.
func TestTeamRows(t *testing.T) {
	u := revived(t, filepath.Join(t.TempDir(), "x.db"))
	rows := func() map[string]json.RawMessage {
		t.Helper()
		all, err := u.history.States(t.Context(), teamState)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	more, fewer := stateWith(100), stateWith(3)
	more.Tasks = slices.Clone(more.Tasks)
	more.Tasks[7].Status = "completed"
	more.Boxes["bob"] = []api.Message{{ID: "x"}}
	for _, step := range []struct {
		now     changes.Team
		changed int
	}{{stateWith(100), 201}, {more, 2}, {fewer, 195}, {changes.Team{}, 7}, {stateWith(1), 3}} {
		before := rows()
		u.ingest(t.Context(), "a", step.now)
		after := rows()
		changed := 0
		for row := range maps.Keys(before) {
			if _, stays := after[row]; !stays {
				changed++
			}
		}
		for row, doc := range after {
			if string(before[row]) != string(doc) {
				changed++
			}
		}
		seen, _ := readTeams(after, slog.New(slog.DiscardHandler))
		if got := seen["a"]; changed != step.changed || got.Name != step.now.Name || !reflect.DeepEqual(got.Tasks, step.now.Tasks) || len(got.Boxes["odd/name"]) != len(step.now.Boxes["odd/name"]) {
			t.Errorf("%d rows changed, want %d; %d tasks of %q are kept", changed, step.changed, len(got.Tasks), got.Name)
		}
	}

	whole, err := json.Marshal(stateWith(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.history.Add(t.Context(), nil, map[string]json.RawMessage{"team/older": whole, "team/gone": whole, "team/a/task/000000000": json.RawMessage("{")}); err != nil {
		t.Fatal(err)
	}
	u.states, u.kept = readTeams(rows(), slog.New(slog.DiscardHandler))
	if older, is := u.states["older"]; !is || len(older.Tasks) != 2 {
		t.Errorf("the older form is read as %+v", older)
	}
	if _, is := u.states["a"]; is {
		t.Error("a damaged state is taken for one")
	}
	now := stateWith(1)
	now.Description = "new"
	u.ingest(t.Context(), "a", now)
	u.ingest(t.Context(), "older", now)
	u.ingest(t.Context(), "gone", changes.Team{})
	seen, _ := readTeams(rows(), slog.New(slog.DiscardHandler))
	for _, name := range []string{"a", "older"} {
		if got := seen[name]; !reflect.DeepEqual(got.Tasks, now.Tasks) || len(got.Boxes["odd/name"]) != 1 {
			t.Errorf("%s is kept as %+v", name, got)
		}
	}
	if _, is := rows()["team/gone"]; is {
		t.Error("what an older daemon kept of a team that is deleted stays")
	}
}
