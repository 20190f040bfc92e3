package signals

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// here returns an Identity with everything but pid and start time filled in. The
// boot session's UUID changes with every boot; macOS has no pid namespaces, and
// no id of the machine that a process may read; folders shared between two Macs are
// told apart by the host's name.
var here = once(func() (Identity, error) {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return Identity{}, err
	}
	name, err := os.Hostname()
	return Identity{Boot: boot, HostName: name}, err
})

// Process states and flags of sys/proc.h.
const (
	stateZombie = 5
	noDevice    = -1
)

// lookup asks the kernel for one process (sysctl kern.proc.pid).
func lookup(pid int) (Process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err == nil && int(k.Proc.P_pid) == pid {
		return row(k), nil
	}
	// An empty answer for a pid that is free, or one that is hidden from us.
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return Process{}, ErrGone
	}
	if err == nil {
		err = ErrUnproven
	}
	return Process{}, err
}

// processes reads the whole table (sysctl kern.proc.all), all of it at once.
func processes() (table []Process, vanished bool, err error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, false, err
	}
	table = make([]Process, 0, len(all))
	for i := range all {
		table = append(table, row(&all[i]))
	}
	return table, false, nil
}

func row(k *unix.KinfoProc) Process {
	p := Process{
		PPID:    int(k.Eproc.Ppid),
		PGID:    int(k.Eproc.Pgid),
		Command: unix.ByteSliceToString(k.Proc.P_comm[:]),
		zombie:  k.Proc.P_stat == stateZombie,
		noTTY:   k.Eproc.Tdev == noDevice,
	}
	p.PID = int(k.Proc.P_pid)
	start := k.Proc.P_starttime
	p.Start = uint64(start.Sec)*1e6 + uint64(start.Usec)
	if sid, err := unix.Getsid(p.PID); err == nil {
		p.SID = sid
	}
	return p
}

// argv returns the arguments of a process, nil where they may not be read.
func argv(pid int) []string {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil
	}
	args, _, err := parseProcArgs(raw)
	if err != nil {
		return nil
	}
	return args
}

// environ returns the environment of a process; ok is false where it may not be read
// (another user's, or protected by the system).
func environ(pid int) (variables [][]byte, ok bool) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, false
	}
	_, variables, err = parseProcArgs(raw)
	return variables, err == nil && len(variables) > 0
}

// becoming is not to be seen on macOS.
func becoming(Process) bool { return false }

// isTmuxServer tells the server from its clients: it has left its terminal.
func isTmuxServer(p Process) bool {
	return p.noTTY && (p.Command == "tmux" || len(p.Argv) > 0 && filepath.Base(p.Argv[0]) == "tmux")
}

// send is for Proof.Signal alone.
func (id Identity) send(sig syscall.Signal) error {
	if err := id.prove(); err != nil {
		return err
	}
	return syscall.Kill(id.PID, sig)
}

// wakeEvent is the identifier of the event that ends a wait early.
const wakeEvent = 1

// await watches the process with kqueue, which also tells of processes that are
// no children of ours.
func (id Identity) await(ctx context.Context) error {
	kq, err := unix.Kqueue()
	if err != nil {
		return id.poll(ctx)
	}
	defer unix.Close(kq)
	unix.CloseOnExec(kq)
	watch := []unix.Kevent_t{
		{Ident: uint64(id.PID), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT},
		{Ident: wakeEvent, Filter: unix.EVFILT_USER, Flags: unix.EV_ADD | unix.EV_CLEAR},
	}
	if _, err := unix.Kevent(kq, watch, nil, nil); err != nil {
		return id.poll(ctx)
	}
	if err := id.prove(); err != nil { // after the watch stands, so that no exit falls between
		return err
	}
	var wakes sync.WaitGroup
	wakes.Add(1)
	stop := context.AfterFunc(ctx, func() {
		defer wakes.Done()
		wake := []unix.Kevent_t{{Ident: wakeEvent, Filter: unix.EVFILT_USER, Fflags: unix.NOTE_TRIGGER}}
		unix.Kevent(kq, wake, nil, nil)
	})
	defer func() {
		if !stop() {
			wakes.Wait() // the queue must not be closed under it
		}
	}()
	return next(ctx, kq)
}

func next(ctx context.Context, kq int) error {
	events := make([]unix.Kevent_t, 1)
	for {
		n, err := unix.Kevent(kq, nil, events, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 1 && events[0].Filter == unix.EVFILT_PROC:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// Subreaper does nothing on macOS, which has none: orphans go to launchd and are
// found by their mark.
func Subreaper() error { return nil }

// ReapOrphans waits for the end of ctx: on macOS orphans are launchd's.
func ReapOrphans(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// orphansComeToUs is false: launchd adopts them.
const orphansComeToUs = false

// adopted returns nothing on macOS.
func adopted(func(int) []Process) []Process { return nil }

// childPIDs is not to be had from macOS: the table is one call of sysctl there.
func childPIDs(int) ([]int, error) { return nil, errors.ErrUnsupported }

// cpuOf is not to be had either: every moment counts as a chance to run.
func cpuOf(int) (cpuUse, bool) { return cpuUse{}, false }

// workingFolder is not told by this system without a private interface.
func workingFolder(int) string { return "" }
