package signals

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Proof is a process, or a process group, that is proved to be ours to signal. Only the
// checks of this package make one; the zero value proves nothing. What a record says is no
// proof: whoever has only that must look at the process.
type Proof struct {
	id    Identity
	group bool // all of the group that it leads
}

// Own proves this process itself, or one that it has started and not yet waited for.
func Own(pid int) (Proof, error) {
	id, err := Identify(pid)
	if err != nil {
		return Proof{}, err
	}
	p, err := id.Describe()
	if err != nil {
		return Proof{}, err
	}
	if pid != os.Getpid() && p.PPID != os.Getpid() {
		return Proof{}, fmt.Errorf("pid %d is no child of this process: %w", pid, ErrUnproven)
	}
	return Proof{id: id}, nil
}

// OwnGroup proves the process group that was made for a child of this process, which has
// not yet waited for it. Who is in it may outlive the child.
func OwnGroup(pid int) (Proof, error) {
	place, err := here()
	if err != nil {
		return Proof{}, err
	}
	p, err := lookup(pid)
	if err != nil {
		return Proof{}, fmt.Errorf("look at pid %d: %w", pid, err)
	}
	if pid <= 1 || p.PPID != os.Getpid() || p.PGID != pid {
		return Proof{}, fmt.Errorf("pid %d is no child of this process with a group of its own: %w", pid, ErrUnproven)
	}
	return Proof{place.of(pid, p.Start), true}, nil
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
	return Proof{id: id}, nil
}

// Signal is the only place from which this program signals: it sends sig to this very
// process, or group, and to no other. The error is ErrGone if it has ended, ErrUnproven if
// nothing is proved, or the system's (syscall.EPERM). Pids up to 1 are never signalled.
func (p Proof) Signal(sig syscall.Signal) (err error) {
	switch {
	case p.id.PID <= 1:
		err = ErrUnproven
	case p.group:
		err = p.id.sendGroup(sig)
	default:
		err = p.id.send(sig)
	}
	if errors.Is(err, syscall.ESRCH) {
		err = ErrGone
	}
	if err != nil {
		return fmt.Errorf("signal pid %d: %w", p.id.PID, err)
	}
	return nil
}

// sendGroup signals a group by the number of its leader. That is given out again only when
// neither the leader nor anybody of its group is left.
func (id Identity) sendGroup(sig syscall.Signal) error {
	switch p, err := lookup(id.PID); {
	case err != nil && !errors.Is(err, ErrGone):
		return errors.Join(ErrUnproven, err)
	case err == nil && p.Start != id.Start:
		return ErrGone
	}
	return syscall.Kill(-id.PID, sig)
}
