package host

import (
	"context"
	"time"
)

// firstMoments is how long a program runs that has not failed at once.
const firstMoments = 200 * time.Millisecond

// watchStart says when a program has lasted for its first moments. Only the host can tell: its
// state says that a program was started, and one who asks may be told late.
func (h *Host) watchStart(p *program) {
	h.mu.Lock()
	settled := h.settled
	h.mu.Unlock()
	if settled {
		return
	}
	time.AfterFunc(time.Until(p.started.Add(firstMoments)), func() {
		if p.id.Lasts(context.Background(), p.started, firstMoments) {
			h.Settle()
		}
	})
}

// Settle says that the host goes on, whatever its first program does: see Status.Settled.
func (h *Host) Settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.settled {
		h.settled = true
		h.notify()
	}
}
