package host

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/vt"

	proof "github.com/leadlight-dev/leadlight/panes/screen"
)

// screen is a model of the program's screen. It reads the ring at its own pace,
// so that a fast program never waits for it; when it falls behind it starts again
// at the last reset and says that it is truncated. A panic of the model has the
// same effect. A terminal in the pane answers the program's queries; without one
// the model does, through answer.
type screen struct {
	ring   *ring
	answer func([]byte) // nil = a real terminal answers; must not block

	wanted     atomic.Pointer[[2]int] // rows and columns that the model is to take
	turn       chan struct{}          // holds one token while the fields below are used
	model      *vt.Emulator           // nil until there is something to show
	guard      guard
	rows, cols int
	place      int64 // in the ring, what the model has seen
	truncated  bool
	flooded    bool // of run alone: output comes faster than it can be modelled
}

// screenPiece is how much the model is fed at once: captures wait for that long.
const screenPiece = 16 << 10

func newScreen(r *ring, rows, cols int, answer func([]byte)) *screen {
	return &screen{ring: r, answer: answer, turn: make(chan struct{}, 1), rows: rows, cols: cols}
}

// need makes the model at its first use: it costs several megabytes, which the start
// of a program need not wait for.
func (s *screen) need() {
	if s.model == nil {
		s.begin()
	}
}

// begin puts a fresh model in place and drains what it says to queries; a model
// that is not drained blocks inside its Write.
func (s *screen) begin() {
	s.end()
	s.guard = guard{}
	s.model = vt.NewEmulator(s.cols, s.rows)
	s.model.SetScrollbackSize(1)
	go func(model *vt.Emulator) {
		buf := make([]byte, 1024)
		for {
			n, err := model.Read(buf)
			if err != nil {
				return
			}
			if s.answer != nil {
				s.answer(bytes.Clone(buf[:n]))
			}
		}
	}(s.model)
}

// end lets the draining goroutine go. The model's own Close would race with it.
func (s *screen) end() {
	if s.model == nil {
		return
	}
	if pipe, ok := s.model.InputPipe().(io.Closer); ok {
		pipe.Close()
	}
}

// run feeds the model until the ring is closed and read, or ctx ends.
func (s *screen) run(ctx context.Context) {
	defer func() {
		s.turn <- struct{}{}
		s.end()
		<-s.turn
	}()
	for {
		p := s.next(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case p.closed:
			return
		case p.wait != nil:
			select {
			case <-ctx.Done():
				return
			case <-p.wait:
			}
			continue
		}
		s.turn <- struct{}{}
		s.fit()
		s.take(ctx, p)
		<-s.turn
	}
}

// In a flood the model would take the processor from the copies that feed it, and still
// be left behind: then it takes a rest, and goes on with the last of what came meanwhile,
// until that is little enough to be taken whole.
const (
	floodBegins = 64 << 10               // bytes behind
	floodRest   = 400 * time.Millisecond // the model is never later than that and the feeding of a floodPiece
	floodPiece  = 24 << 10               // more than most screenfuls
)

// next returns what to feed, or what to wait for.
func (s *screen) next(ctx context.Context) piece {
	place := s.place // is written by this goroutine only
	s.flooded = s.flooded || s.ring.behind(place) > floodBegins
	if !s.flooded {
		return s.ring.read(place, screenPiece)
	}
	select {
	case <-ctx.Done():
	case <-time.After(floodRest):
	}
	if s.ring.behind(place) <= floodPiece {
		s.flooded = false
		return s.ring.read(place, floodPiece)
	}
	data, end, _ := s.ring.tail(floodPiece)
	for n := 0; n < utf8.UTFMax && len(data) > 0 && !utf8.RuneStart(data[0]); n++ { // the rest of a character
		data = data[1:]
	}
	return piece{data: data, next: end, gap: true}
}

func (s *screen) take(ctx context.Context, p piece) {
	data := p.data
	if p.gap {
		s.begin()
		s.truncated = true
		data = data[max(0, len(data)-maxCatchUp):]
		if at := lastReset(data); at >= 0 {
			data = data[at:]
		}
		data = lastScreenful(data, s.rows)
	}
	for len(data) > 0 && ctx.Err() == nil {
		n := min(len(data), screenPiece)
		s.feed(data[:n])
		data = data[n:]
	}
	s.place = p.next
}

// maxCatchUp is how much is fed after a gap: more than any screenful.
const maxCatchUp = 64 << 10

// startOver, deferred, takes a panic of the model for a gap.
func (s *screen) startOver() {
	if recover() != nil {
		s.begin()
		s.truncated = true
	}
}

func (s *screen) feed(p []byte) {
	defer s.startOver()
	if s.truncated && lastReset(p) >= 0 {
		s.truncated = false
	}
	s.need()
	s.guard.pass(p, s.model)
}

// resets are sequences after which nothing before them is on the screen.
var resets = []string{"\x1bc", "\x1b[2J", "\x1b[?1049h", "\x1b[?1049l"}

// lastReset returns where the last of them begins, -1 if there is none.
func lastReset(p []byte) int {
	last := -1
	for _, r := range resets {
		last = max(last, bytes.LastIndex(p, []byte(r)))
	}
	return last
}

// use waits for the model's turn and calls f; the error is the context's.
func (s *screen) use(ctx context.Context, f func()) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("look at the screen: %w", ctx.Err())
	}
	defer func() { <-s.turn }()
	s.fit()
	f()
	return nil
}

// resize gives the screen a size. If its turn does not come before ctx ends, the model takes
// it with the next one.
func (s *screen) resize(ctx context.Context, rows, cols int) error {
	s.wanted.Store(&[2]int{rows, cols})
	return s.use(ctx, func() {})
}

// fit gives the model the size that is wanted, in its turn.
func (s *screen) fit() {
	size := s.wanted.Swap(nil)
	if size == nil {
		return
	}
	defer s.startOver()
	rows, cols := size[0], size[1]
	s.rows, s.cols = rows, cols
	if s.model == nil {
		return
	}
	at := s.model.CursorPosition()
	if over := at.Y + 1 - rows; over > 0 { // what is above goes, as in a terminal, not what was written last
		s.model.Write(fmt.Appendf(nil, "\x1b[r\x1b[%dS\x1b[%d;%dH", over, rows, at.X+1))
	}
	s.model.Resize(cols, rows)
}

// text returns the lines of the screen without the empty ones at its end, and the
// line that the cursor is in, from 1.
func (s *screen) text(ctx context.Context, ansi bool) (text string, cursor int, truncated bool, err error) {
	err = s.use(ctx, func() {
		truncated = s.truncated
		s.need()
		defer func() {
			if recover() != nil {
				truncated = true
			}
		}()
		if ansi {
			text = s.model.Render()
		} else {
			text = s.model.String()
		}
		cursor = s.model.CursorPosition().Y + 1
	})
	lines := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return "", cursor, truncated, err
	}
	return strings.Join(lines, "\n") + "\n", cursor, truncated, err
}

// cursor returns where the cursor is, and whether all that was printed until now is on the screen.
func (s *screen) cursor(ctx context.Context) (at proof.Place, whole bool, err error) {
	err = s.use(ctx, func() {
		whole = s.ring.behind(s.place) == 0
		s.need()
		defer func() { recover() }()
		c := s.model.CursorPosition()
		for y := range min(s.rows, c.Y+2) {
			line := s.cells(y, s.cols)
			if y >= c.Y-1 {
				at.Around += line
			}
			if y == c.Y {
				line = s.cells(y, c.X)
				at.Line = line
			}
			if y <= c.Y {
				at.Before += line
			}
		}
	})
	return at, whole, err
}

// cells is what stands in a line before column end. A cursor in the last column may
// be behind that.
func (s *screen) cells(y, end int) string {
	if end == s.cols-1 {
		end = s.cols
	}
	var b strings.Builder
	for x := range end {
		if c := s.model.CellAt(x, y); c != nil {
			b.WriteString(c.Content)
		}
	}
	return b.String()
}

// redraw returns what brings an empty terminal to this screen, and the place in
// the ring from which the stream goes on.
func (s *screen) redraw(ctx context.Context) (picture []byte, place int64, err error) {
	err = s.use(ctx, func() {
		place = s.place
		s.need()
		defer func() { recover() }()
		at := s.model.CursorPosition()
		lines := strings.ReplaceAll(strings.ReplaceAll(s.model.Render(), "\r", ""), "\n", "\r\n")
		picture = fmt.Appendf(nil, "\x1b[0m\x1b[2J\x1b[H%s\x1b[0m\x1b[%d;%dH", lines, at.Y+1, at.X+1)
	})
	return picture, place, err
}
