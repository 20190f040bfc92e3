package panes

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// TestXH08_XH11_APaneInUseIsNotClosable: while a host runs, or anything that carries its
// mark, its pane is not proved to be ours to close.
func TestXH08_XH11_APaneInUseIsNotClosable(t *testing.T) {
	pane := backend.Marked{ID: "%1", Mark: backend.Mark{Base: "b", Team: "t", Agent: "a", Host: uuid.NewString()}}
	host, endHost := sleeper(t)
	if _, err := Vacated(pane, host); !errors.Is(err, fault.Unproven) {
		t.Errorf("its host runs: %v", err)
	}
	endHost()
	_, endProgram := sleeper(t, signals.Mark+"="+pane.Mark.Host)
	for _, of := range []signals.Identity{host, {}} {
		if _, err := Vacated(pane, of); !errors.Is(err, fault.Unproven) {
			t.Errorf("what the host %d ran is there: %v", of.PID, err)
		}
	}
	endProgram()
	for _, of := range []signals.Identity{host, {}} {
		if c, err := Vacated(pane, of); err != nil || c.pane != pane {
			t.Errorf("nothing is left of host %d: %v", of.PID, err)
		}
	}
}
