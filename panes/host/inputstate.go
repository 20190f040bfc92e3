package host

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	proof "github.com/leadlight-dev/leadlight/panes/screen"
)

// personWaits is how long a person's keys wait for a text that is being typed.
const personWaits = 300 * time.Millisecond

// programReads is how long a program may take to read a text before that is submitted.
const programReads = 2 * time.Second

// inputState is whose turn it is to type into the program, and what a person has typed. Safe
// for concurrent use.
type inputState struct {
	turn     chan struct{} // one token: one text with its submit at a time
	patience time.Duration // personWaits, but in tests
	reads    time.Duration // programReads, but in tests

	mu     sync.Mutex
	person personTyped
	waited bool        // a person has waited long enough for the text that is being typed
	bare   proof.Place // where the cursor was when nothing was typed yet
	seen   time.Time   // when that was looked at
}

// personTyped is what a person has typed so far.
type personTyped struct {
	lastKey    time.Time
	lastReturn time.Time // the last return key
	draft      bool      // what was typed stands there, not submitted
	half       halfLine
}

func newInputState() *inputState {
	return &inputState{turn: make(chan struct{}, 1), patience: personWaits, reads: programReads}
}

// take waits for the turn to type a text.
func (in *inputState) take(ctx context.Context) (release func(), err error) {
	select {
	case in.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("type: somebody else is typing: %w", ctx.Err())
	}
	in.setWaited(false)
	return func() { <-in.turn }, nil
}

// enter waits for a person's turn to type. Who has waited once while a text was
// being typed does not wait again for the rest of it.
func (in *inputState) enter(ctx context.Context) (leave func()) {
	limit := in.patience
	in.mu.Lock()
	if in.waited {
		limit = 0
	}
	in.mu.Unlock()
	select {
	case in.turn <- struct{}{}:
		return func() { <-in.turn }
	case <-ctx.Done():
	case <-time.After(limit):
		in.setWaited(true)
	}
	return func() {}
}

func (in *inputState) setWaited(waited bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waited = waited
}

// note keeps what a person has typed now.
func (in *inputState) note(t typing) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.person.lastKey, in.person.draft, in.person.half = time.Now(), t.draft, t.half
	if t.returned {
		in.person.lastReturn = in.person.lastKey
	}
}

// pressed keeps what a person has pressed from elsewhere, behind what was typed before. Most
// often that answers a dialog, so that it makes no draft: the screen tells whether it stands there.
func (in *inputState) pressed(keys []byte) {
	before, k := in.typed(), newKeyboard()
	k.draft, k.half = before.draft, before.half
	now, _ := k.read(keys)
	now.human, now.draft = true, before.draft && now.draft
	in.note(now)
}

// begin is for a new program, into which nobody has typed anything.
func (in *inputState) begin() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.person.draft, in.person.half = false, halfLine{}
}

// forget is for a text of ours that is typed where no half line stands: what that ends with
// is not the person's.
func (in *inputState) forget() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.person.half = halfLine{}
}

func (in *inputState) typed() personTyped {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.person
}

// prompted adds to a place what stood there before anything was typed: the same, if nothing is
// until now, and now is the whole of what was printed.
func (in *inputState) prompted(now proof.Place, whole bool, at time.Time) proof.Place {
	in.mu.Lock()
	defer in.mu.Unlock()
	if whole && in.person.half == (halfLine{}) {
		in.bare, in.seen = now, at
	}
	now.Prompt, now.Bare = in.bare.Line, in.bare.Around
	return now
}

func (in *inputState) promptAt() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.seen
}

// HalfLine tells whether what a person has typed and not submitted still stands at the cursor,
// or what their keys have brought there, such as a line of a shell's history. It is to be asked
// also while nobody types: what stands there then is the prompt.
func (h *Host) HalfLine(ctx context.Context) bool {
	looked := time.Now()
	half, output := h.input.typed().half, h.out.lastAt()
	if h.screen == nil || half == (halfLine{}) && h.input.promptAt().After(output) {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, screenLimit)
	defer cancel()
	at, whole, err := h.screen.cursor(limited)
	if err != nil { // the next look may tell
		return half != (halfLine{})
	}
	if p, err := h.current(); err != nil || p.cooked() { // a line feed ends its line
		half.text = half.text[strings.LastIndexByte(half.text, '\n')+1:]
	}
	return h.input.prompted(at, whole, looked).Holds(half.text, half.moved)
}
