package cli

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXS23_ATimeThatPassesIsNoChange: what waits is said once, however long it waits.
func TestXS23_ATimeThatPassesIsNoChange(t *testing.T) {
	var said bytes.Buffer
	v := &progressView{a: &app{err: &said}, last: map[string]string{}}
	see := func(format string, args ...any) {
		v.show(teams.Snapshot{Members: []api.Member{{Name: "ann", State: api.StateWaiting, Reason: fmt.Sprintf(format, args...)}}})
	}
	for n := range 5 {
		see("waits for its plan p-1 to be approved, for %ds", n)
	}
	for n := range 5 {
		see("exited with 3, starts again in %ds (1 of 5)", 5-n)
	}
	see("exited with 4, starts again in 4s (1 of 5)")
	see("asks, for whom it waits")
	want := "ann: waiting: waits for its plan p-1 to be approved\nann: waiting: exited with 3\nann: waiting: exited with 4\nann: waiting: asks, for whom it waits\n"
	if said.String() != want {
		t.Errorf("said\n%swant\n%s", said.String(), want)
	}
}
