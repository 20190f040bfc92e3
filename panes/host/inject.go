package host

import (
	"bytes"
	"context"
	"time"
)

// Inject types text into the program and then submits it, as a step of its own
// (a terminal that edits lines gets both at once). Nobody else's text or keys come
// between, see LockInput. Text is only ever text: see typed. It returns when the
// program's terminal has taken everything; whether the program has understood is
// for the caller to see. Errors: RECIPIENT_INACTIVE if nothing runs, UNSUPPORTED
// for a job without a terminal, INVALID_ARGUMENT for a line that the terminal would
// cut, TIMEOUT if ctx ended while the program read nothing; the message says how
// far it came.
func (h *Host) Inject(ctx context.Context, in Input) error {
	return h.LockInput(ctx, time.Time{}, func(t *InputLock) error { return t.enter(ctx, requested(), in) })
}

// Keys presses keys by their names, see KeyNames; errors as for Inject. They count as a
// person's.
func (h *Host) Keys(ctx context.Context, names []string) error {
	data, err := keyBytes(names, h.out.mode(modeCursorKeys))
	if err != nil {
		return err
	}
	return h.LockInput(ctx, time.Time{}, func(t *InputLock) error {
		h.input.pressed(data)
		return t.put(ctx, requested(), data)
	})
}

func submitKey(name string) ([]byte, error) {
	switch name {
	case SubmitNone:
		return nil, nil
	case "":
		name = "enter"
	}
	return KeyBytes(name)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (h *Host) current() (*program, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.program == nil {
		return nil, errNothingRuns()
	}
	return h.program, nil
}

// answers returns where the screen model's answers to queries go: nowhere if a
// real terminal answers them.
func (h *Host) answers() func([]byte) {
	if h.terminal != nil {
		return nil
	}
	return func(answer []byte) {
		if p, err := h.current(); err == nil && p.queue != nil {
			p.queue.offer(bytes.Clone(answer))
		}
	}
}
