package mate

import (
	"context"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/panes"
)

// labeller keeps the pane's border true to the state. The terminal may be slow:
// nobody waits for it, and of several states that come meanwhile the last counts.
type labeller struct {
	panes  *panes.Manager
	target panes.Target
	label  backend.Label

	wanted chan string
	done   sync.WaitGroup
}

const labelLimit = 2 * time.Second

func newLabeller(p *panes.Manager, t panes.Target, l backend.Label) *labeller {
	b := &labeller{panes: p, target: t, label: l, wanted: make(chan string, 1)}
	b.done.Go(b.loop)
	return b
}

// show asks for a state to be shown.
func (b *labeller) show(state string) {
	for {
		select {
		case b.wanted <- state:
			return
		default:
		}
		select {
		case <-b.wanted:
		default:
		}
	}
}

func (b *labeller) loop() {
	shown := ""
	for state := range b.wanted {
		if state == shown || b.target.Pane == "" {
			continue
		}
		b.label.State = state
		ctx, cancel := context.WithTimeout(context.Background(), labelLimit)
		if b.panes.Label(ctx, b.target, b.label) == nil {
			shown = state
		}
		cancel()
	}
}

// close shows a last state and ends.
func (b *labeller) close(state string) {
	b.show(state)
	close(b.wanted)
	b.done.Wait()
}
