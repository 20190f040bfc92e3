package host

import (
	"context"
	"os"
	"os/exec"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/leadlight-dev/leadlight/internal/begin"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// takeOver makes a program of what was started before the host. It is held as package os holds
// its children, so that it is not taken for an orphan.
func takeOver(b *begin.Program) (*program, error) {
	running, err := signals.Hold(b.PID)
	if err != nil {
		return nil, fault.New(fault.SpawnFailed, "take process %d over: %w", b.PID, err)
	}
	if err := unix.SetNonblock(b.Master, true); err != nil {
		return nil, fault.New(fault.SpawnFailed, "take the terminal of process %d over: %w", b.PID, err)
	}
	p := &program{
		cmd: &exec.Cmd{Path: b.Path, Args: b.Argv, Dir: b.Dir, Env: b.Env, Process: running},
		tty: b.TTY, master: os.NewFile(uintptr(b.Master), "/dev/ptmx"), pumped: make(chan struct{}), started: b.At,
	}
	if id, err := signals.Identify(b.PID); err == nil {
		p.id = id
	}
	return p, nil
}

// takeBegun returns what was started before the host, once; nil if that is not what c asks for. Then it
// is ended.
func (h *Host) takeBegun(c Command) *program {
	h.mu.Lock()
	p := h.begun
	wanted := p != nil && !c.Pipes && c.Dir == p.cmd.Dir && slices.Equal(c.Argv, p.cmd.Args)
	if wanted {
		h.begun, h.program = nil, p
	}
	h.mu.Unlock()
	if p == nil || wanted {
		return p
	}
	h.log.Warn("what was started is not what the launch record says: it is ended", "argv", p.cmd.Args)
	go func() { _ = p.cmd.Wait() }()
	if _, err := h.End(context.Background(), 0, h.kill); err != nil {
		h.log.Error("end what was started", "error", err)
	}
	p.master.Close()
	h.mu.Lock()
	h.begun = nil
	h.mu.Unlock()
	return nil
}

// EndBegun ends what was started for a host that could not be made, with all below it.
func EndBegun(ctx context.Context, b *begin.Program) error {
	e := signals.TreeKiller{Host: b.Host, Adopted: true, Kill: DefaultKill}
	if root, err := signals.Own(b.PID); err == nil { // else it has ended, and what it left comes to us
		e.Roots = append(e.Roots, root)
	}
	_, err := e.Run(ctx)
	return err
}
