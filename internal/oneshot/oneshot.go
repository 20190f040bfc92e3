// Package oneshot runs programs that answer and end, such as a command of tmux or git, or a
// client that is asked for its version. It has one duty: what such a program leaves running
// does not make its answer a failure.
package oneshot

import (
	"errors"
	"os/exec"
	"time"
)

// drain is how long the output of a program that has ended, or was ended, may still be held
// open: by what it has left running, or by a server to which it gave it.
const drain = time.Second

// Run runs the program. That its output is still held open after it ended well is no
// error: what it had to say itself has been read by then.
func Run(c *exec.Cmd) error {
	c.WaitDelay = drain
	return heard(c.Run())
}

// Output is Run, and returns what the program printed.
func Output(c *exec.Cmd) ([]byte, error) {
	c.WaitDelay = drain
	out, err := c.Output()
	return out, heard(err)
}

// heard is the error of a run; exec.ErrWaitDelay is only told of a program that ended well.
func heard(err error) error {
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}
