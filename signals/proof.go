package signals

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Proof is a process that is proved to be ours to signal. Only the checks of this file
// make one; the zero value proves nothing. What a record says is no proof: whoever has
// only that must look at the process.
type Proof struct{ id Identity }

// Child proves a process that this one has started and not yet waited for.
func Child(pid int) (Proof, error) {
	id, err := Identify(pid)
	if err != nil {
		return Proof{}, err
	}
	p, err := id.Describe()
	if err != nil {
		return Proof{}, err
	}
	if p.PPID != os.Getpid() {
		return Proof{}, fmt.Errorf("pid %d is no child of this process: %w", pid, ErrUnproven)
	}
	return Proof{id}, nil
}

// Prove proves a process by what it is now: ours says of the running process, with its
// command line, whether it is the one that is meant. One that has ended is ErrGone.
func Prove(id Identity, ours func(Process) bool) (Proof, error) {
	p, err := id.Describe()
	switch {
	case errors.Is(err, ErrGone):
		return Proof{}, err
	case err != nil || !ours(p):
		return Proof{}, fmt.Errorf("pid %d does not prove to be ours: %w", id.PID, errors.Join(ErrUnproven, err))
	}
	return Proof{id}, nil
}

// Signal sends sig to this very process and to no other. The error is ErrGone if it has
// ended, ErrUnproven if nothing is proved, or the system's (syscall.EPERM). Pids up to 1
// are never signalled.
func (p Proof) Signal(sig syscall.Signal) error { return p.id.signal(sig) }
