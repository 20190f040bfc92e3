package integration_test

import (
	"os"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// rosterOf reads a roster as another program would.
func rosterOf(r *rig, team string) store.Team {
	r.t.Helper()
	fs, err := claudefs.Open(r.path("base"), claudefs.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer fs.Close()
	t, err := fs.Roster().Get(r.t.Context(), team)
	if err != nil {
		r.t.Fatal(err)
	}
	return t
}

// rewrite replaces text in a file of the base directory, as an editor would.
func rewrite(r *rig, name, old, new string) {
	r.t.Helper()
	data, err := os.ReadFile(r.path("base", name))
	if err != nil {
		r.t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		r.t.Fatalf("%s does not hold %s:\n%s", name, old, data)
	}
	if err := os.WriteFile(r.path("base", name), []byte(strings.Replace(string(data), old, new, 1)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}
