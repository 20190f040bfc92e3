package host

import (
	"context"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// personWaits is how long a person's keys wait for a text that is being typed.
const personWaits = 300 * time.Millisecond

// Turn is the keyboard in one hand: whoever has it types, and the others wait.
type Turn struct {
	host  *Host
	to    *program
	since time.Time
}

// Turn gives f the keyboard. Others wait until f is done; what a person types
// waits, too, but not for long, and then comes between. A since that is not zero
// means: only as long as no person has typed after it. That is looked at within the
// turn, before each thing that f types, so that a person who began in the last
// moment is not typed over: REJECTED. Other errors as for Inject.
func (h *Host) Turn(ctx context.Context, since time.Time, f func(*Turn) error) error {
	select {
	case h.typist <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("type: somebody else is typing: %w", ctx.Err())
	}
	defer func() { <-h.typist }()
	p, err := h.current()
	if err != nil {
		return err
	}
	if p.queue == nil {
		return fault.New(fault.Unsupported, "what runs in this pane is a job without a terminal: nothing can be typed")
	}
	h.mu.Lock()
	h.hasty = false
	h.mu.Unlock()
	return f(&Turn{h, p, since})
}

// free says whether a person has typed meanwhile.
func (t *Turn) free() error {
	t.host.mu.Lock()
	defer t.host.mu.Unlock()
	if !t.since.IsZero() && t.host.lastKey.After(t.since) {
		return fault.New(fault.Rejected, "a person is typing")
	}
	return nil
}

// Type types text and submits it, as Inject does.
func (t *Turn) Type(ctx context.Context, in Input) error {
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
		return t.put(ctx, append(data, submit...)) // the terminal itself takes line for line: no pause, nobody between
	}
	if err := t.put(ctx, data); err != nil || len(submit) == 0 {
		return err
	}
	if err := pause(ctx, in.Pause); err != nil {
		return fmt.Errorf("typed but not submitted: %w", err)
	}
	if err := t.put(ctx, submit); err != nil {
		return fmt.Errorf("typed but not submitted: %w", err)
	}
	return nil
}

// Keys presses keys by their names.
func (t *Turn) Keys(ctx context.Context, names []string) error {
	data, err := keyBytes(names, t.host.out.mode(modeCursorKeys))
	if err != nil {
		return err
	}
	return t.put(ctx, data)
}

func (t *Turn) put(ctx context.Context, data []byte) error {
	if err := t.free(); err != nil {
		return err
	}
	return t.to.queue.put(ctx, data)
}

// comeIn waits for a person's turn to type. Who has waited once while a text was
// being typed does not wait again for the rest of it.
func (h *Host) comeIn(ctx context.Context) (leave func()) {
	h.mu.Lock()
	hasty := h.hasty
	h.mu.Unlock()
	limit := personWaits
	if hasty {
		limit = 0
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case h.typist <- struct{}{}:
		return func() { <-h.typist }
	case <-ctx.Done():
	case <-timer.C:
		h.mu.Lock()
		h.hasty = true
		h.mu.Unlock()
	}
	return func() {}
}
