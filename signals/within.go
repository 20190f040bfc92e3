package signals

import (
	"context"
	"time"
)

// An answer that is late is waited for in steps, a part of its limit or this long.
const (
	stepParts   = 4
	longestStep = 250 * time.Millisecond
)

// Within returns a context for a question to other programs: it ends, because of late, when
// the limit is over and none of the processes is at work on the answer, whose pids are asked
// for then. One is at work
// while it runs, waits for its turn at the CPU or for the disk; and when it has ended, for
// whoever waits for the answer is about to see that. So a busy machine makes an answer
// late, up to six times the limit, and does not make it missing. Where the system does
// not tell, the limit is all.
func Within(ctx context.Context, limit time.Duration, late error, asked ...func() (pid int)) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	end := time.Now().Add(starvedFactor * limit)
	timer := time.AfterFunc(limit, func() {
		step := min(limit/stepParts, longestStep)
		working := func() bool {
			pids := make([]int, len(asked))
			for i, pid := range asked {
				pids[i] = pid()
			}
			return anyAtWork(ctx, pids, step)
		}
		for time.Now().Before(end) && working() {
		}
		cancel(late)
	})
	return lateContext{ctx, late}, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// lateContext ends as a context does whose deadline is over.
type lateContext struct {
	context.Context
	late error
}

func (w lateContext) Err() error {
	err := w.Context.Err()
	if err != nil && context.Cause(w.Context) == w.late {
		return context.DeadlineExceeded
	}
	return err
}

// anyAtWork tells whether one of the processes is at work in the time that begins now.
func anyAtWork(ctx context.Context, pids []int, step time.Duration) bool {
	began := time.Now()
	before := map[int]cpuUse{}
	for _, pid := range pids {
		if use, ok := cpuOf(pid); ok {
			before[pid] = use
		}
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(step):
	}
	gone := time.Since(began)
	for pid, first := range before {
		now, ok := cpuOf(pid)
		if !ok || now.blocked || now.ended {
			return true
		}
		for id, thread := range now.threads {
			was := first.threads[id]
			if 2*(thread.ran-was.ran+thread.lost(was, gone)) > gone {
				return true
			}
		}
	}
	return false
}
