package signals

import (
	"errors"
	"os"
)

// lineage is one look at who descends from whom.
type lineage interface {
	// find returns the process of an identity, if it runs.
	find(Identity) (Process, bool)
	// below returns the children of pid, the ended ones too.
	below(pid int) []Process
	// unsettled tells that somebody ended while the look was taken.
	unsettled() bool
}

// inTable is a lineage read from a whole process table.
type inTable struct{ Table }

func (l inTable) find(id Identity) (Process, bool) {
	p, ok := l.Find(id.PID)
	return p, ok && p.Identity == id && !p.zombie
}

func (l inTable) below(pid int) []Process {
	var found []Process
	for _, child := range l.children[pid] {
		found = append(found, l.byPID[child])
	}
	return found
}

func (l inTable) unsettled() bool { return l.vanished }

// inKernel is a lineage for which the kernel's lists of children are read: it costs as
// much as there are descendants, whatever else runs on the machine.
type inKernel struct {
	base     Identity
	vanished bool
}

// newInKernel returns nil where the kernel has no such lists.
func newInKernel() *inKernel {
	base, err := here()
	if err != nil {
		return nil
	}
	if _, err := childPIDs(os.Getpid()); err != nil {
		return nil
	}
	return &inKernel{base: base}
}

func (l *inKernel) read(pid int) (Process, error) {
	p, err := lookup(pid)
	p.Identity = l.base.of(pid, p.Start)
	return p, err
}

func (l *inKernel) find(id Identity) (Process, bool) {
	p, err := l.read(id.PID)
	return p, err == nil && p.Identity == id && !p.zombie
}

// below passes over a child that has ended since it was listed. The kernel's list may
// then lack another one: the look is to be taken again. See proc_pid_task(5).
func (l *inKernel) below(pid int) []Process {
	pids, err := childPIDs(pid)
	if err != nil {
		l.vanished = true
		return nil
	}
	var found []Process
	for _, child := range pids {
		p, err := l.read(child)
		if err != nil {
			l.vanished = l.vanished || errors.Is(err, ErrGone)
			continue
		}
		found = append(found, p)
	}
	return found
}

func (l *inKernel) unsettled() bool { return l.vanished }
