// Package tail keeps the end of what a program prints: for whoever has to say afterwards how
// it went, of an output of any length.
package tail

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Tail keeps the last bytes written to it, by several writers if need be.
type Tail struct {
	limit int

	mu  sync.Mutex // guards the next
	buf []byte
	cut bool // bytes before those of buf were dropped
}

// LastLine is the last line of a text that says something, "" if none does.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// New returns a Tail of limit bytes.
func New(limit int) *Tail { return &Tail{limit: limit} }

func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.limit; over > t.limit { // seldom, so that a long output is not moved byte by byte
		t.buf, t.cut = append(t.buf[:0], t.buf[over:]...), true
	}
	return len(p), nil
}

// String returns the last limit bytes as text, cut where a character begins.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf[max(0, len(t.buf)-t.limit):]
	cut := t.cut || len(b) < len(t.buf)
	for cut && len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return strings.ToValidUTF8(string(b), "�")
}
