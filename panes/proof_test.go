package panes

import (
	"os/exec"
	"testing"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/signals"
)

// A host that ends while it is looked at has lost its environment: it is not taken for
// another member's.
func TestXH08_AnEndingHostIsNotForeign(t *testing.T) {
	host := uuid.NewString()
	cmd := exec.Command("sleep", "1000")
	cmd.Env = []string{signals.Mark + "=" + host}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var look signals.Processes
	table, err := look.Last()
	if err != nil {
		t.Fatal(err)
	}
	left := table.Marked(host)
	if len(left) != 1 || !stillMarked(t.Context(), left[0], host) {
		t.Errorf("while it runs: %v", left)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, p := range left {
		if stillMarked(t.Context(), p, host) {
			t.Errorf("%s has ended, and counts", p)
		}
	}
}
