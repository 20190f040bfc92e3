// Package oneshot runs programs that answer and end, such as a command of tmux or git, or a
// client that is asked for its version. What such a program leaves running does not make its
// answer a failure; and who is not waited for any more ends with all that it has started.
package oneshot

import (
	"cmp"
	"context"
	"errors"
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
)

// Run runs the program. That its output is still held open after it ended well is no
// error: what it had to say itself has been read by then. A WaitDelay that the caller has
// set stays.
func Run(c *exec.Cmd) error {
	bound(c)
	return heard(c.Run())
}

// Output is Run, and returns what the program printed.
func Output(c *exec.Cmd) ([]byte, error) {
	bound(c)
	out, err := c.Output()
	return out, heard(err)
}

// bound makes the end of the context that of the program's whole tree: a wrapper in shell
// would leave what it wraps.
func bound(c *exec.Cmd) {
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
		return end(c.Process.Pid)
	}
}

// end ends a program that nobody has waited for, what descends from it, and its group.
func end(pid int) error {
	group, noGroup := signals.OwnGroup(pid)
	root, err := signals.Own(pid)
	if err == nil {
		_, err = signals.TreeKiller{Roots: []signals.Proof{root}, Kill: killLimit}.Run(context.Background())
	}
	if noGroup == nil {
		if gone := group.Signal(syscall.SIGKILL); !errors.Is(gone, signals.ErrGone) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// heard is the error of a run; exec.ErrWaitDelay is only told of a program that ended well.
func heard(err error) error {
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}
