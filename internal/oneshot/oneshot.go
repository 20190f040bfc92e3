// Package oneshot runs programs that answer and end, such as a command of tmux or git, or a
// client that is asked for its version. What such a program leaves running does not make its
// answer a failure; and who is not waited for any more ends with all that it has started.
package oneshot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/signals"
)

const (
	// drain is how long the output of a program that has ended, or was ended, may still be
	// held open: by what it has left running, or by a server to which it gave it.
	drain = time.Second
	// killLimit is how long what it has started may take to end.
	killLimit = 2 * time.Second

	// Whole is the WaitDelay of a program whose answer counts to its last byte, and which
	// leaves nothing running: on a busy machine what it has printed may be read late.
	Whole = 10 * time.Second

	// Most is how much a program may print, in bytes. One that prints more is no answer.
	Most = 64 << 20
)

// Run runs the program. That its output is still held open after it ended well is no
// error: what it had to say itself has been read by then. A WaitDelay that the caller has
// set stays.
func Run(c *exec.Cmd) error { return RunTold(c, func(int) {}) }

// RunTold is Run, and tells the pid of the program when it has begun.
func RunTold(c *exec.Cmd, began func(pid int)) error { return run(c, 0, began) }

// RunAsked is Run for a program that has files to tidy up: when its context ends it gets TERM,
// and that long to end, before it is killed.
func RunAsked(c *exec.Cmd, term time.Duration) error { return run(c, term, func(int) {}) }

func run(c *exec.Cmd, term time.Duration, began func(pid int)) error {
	bound(c, term)
	out := &atMost{to: c.Stdout, left: Most}
	said := out // one writer for both stays one
	if c.Stderr != c.Stdout {
		said = &atMost{to: c.Stderr, left: Most}
	}
	if c.Stdout != nil {
		c.Stdout = out
	}
	if c.Stderr != nil {
		c.Stderr = said
	}
	err := c.Start()
	if err == nil {
		began(c.Process.Pid)
		if err = c.Wait(); errors.Is(err, exec.ErrWaitDelay) { // which is only told of a program that ended well
			err = nil
		}
	}
	if out.over || said.over {
		return fmt.Errorf("%s prints more than %d bytes", c.Path, Most)
	}
	return err
}

// Output is Run, and returns what the program printed. An *exec.ExitError has what it said
// on its standard error.
func Output(c *exec.Cmd) ([]byte, error) {
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, cmp.Or[io.Writer](c.Stderr, &said)
	err := Run(c)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		exit.Stderr = said.Bytes()
	}
	return out.Bytes(), err
}

// atMost passes on what is written, as much as is left.
type atMost struct {
	to   io.Writer
	left int
	over bool
}

func (w *atMost) Write(p []byte) (int, error) {
	if len(p) > w.left {
		w.over = true
		return 0, io.ErrShortWrite // its pipe is closed
	}
	w.left -= len(p)
	return w.to.Write(p)
}

// bound makes the end of the context that of the program's whole tree: a wrapper in shell
// would leave what it wraps.
func bound(c *exec.Cmd, term time.Duration) {
	c.WaitDelay = cmp.Or(c.WaitDelay, drain)
	if c.Cancel == nil {
		return // it has no context
	}
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = !c.SysProcAttr.Setsid
	c.Cancel = func() error {
		c.WaitDelay = drain // nothing more is to come
		return end(c.Process.Pid, term)
	}
}

// end ends a program that nobody has waited for, what descends from it, and its group.
func end(pid int, term time.Duration) error {
	group, noGroup := signals.OwnGroup(pid)
	root, err := signals.Own(pid)
	if err == nil {
		_, err = signals.TreeKiller{Roots: []signals.Proof{root}, Term: term, Kill: killLimit}.Run(context.Background())
	}
	if noGroup == nil {
		if gone := group.Signal(syscall.SIGKILL); !errors.Is(gone, signals.ErrGone) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
