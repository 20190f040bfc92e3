package integration_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXD02_OrderOfTheFile: the rows of ps and the panes stand in the order of the team
// file, also after up has added teammates and after a restart.
func TestXD02_OrderOfTheFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, "200x60")
	file := r.path("work", "leadlight.yaml")
	up := func(names ...string) {
		text := "team: ordered\nmembers:\n"
		for _, name := range names {
			text += fmt.Sprintf("  - {name: %s, command: [sleep, \"1000\"]}\n", name)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.must("up", "--detach")
	}
	check := func(when string, want ...string) {
		t.Helper()
		var rows, shown []string
		agents := map[string]string{}
		for _, m := range into[[]api.Member](r, "ps") {
			rows = append(rows, m.Name)
			agents[m.TmuxPaneID] = m.Name
		}
		for id := range strings.FieldsSeq(r.tmux.Run("list-panes", "-t", r.lead, "-F", "#{pane_id}")) {
			if id != r.lead {
				shown = append(shown, agents[id])
			}
		}
		if !slices.Equal(rows, want) || !slices.Equal(shown, want) {
			t.Errorf("%s: ps shows %v, the window %v, want %v", when, rows, shown, want)
		}
	}
	up("bea", "cleo", "dan")
	check("at first", "bea", "cleo", "dan")
	r.must("down", "--force")
	up("ann", "bea", "cy", "dan", "eve")
	check("at first, of five", "ann", "bea", "cy", "dan", "eve")
	r.must("down", "--force")
	up("bea", "dan")
	up("ann", "bea", "cy", "dan", "eve")
	check("after three were added", "ann", "bea", "cy", "dan", "eve")
	r.must("restart", "ann", "cy")
	check("after a restart", "ann", "bea", "cy", "dan", "eve")
	r.must("down", "--force")
	up("bea", "dan")
	up("dan", "ann", "bea")
	check("after one has another place, and one is new", "dan", "ann", "bea")
	r.must("down", "--force")
}

// TestXD02_WhoNeverArrivedIsStarted: up was killed when a teammate stood in the roster, but
// had no pane yet. Nobody waits for it for ever, and the next up starts it.
func TestXD02_WhoNeverArrivedIsStarted(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		file := "team: cutoff\nmembers:\n  - {name: ann, command: [sleep, \"1000\"]}\n  - {name: bob, command: [sleep, \"1000\"]}\n"
		if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		r.must("up", "--detach")
		bob := r.member("bob")
		r.must("stop", "ann")
		roster := r.path("base", "teams", "cutoff", "config.json")
		text, err := os.ReadFile(roster)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now().Add(-15 * time.Second).UTC().Format(time.RFC3339Nano)
		text = regexp.MustCompile(`"state":\s*"stopped"`).ReplaceAll(text, []byte(`"state":"starting"`))
		text = regexp.MustCompile(`"spawnedAt":\s*"[^"]*"`).ReplaceAll(text, []byte(`"spawnedAt":"`+begun+`"`))
		if err := os.WriteFile(roster, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"launch", "hosts"} {
			if err := os.Remove(r.path("base", "leadlight", "cutoff", kind, "ann.json")); err != nil {
				t.Fatal(err)
			}
		}
		if m := r.member("ann"); m.State != api.StateLost {
			t.Errorf("nobody starts ann, and it is %s: %s", m.State, m.Reason)
		}
		r.must("up", "--detach")
		if m := r.member("ann"); m.State != api.StateActive || r.member("bob").PID != bob.PID {
			t.Errorf("%+v, bob was %d", m, bob.PID)
		}
	})
}
