package host

import (
	"bytes"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// plainWriter turns terminal output into text a person can read: sequences and
// control characters go, a carriage return starts the line anew and a backspace
// takes a character back, as they look on a terminal.
type plainWriter struct {
	scan scanner
	line []byte
	back bool // a carriage return stands before what comes
	out  []byte
}

// maxPlainLine bounds a line without end.
const maxPlainLine = 1 << 20

func (w *plainWriter) write(p []byte) {
	w.scan.scan(p, func(t token) {
		switch t.kind {
		case textToken:
			w.text(t.raw)
		case controlToken:
			w.control(t.raw[0])
		}
	})
}

func (w *plainWriter) text(p []byte) {
	if w.back {
		w.line, w.back = w.line[:0], false
	}
	w.line = append(w.line, p...)
	if len(w.line) > maxPlainLine {
		w.endLine()
	}
}

func (w *plainWriter) control(b byte) {
	switch b {
	case '\n':
		w.endLine()
	case '\r':
		w.back = true
	case '\t':
		w.text([]byte{b})
	case '\b':
		_, n := utf8.DecodeLastRune(w.line)
		w.line = w.line[:len(w.line)-n]
	}
}

func (w *plainWriter) endLine() {
	w.out = append(append(w.out, w.line...), '\n')
	w.line, w.back = w.line[:0], false
}

// take returns the complete lines so far, with rest also the one begun.
func (w *plainWriter) take(rest bool) []byte {
	if rest {
		w.out = append(w.out, w.line...)
		w.line, w.back = w.line[:0], false
	}
	out := w.out
	w.out = nil
	return readable(out)
}

// readable is text without what a terminal would act on or cannot read: C1 controls, also
// as the bare bytes that some terminals still take for them, marks that turn the reading
// direction, and what takes no place.
func readable(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && rawjson.Unseen(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// plainText is plainWriter for a piece that is whole.
func plainText(p []byte) []byte {
	var w plainWriter
	w.write(p)
	return w.take(true)
}

// lastLines returns the last n lines of p, all of it for n ≤ 0. A line break at
// the end ends the last line and begins none.
func lastLines(p []byte, n int) []byte {
	if n <= 0 {
		return p
	}
	end := len(p)
	if end > 0 && p[end-1] == '\n' {
		end--
	}
	for range n {
		i := bytes.LastIndexByte(p[:end], '\n')
		if i < 0 {
			return p
		}
		end = i
	}
	return p[end+1:]
}
