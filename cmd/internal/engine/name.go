package engine

import (
	"context"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
)

// name is what is known of the name of this machine: another one may join under it while this
// one is silent, and then is the one that is meant.
type name struct {
	mu         sync.Mutex
	connection uint64 // on which it was looked, last
	looked     time.Time
	taken      error
	stop       context.CancelFunc // ends answering
}

// nameFor is how long a look holds: two beats, so that whoever was silent looks again.
const nameFor = 2 * beatEvery

// mine returns the error of a name that another machine has. now has it look at once.
func (n *name) mine(ctx context.Context, connection uint64, now bool, look func(context.Context) error) error {
	n.mu.Lock()
	fresh, taken := n.connection == connection && time.Since(n.looked) < nameFor, n.taken
	n.mu.Unlock()
	if fresh && !now {
		return taken
	}
	err := look(ctx)
	if err != nil && fault.CodeOf(err) != fault.DuplicateName {
		return err // it cannot be told now
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.connection, n.looked, n.taken = connection, time.Now(), nil
	if err != nil {
		n.taken = fault.New(fault.EngineUnavailable, "%w", err).WithHint("let one of the two leave, with leadlight machine leave --force, and join under another name; teammates are looked after where their machine keeps its name")
		if n.stop != nil {
			n.stop()
		}
	}
	return n.taken
}

// stillMine looks whether another machine has the name of this one.
func (e *Engine) stillMine(ctx context.Context) error {
	taken, err := e.Taken(ctx, e.self)
	if err == nil && taken {
		err = fault.New(fault.DuplicateName, "another machine is on %s as %s: it has joined while this one was silent, or was copied", e.URL(), e.joined.Name)
	}
	return err
}

// Answer carries out what other machines ask of this one, until ctx ends; nothing while
// another machine has its name.
func (e *Engine) Answer(ctx context.Context, answer jetstream.Answer) {
	for ctx.Err() == nil {
		mine, stop := context.WithCancel(ctx)
		e.name.mu.Lock()
		taken := e.name.taken
		e.name.stop = stop
		e.name.mu.Unlock()
		if taken == nil {
			if err := e.Engine.Answer(mine, e.joined.Name, e.self.Process, answer); err != nil && ctx.Err() == nil {
				e.log.Error("answer other machines", "error", err)
			}
		}
		stop()
		select {
		case <-ctx.Done():
		case <-time.After(beatEvery):
		}
	}
}
