package signals

import (
	"context"
	"errors"
	"time"
)

// patience is how much longer a process may take to end after its TERM. Only time in
// which it could run counts: on a busy machine it may still wait for its turn when
// an idle one would have been done.
type patience struct {
	pid   int
	limit time.Duration
	since time.Time
	first cpuUse
	known bool // what first is
}

// cpuUse is what the threads of a process got of the CPU until now.
type cpuUse struct {
	threads map[int]threadUse
	blocked bool // one waits for the disk, and takes no signal
	ended   bool // nobody has waited for it yet
}

type threadUse struct {
	ran, waited time.Duration // without what it has waited since it became ready
	ready       bool          // it runs, or waits for its turn
}

// lost is how much of the time that has gone a thread has waited for its turn.
func (u threadUse) lost(before threadUse, gone time.Duration) time.Duration {
	lost := u.waited - before.waited
	if u.ready {
		lost = max(lost, gone-(u.ran-before.ran))
	}
	return min(lost, gone)
}

func newPatience(pid int, limit time.Duration) *patience {
	p := &patience{pid: pid, limit: limit, since: time.Now()}
	p.first, p.known = cpuOf(pid)
	return p
}

// await waits until the process has ended; false when its time is over, or ctx ends.
func (p *patience) await(ctx context.Context, id Identity) bool {
	for left := p.left(); ; left = p.left() {
		limited, cancel := context.WithTimeout(ctx, left)
		err := id.Wait(limited)
		cancel()
		switch {
		case err == nil, id.Probe() == Gone:
			return true
		case ctx.Err() != nil, !errors.Is(err, context.DeadlineExceeded), p.left() <= 0:
			return false
		}
	}
}

// Lasts tells whether a process that began at since does not end before it had the chance to
// run for limit: it waits for that, up to six times the limit.
func (id Identity) Lasts(ctx context.Context, since time.Time, limit time.Duration) bool {
	p := patience{pid: id.PID, limit: limit, since: since, known: true} // it had got nothing then
	if p.left() <= 0 {
		return id.Probe() == Alive
	}
	ctx, cancel := context.WithDeadline(ctx, since.Add(starvedFactor*limit))
	defer cancel()
	return !p.await(ctx, id)
}

// pauseBlocked is how much longer one may take that waits for the disk.
const pauseBlocked = 100 * time.Millisecond

// left is what the process still has: the limit less the time that has gone, without
// that in which the thread of it that waited longest for the CPU did so.
func (p *patience) left() time.Duration {
	gone := time.Since(p.since)
	if gone < p.limit || !p.known {
		return p.limit - gone
	}
	now, ok := cpuOf(p.pid)
	if !ok {
		return 0
	}
	var lost time.Duration
	for id, thread := range now.threads {
		lost = max(lost, thread.lost(p.first.threads[id], gone))
	}
	left := p.limit - gone + lost
	if left <= 0 && now.blocked {
		left = pauseBlocked
	}
	return left
}
