package teams_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/signals"
)

// TestXS40_AStartingTeammateHasNoHostYet: what needs the host of a teammate that starts says so,
// also while the record of its host of before is there, and not that it has ended.
func TestXS40_AStartingTeammateHasNoHostYet(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("ann"), running("bob"))
	socket := panes.NewManager(panes.Options{Base: d.base, Runtime: d.base}).SocketPath("alpha", "bob")
	before := panes.HostRecord{Host: uuid.NewString(), Process: signals.Identity{PID: 4242, Start: 1, Boot: "b"}, Socket: socket, StartedAt: time.Now()}
	if err := panes.NewRecords(d.fs.Dir()).WriteHost(t.Context(), "alpha", "bob", before); err != nil {
		t.Fatal(err)
	}
	svc := d.as("")
	for _, name := range []string{"ann", "bob"} {
		_, captured := svc.Capture(t.Context(), "alpha", name, 0, false)
		_, shown := svc.View(t.Context(), "alpha", name, host.AttachOptions{})
		pressed := svc.Keys(t.Context(), "alpha", name, []string{"enter"})
		for verb, err := range map[string]error{"capture": captured, "attach": shown, "keys": pressed} {
			if fault.CodeOf(err) != fault.RecipientInactive || !strings.Contains(err.Error(), "is starting") {
				t.Errorf("%s of %s: %v", verb, name, err)
			}
		}
	}
}
