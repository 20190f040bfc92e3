package runs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/db"
)

// TestC01_Versions: what an older version has written is there after its
// migration; what a newer one has written is refused, and untouched.
func TestC01_Versions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	first := db.Component{Name: "runs", Steps: Component().Steps[:1]}
	d, err := db.Open(t.Context(), path, first)
	if err != nil {
		t.Fatal(err)
	}
	team, err := New(d, func([]api.TeamRunEvent) {}).CreateTeam(t.Context(), api.AgentTeamParams{Name: "old"})
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	if d, err = db.Open(t.Context(), path, Component()); err != nil {
		t.Fatal(err)
	}
	s := New(d, func([]api.TeamRunEvent) {})
	if got, err := s.Team(t.Context(), team.ID); err != nil || got != team {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := s.CreateRun(t.Context(), api.RunCreateParams{TeamID: team.ID, Items: []api.ItemSpec{{Title: "x", Run: "true"}}}); err != nil {
		t.Error(err)
	}
	if _, err := d.Exec(`UPDATE components SET version = version + 1 WHERE name = 'runs'`); err != nil {
		t.Fatal(err)
	}
	d.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Open(t.Context(), path, Component()); fault.CodeOf(err) != fault.VersionTooNew {
		t.Errorf("a newer version: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("it was touched: %v", err)
	}
}
