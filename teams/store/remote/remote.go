// Package remote is both halves of a store in another process: a client with the contracts
// of package store, and the methods by which a daemon serves the store that it holds. So
// the light program needs no library of the engine, and a machine has one connection to
// it.
//
// A change is made by the client: it gets the value and a mark of it, and sends back the
// changed value with the mark. The daemon writes it if the mark is still right.
package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Client is the half that asks. It is safe for concurrent use, and connects at the first
// call.
type Client struct {
	dial func(context.Context) (*rpc.Client, error)

	mu sync.Mutex
	c  *rpc.Client
}

// New returns a client that reaches the daemon by dial.
func New(dial func(context.Context) (*rpc.Client, error)) *Client { return &Client{dial: dial} }

// Roster returns the rosters.
func (c *Client) Roster() store.Roster { return roster{c} }

// Mail returns the mailboxes.
func (c *Client) Mail() store.Mail { return mail{c} }

// Tasks returns the task lists.
func (c *Client) Tasks() store.Tasks { return tasks{c} }

// Close hangs up.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c == nil {
		return nil
	}
	err := c.c.Close()
	c.c = nil
	return err
}

func (c *Client) connection(ctx context.Context) (*rpc.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c != nil {
		return c.c, nil
	}
	var err error
	c.c, err = c.dial(ctx)
	return c.c, err
}

// forget lets the next call connect anew.
func (c *Client) forget(old *rpc.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c == old {
		c.c = nil
	}
	_ = old.Close() // the other side is gone
}

// call calls a method. Names are checked by the store that answers; that of a team that is not
// UTF-8 would arrive as another one.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	if of, ok := params.(interface{ check() error }); ok {
		if err := of.check(); err != nil {
			return err
		}
	}
	conn, err := c.connection(ctx)
	if err != nil {
		return err
	}
	if err = conn.Call(ctx, method, params, result); errors.Is(err, rpc.ErrHungUp) {
		c.forget(conn)
		err = fault.New(fault.EngineUnavailable, "%w", err).WithHint("look whether it was done, then try again; leadlight daemon status tells whether the daemon runs")
	}
	return err
}

// repeat calls a method that may be called twice: once more, if the daemon ended before it
// answered.
func (c *Client) repeat(ctx context.Context, method string, params, result any) error {
	err := c.call(ctx, method, params, result)
	if errors.Is(err, rpc.ErrHungUp) {
		err = c.call(ctx, method, params, result)
	}
	return err
}

// busyLimit is how long a change is tried while others write in between.
const busyLimit = 15 * time.Second

// change gets a value, changes it, and puts it back, until nobody has written in between.
func change[V any](ctx context.Context, c *Client, method string, at target, edit func(*V) error, clone func(*V) V) (V, error) {
	var none V
	for limit := time.Now().Add(busyLimit); time.Now().Before(limit); {
		var seen edited[V]
		if err := c.repeat(ctx, method+".edit", at, &seen); err != nil {
			return none, err
		}
		next := clone(&seen.Value)
		if err := edit(&next); err != nil {
			return none, err
		}
		var done edited[V]
		if err := c.call(ctx, method+".put", putting[V]{creating[V]{at, next}, seen.Mark}, &done); err != nil {
			return none, err
		}
		if done.Mark != "" {
			return done.Value, nil
		}
	}
	return none, fault.New(fault.LockTimeout, "change team %s: others have written all the time for %s", at.Team, busyLimit).WithHint("try again")
}

// target says what a call is about.
type target struct {
	Team  string `json:"team"`
	Owner string `json:"owner,omitempty"` // of a mailbox
	ID    string `json:"id,omitempty"`    // of a task
	Who   string `json:"who,omitempty"`   // claims
	After bool   `json:"after,omitempty"` // a hint: see store.AfterHint
}

func (t target) check() error {
	if t.Team == "" {
		return nil
	}
	return store.CheckTeam(t.Team)
}

// edited is a value and the mark of it; without a mark somebody else was first.
type edited[V any] struct {
	Value V      `json:"value"`
	Mark  string `json:"mark"`
}

// creating is a value, and where it goes.
type creating[V any] struct {
	At    target `json:"at"`
	Value V      `json:"value"`
}

func (c creating[V]) check() error { return c.At.check() }

// putting is a changed value.
type putting[V any] struct {
	creating[V]
	Mark string `json:"mark"` // of the value that was changed
}

// again bounds the pauses between attempts to watch anew.
const (
	againFirst = 100 * time.Millisecond
	againMost  = 5 * time.Second
)

// watch relays hints until ctx ends, also over the end of a daemon.
func (c *Client) watch(ctx context.Context, what string, at target) (<-chan struct{}, error) {
	if err := at.check(); err != nil {
		return nil, err
	}
	hints := make(chan struct{}, 1)
	hint := func() {
		select {
		case hints <- struct{}{}:
		default:
		}
	}
	begun := make(chan error, 1)
	go func() {
		defer close(hints)
		pause, first := againFirst, true
		for {
			err := c.listen(ctx, what, at, func() {
				hint()
				if pause = againFirst; first {
					begun <- nil
				}
				first = false
			}, hint)
			if first {
				begun <- err
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
				pause = min(2*pause, againMost)
			}
		}
	}()
	if err := <-begun; err != nil {
		return nil, err
	}
	return hints, nil
}

// listen is one watch, on a connection of its own.
func (c *Client) listen(ctx context.Context, what string, at target, begin, hint func()) error {
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Listen(ctx, "store."+what+".watch", at, Hint, begin, hint)
}
