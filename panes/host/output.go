package host

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ringSize is how far a viewer or the screen model may fall behind.
const ringSize = 1 << 20

// hostWriteLimit bounds how long a line of the host's own waits for the pane.
const hostWriteLimit = time.Second

// output is where everything goes that the pane shows: the transcript, the ring
// (viewers, screen, tail), then the pane itself. Only the pane may make it wait,
// as it would make the program itself wait.
type output struct {
	terminal   *terminal // nil when headless
	transcript *Transcript
	ring       *ring

	mu    sync.Mutex
	modes *modes
	last  time.Time
}

// put passes on p; limit as for terminal.write.
func (o *output) put(p []byte, limit time.Duration) {
	o.mu.Lock()
	o.last = time.Now()
	o.modes.write(p)
	if o.transcript != nil {
		o.transcript.Write(p)
	}
	o.ring.write(p)
	o.mu.Unlock()
	if o.terminal != nil {
		o.terminal.write(p, limit)
	}
}

// lastAt returns when something came last.
func (o *output) lastAt() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// mode tells whether the program has switched a private mode on.
func (o *output) mode(n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.modes.on[n]
}

// setting returns the sequences that bring a viewer's terminal into the modes.
func (o *output) setting() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.modes.setting()
}

// calm takes back the modes that a program left behind when it ended: nobody can
// read a pane that is still on the other screen and reports the mouse.
func (o *output) calm() {
	o.mu.Lock()
	undo := o.modes.undoing()
	o.modes = newModes()
	o.mu.Unlock()
	if len(undo) > 0 {
		o.put(append(undo, "\x1b[0m"...), hostWriteLimit)
	}
}

// pump passes on what it reads until there is no more, or the source is closed.
func (o *output) pump(from *os.File, copyTo io.Writer, lines bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := readMost(from, buf)
		if n > 0 {
			if copyTo != nil {
				copyTo.Write(buf[:n])
			}
			p := buf[:n]
			if lines {
				p = withReturns(p)
			}
			o.put(p, 0)
		}
		if err != nil { // EIO when the last process has left the terminal
			return
		}
	}
}

// terminalRead is the least that tells a terminal with more to give: the system hands
// out what it holds by pages, and less than one at a time.
const terminalRead = 2 << 10

// readMost is Read, but takes along what else is there at once: every step after it
// costs by the call. The source must be one that can be polled.
func readMost(from *os.File, buf []byte) (n int, err error) {
	if n, err = from.Read(buf); err != nil || n < terminalRead {
		return n, err
	}
	conn, err := from.SyscallConn()
	if err != nil {
		return n, nil
	}
	conn.Read(func(fd uintptr) bool {
		for n < len(buf) {
			more, err := unix.Read(int(fd), buf[n:])
			if more <= 0 || err != nil { // the next Read tells why
				break
			}
			n += more
		}
		return true
	})
	return n, nil
}

// withReturns makes line breaks what a raw terminal needs.
func withReturns(p []byte) []byte {
	p = bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
}

// tailSize bounds what Tail and Capture look at without a screen.
const tailSize = 256 << 10

// tail returns the last lines of the output.
func (o *output) tail(lines int, ansi bool) (text string, truncated bool) {
	raw, _, truncated := o.ring.tail(tailSize)
	if ansi {
		raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	} else {
		raw = plainText(raw)
	}
	cut := lastLines(raw, lines)
	return string(cut), truncated && len(cut) == len(raw)
}
