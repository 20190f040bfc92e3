package teammate

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestShowNeverWaits: many may ask for states at once, also while the labeller ends and
// after that. Nobody waits for it, and the newest state is the one that counts.
func TestShowNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newLabeller(nil, panes.Target{}, backend.Label{})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { b.show(api.StateIdle) })
		}
		all.Wait()
		b.show(api.StateWaiting)
		b.mu.Lock()
		if b.wanted != api.StateWaiting {
			t.Errorf("the state is %q", b.wanted)
		}
		b.mu.Unlock()
		b.close(api.StateStopped) // before the pause is over: nothing is shown any more
		b.show(api.StateIdle)
	})
}
