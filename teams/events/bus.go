package events

import (
	"errors"
	"sync"
)

// ErrLagged ends the subscription of one who did not keep up.
var ErrLagged = errors.New("too slow: events were dropped")

// Bus hands every event, an Event or of another type, to every subscriber. It is bounded and never waits for a
// subscriber: one whose queue is full is cut, and nobody else notices. It is safe
// for concurrent use.
type Bus[E any] struct {
	mu   sync.Mutex
	subs map[*Subscription[E]]bool
}

// NewBus returns a bus without subscribers.
func NewBus[E any]() *Bus[E] { return &Bus[E]{subs: map[*Subscription[E]]bool{}} }

// Subscription is one who listens.
type Subscription[E any] struct {
	// C brings the events in the order they were published. It is closed after
	// Close, or when the subscriber was cut; what was queued before is still there.
	C   <-chan E
	c   chan E
	bus *Bus[E]
	err error
}

// Subscribe listens to all that is published from now on, with a queue for size
// events.
func (b *Bus[E]) Subscribe(size int) *Subscription[E] {
	c := make(chan E, max(size, 1))
	s := &Subscription[E]{C: c, c: c, bus: b}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs[s] = true
	return s
}

// Publish hands out an event.
func (b *Bus[E]) Publish(e E) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		select {
		case s.c <- e:
		default:
			s.end(ErrLagged)
		}
	}
}

// end is called with the bus's lock held.
func (s *Subscription[E]) end(err error) {
	if s.bus.subs[s] {
		delete(s.bus.subs, s)
		s.err = err
		close(s.c)
	}
}

// Close stops listening. It may be called more than once.
func (s *Subscription[E]) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.end(nil)
}

// Err says, once C is closed, why: ErrLagged, or nil after Close.
func (s *Subscription[E]) Err() error {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	return s.err
}
