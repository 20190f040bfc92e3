package tmux

import (
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
)

// A server in another pid namespace names processes that this one cannot see: they may run.
func TestWhatIsNotSeenIsNotDead(t *testing.T) {
	const nobody = 1<<22 + 1 // more than the kernel's largest
	rows := []row{{Pane: backend.Pane{PID: nobody, Mark: backend.Mark{Team: "t", Agent: "a"}}}}
	if (&Backend{}).notice(rows); !ours(rows[0]) || rows[0].Dead {
		t.Errorf("%+v", rows[0])
	}
}
