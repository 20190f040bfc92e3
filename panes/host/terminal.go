package host

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// terminal is a terminal of somebody else (the pane's, a viewer's) that is ours
// for a while: raw while it is, given back as it was.
type terminal struct {
	given *os.File // as it came; its mode is what is changed
	file  *os.File // where it is read and written
	saved *term.State
	busy  chan struct{} // holds one token while somebody writes
	taken *progress     // of what is written
	dead  atomic.Bool   // a write failed: the pane is gone
	stuck atomic.Bool   // from abort to resume: what has no limit is not written
}

// openTerminal takes f over. It is opened once more by its name, where that is
// possible, so that reads and writes can be called off without touching the flags
// of a descriptor that others share.
func openTerminal(f *os.File) (*terminal, error) {
	t := &terminal{given: f, file: f, busy: make(chan struct{}, 1), taken: newProgress()}
	err := control(f, func(fd int) (err error) {
		t.saved, err = term.MakeRaw(fd)
		return err
	})
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s is not a terminal: %w", f.Name(), err)
	}
	if name := ttyName(f); name != "" {
		if own, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0); err == nil {
			t.file = own
		}
	}
	return t, nil
}

// close calls off reads and writes and restores the mode.
func (t *terminal) close() {
	if t.file != t.given {
		t.file.Close()
	}
	_ = control(t.given, func(fd int) error { return term.Restore(fd, t.saved) })
}

// write writes all of p unless the terminal is gone, somebody else is stuck in a
// write, or limit passes (0 = as long as it takes, or until abort). What is not written is
// lost: a pane that does not take output must not stop what it shows.
func (t *terminal) write(p []byte, limit time.Duration) {
	if t.dead.Load() {
		return
	}
	if limit > 0 {
		select {
		case t.busy <- struct{}{}:
		case <-time.After(limit):
			return
		}
	} else {
		t.busy <- struct{}{}
	}
	defer func() { <-t.busy }()
	for {
		t.file.SetWriteDeadline(time.Now().Add(cmp.Or(limit, writeAgain)))
		if limit == 0 && t.stuck.Load() { // looked at after that, so that abort is not undone
			return
		}
		n, err := writeAll(t.file, p, t.taken.note)
		late := errors.Is(err, os.ErrDeadlineExceeded)
		if err != nil && !late {
			t.dead.Store(true)
		}
		if !late || limit > 0 {
			return
		}
		p = p[n:]
	}
}

// writeAgain is when a write is tried again that waits: a terminal may tell that it takes more
// before it does, and not again until more of what it holds is read.
const writeAgain = 500 * time.Millisecond

// abort makes a write that is stuck return, where the system can do that, and those that
// follow.
func (t *terminal) abort() {
	t.stuck.Store(true)
	t.file.SetWriteDeadline(time.Unix(1, 0))
}

// resume ends an abort. The deadline is set by who writes next.
func (t *terminal) resume() { t.stuck.Store(false) }

// size returns rows and columns.
func (t *terminal) size() (rows, cols int, err error) { return sizeOf(t.given) }

// followSize calls resized with the size now and after every change, until ctx ends.
func (t *terminal) followSize(ctx context.Context, resized func(rows, cols int)) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	for {
		if rows, cols, err := t.size(); err == nil {
			resized(rows, cols)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// control runs f on the descriptor without changing its blocking mode, as
// File.Fd would.
func control(file *os.File, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

func termiosOf(f *os.File) (t *unix.Termios, err error) {
	err = control(f, func(fd int) (err error) {
		t, err = unix.IoctlGetTermios(fd, getTermiosRequest)
		return err
	})
	return t, err
}

func sizeOf(f *os.File) (rows, cols int, err error) {
	err = control(f, func(fd int) (err error) {
		cols, rows, err = term.GetSize(fd)
		return err
	})
	return rows, cols, err
}

func setSize(f *os.File, rows, cols int) error {
	return control(f, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(cols)})
	})
}

// The largest size that is believed: a screen model costs memory by the cell.
const (
	mostRows = 500
	mostCols = 1000
)

// plausible brings a size into bounds; what is missing gets the classic value.
func plausible(rows, cols int) (int, int) {
	if rows <= 0 {
		rows = 24
	}
	if cols <= 0 {
		cols = 80
	}
	return min(rows, mostRows), min(cols, mostCols)
}
