package scheduler

import (
	"slices"
	"sync"
)

// slots is the one queue of all runs: so many items are under way at a time. Runs
// that wait are served in turn, one item each.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting []*runController
}

func newSlots(n int) *slots { return &slots{free: n} }

// take takes a slot if there is one and it is c's turn; else c is woken when it is.
func (q *slots) take(c *runController) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.waiting, c)
	mine := at == 0 || at < 0 && len(q.waiting) == 0
	if q.free <= 0 || !mine {
		if at < 0 {
			q.waiting = append(q.waiting, c)
		}
		return false
	}
	if at == 0 {
		q.waiting = q.waiting[1:]
	}
	q.free--
	q.next()
	return true
}

// retake takes a slot for what was begun before a crash.
func (q *slots) retake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free--
}

// give gives a slot back.
func (q *slots) give() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	q.next()
}

// leave takes c out of those who wait.
func (q *slots) leave(c *runController) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := slices.Index(q.waiting, c); at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
		q.next()
	}
}

// next wakes whose turn it is.
func (q *slots) next() {
	if q.free > 0 && len(q.waiting) > 0 {
		q.waiting[0].wake()
	}
}
