package events

import (
	"errors"
	"testing"
)

// TestBus: who keeps up gets all in order, who does not is cut and keeps what was
// queued, and nobody waits.
func TestBus(t *testing.T) {
	b := NewBus[Event]()
	fast, slow, gone := b.Subscribe(10), b.Subscribe(2), b.Subscribe(0)
	gone.Close()
	gone.Close()
	if _, open := <-gone.C; open || gone.Err() != nil {
		t.Errorf("closed by itself: %v", gone.Err())
	}
	for seq := range uint64(5) {
		b.Publish(Event{Seq: seq + 1})
	}
	for want := range uint64(5) {
		if e := <-fast.C; e.Seq != want+1 {
			t.Errorf("event %d in the place of %d", e.Seq, want+1)
		}
	}
	var got []uint64
	for e := range slow.C {
		got = append(got, e.Seq)
	}
	if len(got) != 2 || got[0] != 1 || got[1] != 2 || !errors.Is(slow.Err(), ErrLagged) {
		t.Errorf("the slow one got %v and %v", got, slow.Err())
	}
	fast.Close()
	b.Publish(Event{Seq: 6})
	if _, open := <-fast.C; open {
		t.Error("an event after the end")
	}
}
