package events

import (
	"errors"
	"sync"
)

// ErrLagged ends the subscription of one who did not keep up.
var ErrLagged = errors.New("too slow: events were dropped")

// Bus hands every event to every subscriber. It is bounded and never waits for a
// subscriber: one whose queue is full is cut, and nobody else notices. It is safe
// for concurrent use.
type Bus struct {
	mu   sync.Mutex
	subs map[*Subscription]bool
}

// NewBus returns a bus without subscribers.
func NewBus() *Bus { return &Bus{subs: map[*Subscription]bool{}} }

// Subscription is one who listens.
type Subscription struct {
	// C brings the events in the order they were published. It is closed after
	// Close, or when the subscriber was cut; what was queued before is still there.
	C   <-chan Event
	c   chan Event
	bus *Bus
	err error
}

// Subscribe listens to all that is published from now on, with a queue for size
// events.
func (b *Bus) Subscribe(size int) *Subscription {
	c := make(chan Event, max(size, 1))
	s := &Subscription{C: c, c: c, bus: b}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs[s] = true
	return s
}

// Publish hands out an event.
func (b *Bus) Publish(e Event) {
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
func (s *Subscription) end(err error) {
	if s.bus.subs[s] {
		delete(s.bus.subs, s)
		s.err = err
		close(s.c)
	}
}

// Close stops listening. It may be called more than once.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.end(nil)
}

// Err says, once C is closed, why: ErrLagged, or nil after Close.
func (s *Subscription) Err() error {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	return s.err
}
