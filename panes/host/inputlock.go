package host

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	proof "github.com/leadlight-dev/leadlight/panes/screen"
	"golang.org/x/sys/unix"
)

// InputLock is the keyboard of one: whoever has it types, and the others wait.
type InputLock struct {
	host    *Host
	to      *program
	since   time.Time
	reads   *readWatch // since a line was typed
	editing int        // of the terminal then
}

// LockInput gives f the keyboard. Others wait until f is done; what a person types
// waits, too, but not for long, and then comes between. A since that is not zero
// means: only as long as no person has typed after it, and none has left half a line. That is looked at within the
// turn, before each thing that f types, so that a person who began in the last
// moment is not typed over: REJECTED. Other errors as for Inject.
func (h *Host) LockInput(ctx context.Context, since time.Time, f func(*InputLock) error) error {
	release, err := h.input.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	p, err := h.current()
	if err != nil {
		return err
	}
	if p.queue == nil {
		return fault.New(fault.Unsupported, "what runs in this pane is a job without a terminal: nothing can be typed")
	}
	t := &InputLock{host: h, to: p, since: since}
	defer func() { t.reads.close() }()
	return f(t)
}

// free says whether a person has typed meanwhile, or left a line that is not submitted.
func (t *InputLock) free(ctx context.Context) error {
	switch {
	case t.since.IsZero():
	case t.host.input.typed().lastKey.After(t.since):
		return fault.New(fault.Rejected, "a person is typing")
	case t.host.HalfLine(ctx):
		return fault.New(fault.Rejected, "a line that a person has typed stands there")
	default:
		t.host.input.forget()
	}
	return nil
}

// permit says that something may be typed. There are two ways to it: a screen that shows
// where the text goes, and a request on the host's socket, which is a person's own.
type permit struct{ given bool }

func byScreen(p proof.Proof) permit { return permit{p.Valid()} }

func requested() permit { return permit{true} }

// Type types text and submits it, as Inject does, if there is a proof that it may.
func (t *InputLock) Type(ctx context.Context, given proof.Proof, in Input) error {
	return t.enter(ctx, byScreen(given), in)
}

func (t *InputLock) enter(ctx context.Context, may permit, in Input) error {
	submit, err := submitKey(in.Submit)
	if err != nil {
		return err
	}
	data := in.encode(t.host.out.mode(modeBracketedPaste))
	if len(data)+len(submit) == 0 {
		return fault.New(fault.InvalidArgument, "there is no text to type")
	}
	if t.to.cooked() {
		if longestLine(data) > cookedLine {
			return fault.New(fault.InvalidArgument, "a line of %d bytes: the program's terminal takes %d and drops the rest",
				longestLine(data), cookedLine).WithHint("hand long text over in a file")
		}
		if t.editing = t.to.editing(); t.reads == nil && t.Unread() == 0 && bytes.IndexByte(data, '\r') < 0 {
			t.reads = watchReads(t.to.tty)
		}
		return t.put(ctx, may, append(data, submit...)) // the terminal itself takes line for line: no pause, nobody between
	}
	if err := t.put(ctx, may, data); err != nil || len(submit) == 0 {
		return err
	}
	if _, err := t.IsRead(ctx, DefaultPause); err != nil {
		return fmt.Errorf("typed but not submitted: %w", err)
	}
	if err := t.put(ctx, may, submit); err != nil {
		return fmt.Errorf("typed but not submitted: %w", err)
	}
	return nil
}

// Keys presses keys by their names, if there is a proof that they may be pressed.
func (t *InputLock) Keys(ctx context.Context, given proof.Proof, names []string) error {
	data, err := keyBytes(names, t.host.out.mode(modeCursorKeys))
	if err != nil {
		return err
	}
	return t.put(ctx, byScreen(given), data)
}

// Unread is how many bytes of what was typed the program has not read yet, 0 also where
// that cannot be found out.
func (t *InputLock) Unread() int {
	fd, err := unix.Open(t.to.tty, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	n, err := unix.IoctlGetInt(fd, unreadRequest)
	if err != nil {
		return 0
	}
	return n
}

// IsRead waits until nothing of what was typed has been unread for the pause, as far as that can
// be found out and not for ever, and tells whether it came to that: what is read with the text
// would be a part of it. One look at once does not do: what was written reaches the terminal a
// moment later.
func (t *InputLock) IsRead(ctx context.Context, rest time.Duration) (bool, error) {
	return t.awaitRead(ctx, rest, func(int) bool { return false })
}

// LineIsRead is IsRead for a line that was typed into a terminal that edits lines. A program that
// was seen to read has read it, also if it ends right after. Where none was, the line has waited,
// and then the terminal was set to do otherwise, it was thrown away.
func (t *InputLock) LineIsRead(ctx context.Context, rest time.Duration) (bool, error) {
	begun, waited, taken := time.Now(), false, false
	read, err := t.awaitRead(ctx, rest, func(unread int) bool {
		waited = waited || unread > 0 && time.Since(begun) > rest
		taken = taken || t.reads.seen()
		return taken && unread == 0 && t.to.editing() == t.editing
	})
	if err != nil && (taken || t.reads.seen()) {
		return true, nil
	}
	lost := t.reads != nil && !taken && waited && t.to.editing() != t.editing
	return read && !lost, err
}

// awaitRead is IsRead with a look at each step at what is unread, which may prove that all was
// read.
func (t *InputLock) awaitRead(ctx context.Context, rest time.Duration, proved func(unread int) bool) (bool, error) {
	end := time.Now().Add(t.host.input.reads)
	for empty := time.Now(); ; {
		unread := t.Unread()
		if proved(unread) {
			return true, nil
		}
		if unread > 0 && time.Now().Before(end) {
			empty = time.Now()
		} else if time.Since(empty) >= rest {
			return unread == 0, nil
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return false, err
		}
	}
}

// put is the one way by which text and keys of ours get into a program.
func (t *InputLock) put(ctx context.Context, may permit, data []byte) error {
	if !may.given {
		return fault.New(fault.Rejected, "its screen shows no prompt that takes text")
	}
	if err := t.free(ctx); err != nil {
		return err
	}
	return t.to.queue.put(ctx, data)
}
