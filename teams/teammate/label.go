package teammate

import (
	"context"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// labeller keeps the pane's border true to the state. The terminal may be slow:
// nobody waits for it, and of several states that come meanwhile the last counts.
// A nil one labels nothing.
type labeller struct {
	panes  *panes.Manager
	target panes.Target
	label  backend.Label

	mu      sync.Mutex
	wanted  string
	changed chan struct{} // wanted is another one
	last    chan struct{} // closed when no state follows
	silent  bool          // read once last is closed: the pane goes, nobody will look at it
	done    sync.WaitGroup
}

const labelLimit = 2 * time.Second

// labelPause is how long a state has to last to be shown. A label is a program to
// run and a question to the terminal: when a whole team starts, that waits until the
// agents have started, and states that pass at once cost nothing.
const labelPause = 500 * time.Millisecond

func newLabeller(p *panes.Manager, t panes.Target, l backend.Label) *labeller {
	b := &labeller{panes: p, target: t, label: l, changed: make(chan struct{}, 1), last: make(chan struct{})}
	b.done.Go(b.loop)
	return b
}

// show asks for a state to be shown.
func (b *labeller) show(state string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.wanted = state
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default: // it is to be looked at already
	}
}

func (b *labeller) loop() {
	shown := api.StateActive // written with the pane, so that a team's start needs no program for each
	for open := true; open; {
		select {
		case <-b.changed:
		case <-b.last:
			open = false
		}
		state := b.lasting()
		if state == "" || state == shown {
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

// lasting waits a moment and returns the state of then, "" if nobody will look at it.
func (b *labeller) lasting() string {
	select {
	case <-time.After(labelPause):
	case <-b.last:
		if b.silent {
			return ""
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wanted
}

// close ends, and shows the last state of a teammate whose pane stays to be read.
func (b *labeller) close(state string) {
	if b == nil {
		return
	}
	if b.silent = state != api.StateFailed; !b.silent {
		b.show(state)
	}
	close(b.last)
	b.done.Wait()
}
