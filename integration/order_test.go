package integration_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

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
}
