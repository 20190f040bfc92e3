package signals

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// withoutPidfd tells the errors of kernels and sandboxes that have no pidfds
// (Linux < 5.3, seccomp filters) from those that speak about the process.
func withoutPidfd(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL)
}

// open returns a pidfd that is proved to mean this very process: what the number
// meant after the descriptor was opened, the descriptor has meant all along.
func (id Identity) open() (int, error) {
	fd, err := unix.PidfdOpen(id.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		if proof := id.prove(); proof != nil {
			return -1, proof
		}
		return -1, err
	}
	if err := id.prove(); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// send is for Proof.Signal alone.
func (id Identity) send(sig syscall.Signal) error {
	fd, err := id.open()
	if err != nil {
		if !withoutPidfd(err) {
			return err
		}
		// Identified a moment ago; without a pidfd that is as near as one gets.
		return syscall.Kill(id.PID, sig)
	}
	defer unix.Close(fd)
	err = unix.PidfdSendSignal(fd, sig, nil, 0)
	if errors.Is(err, unix.ENOSYS) {
		err = syscall.Kill(id.PID, sig)
	}
	return err
}

// await waits on the pidfd through the runtime's poller: no thread is blocked.
func (id Identity) await(ctx context.Context) error {
	fd, err := id.open()
	if err != nil {
		if withoutPidfd(err) {
			return id.poll(ctx)
		}
		return err
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		return id.poll(ctx) // the poller does not take it
	}
	stop := context.AfterFunc(ctx, func() { f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(ended)
}

// ended tells whether a pidfd is readable, which it is from the process's end on.
func ended(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == nil && n == 1 && p[0].Revents&unix.POLLIN != 0
}
