package signals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
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
}

// Self returns the identity of this process.
func Self() (Identity, error) { return Identify(os.Getpid()) }

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
	id.PID, id.Start = pid, p.Start
	return id, nil
}

// Probe tells whether the process runs. Gone is said only with proof: the pid is
// free, belongs to a process that started at another time, or the machine was
// booted since. A process of another machine or another pid namespace, or one
// that may not be looked at, is Unknown.
func (id Identity) Probe() Liveness {
	switch err := id.prove(); {
	case err == nil:
		return Alive
	case errors.Is(err, ErrGone):
		return Gone
	}
	return Unknown
}

// prove returns nil if the pid means this very process and it runs, ErrGone if
// it is proved not to, ErrUnproven otherwise.
func (id Identity) prove() error {
	if id.PID <= 0 || id.Boot == "" {
		return ErrUnproven
	}
	now, err := here()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	if id.Boot != now.Boot {
		if id.Machine != now.Machine {
			return fmt.Errorf("%w: it ran on another machine", ErrUnproven)
		}
		return ErrGone
	}
	if id.Namespace != now.Namespace {
		return fmt.Errorf("%w: it runs in another pid namespace", ErrUnproven)
	}
	p, err := lookup(id.PID)
	switch {
	case errors.Is(err, ErrGone):
		return ErrGone
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnproven, err)
	case p.Start != id.Start, p.zombie:
		return ErrGone
	}
	return nil
}

// Signal sends sig to this very process and to no other. The error is ErrGone if
// it has ended, ErrUnproven if it could not be identified, or the system's
// (syscall.EPERM). Pids up to 1 are never signalled.
func (id Identity) Signal(sig syscall.Signal) error {
	if id.PID <= 1 {
		return fmt.Errorf("signal pid %d: %w", id.PID, ErrUnproven)
	}
	if err := id.send(sig); err != nil {
		return fmt.Errorf("signal pid %d: %w", id.PID, err)
	}
	return nil
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
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if err := id.prove(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
