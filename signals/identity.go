package signals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Identity names one process for good. The zero value names none. Two
// identities are the same process when they are equal.
type Identity struct {
	PID       int    `json:"pid"`
	Start     uint64 `json:"start"`             // Linux: clock ticks since boot; macOS: µs since 1970
	Boot      string `json:"boot"`              // changes with every boot
	Namespace string `json:"namespace"`         // the pid namespace the number is valid in; "" on macOS
	Machine   string `json:"machine,omitempty"` // tells another machine (shared folders) from another boot
	Clock     string `json:"clock,omitempty"`   // the time namespace that Start is counted in; "" on macOS
	HostName  string `json:"hostName,omitempty"`
}

// Self returns the identity of this process, as it was when it first asked.
func Self() (Identity, error) { return self() }

var self = once(func() (Identity, error) { return Identify(os.Getpid()) })

// once remembers what was found. That nothing could be found is not remembered: perhaps there
// were too many open files.
func once(find func() (Identity, error)) func() (Identity, error) {
	var mu sync.Mutex
	var found Identity
	return func() (id Identity, err error) {
		mu.Lock()
		defer mu.Unlock()
		if found == (Identity{}) {
			if id, err = find(); err != nil {
				return Identity{}, err
			}
			found = id
		}
		return found, nil
	}
}

// Identify returns the identity of the process that pid means now. A process
// that has ended, also one not yet asked for by its parent, is ErrGone.
func Identify(pid int) (Identity, error) {
	if pid <= 0 {
		return Identity{}, fmt.Errorf("identify pid %d: %w", pid, ErrUnproven)
	}
	p, err := lookup(pid)
	if err != nil {
		return Identity{}, fmt.Errorf("identify pid %d: %w", pid, err)
	}
	if p.zombie {
		return Identity{}, fmt.Errorf("identify pid %d: %w", pid, ErrGone)
	}
	id, err := here()
	if err != nil {
		return Identity{}, fmt.Errorf("identify pid %d: %w", pid, err)
	}
	return id.of(pid, p.Start), nil
}

// maxPID is the highest pid that a Linux kernel gives out; macOS stays below it.
const maxPID = 1 << 22

// Check refuses what is no process that a record of ours can speak of.
func (id Identity) Check() error {
	if id.PID <= 1 || id.PID > maxPID || id.Start == 0 || id.Boot == "" {
		return errors.New("it names no process")
	}
	return nil
}

// of is the identity of another process of the same place.
func (id Identity) of(pid int, start uint64) Identity {
	id.PID, id.Start = pid, start
	return id
}

// Probe tells whether the process runs, see Observe.
func (id Identity) Probe() Liveness {
	state, _ := id.Observe()
	return state
}

// Observe tells whether the process runs, and if it cannot be told, why. Gone is said
// only with proof: the pid is free or belongs to a process that started at another
// time, and all that the record says of the place (machine, host name, namespaces) is
// true here. Where one of them differs, the pid is another's, or the base folder is
// looked at from somewhere else: that is Unknown. Only the boot may differ, and then
// only if no such process is there: the machine was started again.
func (id Identity) Observe() (Liveness, error) {
	switch err := id.prove(); {
	case err == nil:
		return Alive, nil
	case errors.Is(err, ErrGone):
		return Gone, nil
	default:
		return Unknown, err
	}
}

// prove returns nil if the pid means this very process and it runs, ErrGone if
// it is proved not to, ErrUnproven otherwise.
func (id Identity) prove() error {
	if id.PID <= 0 || id.Boot == "" {
		return fmt.Errorf("%w: no process is recorded", ErrUnproven)
	}
	now, err := here()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	if what := id.elsewhere(now); what != "" {
		return fmt.Errorf("%w: it was recorded %s", ErrUnproven, what)
	}
	p, err := lookup(id.PID)
	switch {
	case errors.Is(err, ErrGone):
		return ErrGone
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnproven, err)
	case p.Start != id.Start, p.zombie:
		return ErrGone
	case id.Boot != now.Boot:
		return fmt.Errorf("%w: it was recorded in another boot, and yet there is a process with its number and start", ErrUnproven)
	}
	return nil
}

// elsewhere says in which other place an identity was recorded than this process sees,
// "" if in this one.
func (id Identity) elsewhere(now Identity) string {
	for _, place := range []struct{ recorded, now, what string }{
		{id.Machine, now.Machine, "on another machine"},
		{id.Namespace, now.Namespace, "in another pid namespace"},
		{id.Clock, now.Clock, "in another time namespace"},
		{id.HostName, now.HostName, "under another host name (" + id.HostName + ")"},
	} {
		if place.recorded != place.now {
			return place.what
		}
	}
	return ""
}

// Wait returns nil when the process has ended, whether or not it is a child of
// ours and without taking its exit status from its parent. It returns the
// context's error when that ends first, ErrUnproven if there is nothing to watch.
func (id Identity) Wait(ctx context.Context) error {
	err := id.await(ctx)
	switch {
	case err == nil, errors.Is(err, ErrGone):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("wait for pid %d: %w", id.PID, ctx.Err())
	}
	return fmt.Errorf("wait for pid %d: %w", id.PID, err)
}

// pollInterval paces the watch over a process where the system tells no one.
const pollInterval = 50 * time.Millisecond

// poll is await for systems and processes without a notification.
func (id Identity) poll(ctx context.Context) error {
	tick := time.Tick(pollInterval)
	for {
		if err := id.prove(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
		}
	}
}
