package host

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// queueLength bounds what waits for a program that does not read.
const queueLength = 64

// queue writes to a program's terminal one piece after the other, so that no two
// writers interleave and none is stuck for longer than its context. A program
// that reads nothing blocks whoever waits, never the Host.
type queue struct {
	to     *os.File
	pieces chan queued
	stop   chan struct{}
	once   sync.Once
	ended  chan struct{} // by run
}

type queued struct {
	ctx  context.Context
	data []byte
	done chan error // buffered; nil = nobody waits
}

func newQueue(to *os.File) *queue {
	q := &queue{to: to, pieces: make(chan queued, queueLength), stop: make(chan struct{}), ended: make(chan struct{})}
	go q.run()
	return q
}

// put waits until the terminal has taken data, ctx ends, or the program does.
func (q *queue) put(ctx context.Context, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	done := make(chan error, 1)
	select {
	case q.pieces <- queued{ctx, data, done}:
	case <-ctx.Done():
		return fmt.Errorf("type: the program reads nothing: %w", ctx.Err())
	case <-q.stop:
		return errNothingRuns()
	}
	select {
	case err := <-done:
		return err
	case <-q.ended:
		select {
		case err := <-done: // the program ended when it had it all
			return err
		default:
			return errNothingRuns()
		}
	case <-ctx.Done():
		select {
		case err := <-done:
			return err
		case <-time.After(calledOffLimit):
			return fmt.Errorf("type: the program reads nothing: %w", ctx.Err())
		}
	}
}

// calledOffLimit is how long a write that is called off may take to say how far
// it came; one that waits behind another says nothing, and will not be done.
const calledOffLimit = 200 * time.Millisecond

// feed hands data over without waiting for the program to read it; it waits while
// the queue is full, as long as ctx lasts.
func (q *queue) feed(ctx context.Context, data []byte) {
	if q.offer(data) {
		return
	}
	select {
	case q.pieces <- queued{context.Background(), data, nil}:
	case <-ctx.Done():
	case <-q.stop:
	}
}

// offer is feed, but drops data when the queue is full.
func (q *queue) offer(data []byte) (taken bool) {
	select {
	case q.pieces <- queued{context.Background(), data, nil}:
		return true
	default:
		return false
	}
}

// close ends the writer; what still waits is dropped.
func (q *queue) close() {
	q.once.Do(func() {
		close(q.stop)
		q.to.SetWriteDeadline(time.Unix(1, 0))
	})
}

func (q *queue) run() {
	defer close(q.ended)
	for {
		select {
		case <-q.stop:
			return
		case p := <-q.pieces:
			err := q.write(p)
			if p.done != nil {
				p.done <- err
			}
		}
	}
}

// write is one piece; the end of its context calls a stuck write off.
func (q *queue) write(p queued) error {
	select {
	case <-q.stop:
		return errNothingRuns()
	case <-p.ctx.Done():
		return fmt.Errorf("type: %w", p.ctx.Err())
	default:
	}
	called := make(chan struct{})
	stop := context.AfterFunc(p.ctx, func() {
		defer close(called)
		q.to.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := q.to.Write(p.data)
	if !stop() {
		<-called
		q.to.SetWriteDeadline(time.Time{})
	}
	if err == nil {
		return nil
	}
	select {
	case <-q.stop:
		return errNothingRuns()
	default:
	}
	if p.ctx.Err() != nil {
		return fmt.Errorf("type: the program took %d of %d bytes: %w", n, len(p.data), p.ctx.Err())
	}
	return fmt.Errorf("type: %w", err)
}

// errNothingRuns says that there is no program to type to or to signal.
func errNothingRuns() error {
	return fault.New(fault.RecipientInactive, "nothing runs in this pane")
}
