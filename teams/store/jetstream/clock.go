package jetstream

import (
	"context"
	"time"
)

// Machines have clocks of their own, which may differ by minutes. A message carries the
// time of its writer's; who reads it takes it against times of its own machine, such as
// that of its start. So it is given in the reader's clock, by way of the engine's.

// agree is how far two clocks may be apart and count as the same.
const agree = 5 * time.Second

// clockAgain is how long it counts what was found out about the clock.
const clockAgain = 10 * time.Minute

// clock is what is known of the clock of this machine.
type clock struct {
	connection uint64 // on which the engine was asked
	asked      time.Time
	ahead      time.Duration // of the engine's
}

// ahead is how far the clock of this machine is ahead of the engine's. While the engine
// cannot tell, it is what it was.
func (e *Engine) ahead(ctx context.Context) time.Duration {
	connection := e.Connection()
	e.mu.Lock()
	c := e.clock
	e.mu.Unlock()
	if c.connection == connection && time.Since(c.asked) < clockAgain {
		return c.ahead
	}
	once, stop := e.within(ctx, answerLimit)
	defer stop()
	asked, began := time.Now(), e.now()
	s, err := e.js.Stream(once, e.mail())
	if err != nil || s.CachedInfo().TimeStamp.IsZero() {
		return c.ahead
	}
	c = clock{connection, asked, began.Add(time.Since(asked) / 2).Sub(s.CachedInfo().TimeStamp)}
	e.mu.Lock()
	e.clock = c
	e.mu.Unlock()
	return c.ahead
}

// Ahead is how far the clock of this machine is ahead of the engine's, 0 if they count as the same.
func (e *Engine) Ahead(ctx context.Context) time.Duration {
	if d := e.ahead(ctx); d.Abs() >= agree {
		return d
	}
	return 0
}

// here gives the time of a message in the clock of this machine, which is ahead of the
// engine's: said by its writer's clock, taken in at by the engine's.
func here(ahead time.Duration, said, at time.Time) time.Time {
	if at = at.Add(ahead); said.Sub(at).Abs() < agree {
		return said // by a clock like this one
	}
	return at.UTC().Truncate(time.Millisecond)
}
