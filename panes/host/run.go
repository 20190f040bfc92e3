package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// program is what runs now.
type program struct {
	cmd     *exec.Cmd
	id      signals.Identity
	master  *os.File // our side of its terminal; nil for a job
	tty     string   // its own side
	queue   *queue   // what is typed; nil for a job
	sources []*os.File
	input   *os.File      // a job's end of its input; nil on a terminal
	fed     chan bool     // tells whether all of the input was written
	pumped  chan struct{} // closed when all its output was passed on
	started time.Time
}

// Run starts one program, waits for its end, then ends every process it left
// behind (see signals.TreeKiller for what is spared) and passes on the rest of its
// output. If ctx ends first, the program is ended like by End. A program that
// could not be started is an error and also Exit.StartErr: INVALID_ARGUMENT for
// the folder or the arguments, PROGRAM_NOT_FOUND, PERMISSION_DENIED, SPAWN_FAILED.
// An exit code other than 0 is no error. One program runs at a time, and none is
// started once the host is closing.
func (h *Host) Run(ctx context.Context, c Command) (Exit, error) {
	if err := h.claim(); err != nil {
		return Exit{StartErr: err}, err
	}
	p, err := h.start(c)
	if err != nil {
		exit := notStarted(err)
		h.record(exit)
		return exit, err
	}
	stop := context.AfterFunc(ctx, func() { h.End(context.WithoutCancel(ctx), h.term, DefaultKill) })
	defer stop()
	select {
	case <-h.closing: // it began between the look and the start
		h.tasks.Go(func() { h.End(context.Background(), h.term, DefaultKill) })
	default:
	}
	gone := make(chan struct{})
	go func() { // also while others are told of it
		p.cmd.Wait()
		h.setProgram(nil)
		close(gone)
	}()
	if c.Started != nil {
		if err = c.Started(); err != nil {
			h.tasks.Go(func() { h.End(context.WithoutCancel(ctx), h.term, DefaultKill) })
		}
	}
	h.watchStart(p) // now: who is told that it has lasted finds what Started wrote
	<-gone
	exit := exitOf(p.cmd.ProcessState)
	exit.StartedAt = p.started
	if p.queue != nil {
		p.queue.close()
	}
	report, left := h.End(context.WithoutCancel(ctx), h.term, DefaultKill)
	if left != nil {
		h.opt.Log.Warn("end what was left", "error", left)
	}
	exit.InputRead = p.tookInput()
	h.drain(p, len(report.Leftovers)+len(report.Survivors) > 0)
	exit.Leftovers = signals.Lines(report.Leftovers)
	h.record(exit)
	return exit, err
}

// notStarted has the code a shell would give.
func notStarted(err error) Exit {
	exit := Exit{Code: 126, StartErr: err, StartedAt: time.Now()}
	if errors.Is(err, fault.ProgramNotFound) {
		exit.Code = 127
	}
	return exit
}

func (h *Host) claim() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.running:
		return fault.New(fault.LimitReached, "a program runs in this pane already")
	case h.cause != "":
		return fault.New(fault.RecipientInactive, "the host is closing: %s", h.cause)
	}
	h.running = true
	return nil
}

func (h *Host) setProgram(p *program) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.program = p
	if p != nil {
		h.fit(p, h.rows, h.cols) // the pane may have another size by now
	}
	h.input.begin()
	h.notify()
}

// record keeps how a program ended, tells those who wait for it, and ends the claim: who
// asks between the two would wait for the next one.
func (h *Host) record(exit Exit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exit, h.running = &exit, false
	h.notify()
}

// start checks and starts the program.
func (h *Host) start(c Command) (*program, error) {
	cmd, err := c.prepare(h.opt.ID)
	if err != nil {
		return nil, err
	}
	p := &program{cmd: cmd, pumped: make(chan struct{})}
	if c.Pipes {
		err = h.startJob(p, c)
	} else {
		err = h.startOnTerminal(p, c)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// launch starts the process and takes its identity: it cannot be gone, since
// nobody has waited for it, but it may have ended.
func (p *program) launch(c Command) error {
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return startFault(c, err)
	}
	if id, err := signals.Identify(p.cmd.Process.Pid); err == nil {
		p.id = id
	}
	return nil
}

// startOnTerminal gives the program a session and a terminal of its own.
func (h *Host) startOnTerminal(p *program, c Command) error {
	opened, tty, err := pty.Open()
	if err != nil {
		return fault.New(fault.SpawnFailed, "open a terminal: %w", err)
	}
	defer tty.Close()
	p.tty = tty.Name()
	if p.master, err = pollable(opened); err != nil {
		return fault.New(fault.SpawnFailed, "open a terminal: %w", err)
	}
	h.mu.Lock()
	rows, cols := h.rows, h.cols
	h.mu.Unlock()
	h.fit(p, rows, cols)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.launch(c); err != nil {
		p.master.Close()
		return err
	}
	p.queue = newQueue(p.master)
	p.sources = []*os.File{p.master}
	h.setProgram(p) // before anything it writes is seen: who sees that may type
	go func() {
		defer close(p.pumped)
		h.out.pump(p.master, nil, false)
	}()
	return nil
}

// pollable makes a file whose reads and writes have deadlines, and closes the
// one it was made from.
func pollable(f *os.File) (*os.File, error) {
	defer f.Close()
	fd := -1
	err := control(f, func(old int) (err error) {
		fd, err = unix.FcntlInt(uintptr(old), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// How long the rest of the output may take after everything has ended: first for the pane
// to take it, then, without the pane, for what a spared process holds open.
const (
	drainLimit = 2 * time.Second  // while the pane takes nothing of it, or once the host is closing
	drainMost  = 30 * time.Second // for a pane that takes it slowly
	abortLimit = 500 * time.Millisecond
)

// drain waits for the rest of the output and closes what carried it. What others write who
// are still there is no reason to wait for longer.
func (h *Host) drain(p *program, others bool) {
	most := drainMost
	if others {
		most = drainLimit
	}
	switch {
	case h.terminal == nil:
		closedWithin(p.pumped, drainLimit)
	case !h.terminal.taken.await(p.pumped, drainLimit, most, h.closing):
		h.terminal.abort()
	}
	if !closedWithin(p.pumped, abortLimit) {
		for _, f := range p.sources {
			f.SetDeadline(time.Unix(1, 0))
		}
		closedWithin(p.pumped, abortLimit)
	}
	for _, f := range p.sources {
		f.Close()
	}
	if h.terminal != nil {
		h.terminal.resume()
	}
	if p.queue != nil {
		h.out.calm()
	}
}

func closedWithin(ch <-chan struct{}, limit time.Duration) bool {
	select {
	case <-ch:
		return true
	case <-time.After(limit):
		return false
	}
}

// End takes down what runs, with everything below it and everything that carries
// the host's id: TERM, after term KILL, for at most kill; a term of 0 kills at
// once. While the program runs, TERM goes to its session alone: to pass it on is
// the program's business, and what has left its session (setsid) did so to outlive
// it and is killed once the session is gone. Nothing running is success. Ladders
// are climbed one at a time. The error is UNPROVEN if something may still run; the
// report names it.
func (h *Host) End(ctx context.Context, term, kill time.Duration) (signals.Report, error) {
	h.ending <- struct{}{}
	defer func() { <-h.ending }()
	e := signals.TreeKiller{Host: h.opt.ID, Adopted: true, Term: term, Kill: kill}
	h.mu.Lock()
	if h.program != nil {
		leader := h.program.id.PID
		if root, err := signals.Own(leader); err == nil { // else it has ended, and what it left comes to us
			e.Roots = append(e.Roots, root)
		}
		e.Asked = func(p signals.Process) bool { return p.SID == leader }
	}
	h.mu.Unlock()
	report, err := e.Run(ctx)
	h.mu.Lock()
	h.killed = h.cause != "" && (h.killed || report.Killed) // also by who asked before this one
	report.Killed = report.Killed || h.killed
	h.mu.Unlock()
	if err == nil && len(report.Survivors) > 0 {
		err = fault.New(fault.Unproven, "%d processes could not be ended: %v", len(report.Survivors), report.Survivors)
	}
	return report, err
}
