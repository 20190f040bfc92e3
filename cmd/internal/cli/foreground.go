package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/leadlight-dev/leadlight/signals"
	"golang.org/x/sys/unix"
)

// foreground runs a program in this one's place at the terminal and returns its exit
// status. When it stops itself (^Z), so does this process, and the shell has the
// terminal again; both go on together. If ctx ends, it is sent SIGTERM.
//
// From its start on this process takes no SIGINT: the terminal sends one to both, and
// what it means is the program's to say. What comes after the program is short.
func foreground(ctx context.Context, argv, environ []string) (status int, err error) {
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Env: environ, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	signal.Ignore(syscall.SIGINT) // not before: the program would inherit it
	defer func() { _ = p.Release() }()
	stop := context.AfterFunc(ctx, func() { _ = tell(p.Pid, syscall.SIGTERM) })
	defer stop()
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(p.Pid, &ws, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for %s: %w", argv[0], err)
		case ws.Stopped():
			if err := tell(os.Getpid(), syscall.SIGSTOP); err != nil {
				return 0, fmt.Errorf("stop with %s: %w", argv[0], err)
			}
			_ = tell(p.Pid, syscall.SIGCONT) // it may be that only we were continued
		case ws.Signaled():
			return 128 + int(ws.Signal()), nil
		case ws.Exited():
			return ws.ExitStatus(), nil
		}
	}
}

// tell signals a program that this process has started, or this process itself.
func tell(pid int, sig syscall.Signal) error {
	p, err := signals.Own(pid)
	if err != nil {
		return err
	}
	return p.Signal(sig)
}
