package host

import (
	"bytes"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// edge gives the model what is two columns wide at the right edge of the screen. The model
// loses a character that ends there when the next one comes, and one for which only one
// column is left (charmbracelet/x#975).
type edge struct {
	full   bool   // such a character ends the line: the next one begins another
	nowrap bool   // the program wants no other line (DECAWM is off)
	part   []byte // of a character, whose rest comes later
}

// follow takes note of a token that is no text, before the model gets it.
func (e *edge) follow(t token) {
	switch {
	case t.kind == stringToken, t.kind == csiToken && t.raw[len(t.raw)-1] == 'm':
		return
	case string(t.raw) == "\x1b[?7l", string(t.raw) == "\x1b[?7h", string(t.raw) == "\x1bc":
		e.nowrap = string(t.raw) == "\x1b[?7l"
	}
	e.part = nil
	e.full = e.full && t.kind == csiToken && (t.raw[len(t.raw)-1] == 'h' || t.raw[len(t.raw)-1] == 'l')
}

// text returns what the model is to get of a text, behind out; it has got what stood before.
func (e *edge) text(model *vt.Emulator, out, text []byte) []byte {
	if e.part != nil {
		text, e.part = append(e.part, text...), nil
	}
	if at := len(text) - begunRune(text); at < len(text) {
		text, e.part = text[:at], bytes.Clone(text[at:])
	}
	if len(text) > 0 && e.full {
		out = append(out, "\r\x1bD"...)
		e.full = false
	}
	if bytes.IndexFunc(text, mayBeWide) < 0 || e.nowrap || model.Width() < 4 {
		return append(out, text...)
	}
	free, last := 0, model.Width()-1
	for n := 0; len(text) > 0; text = text[n:] {
		first, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth) // as the model parts it
		n = len(first)
		if r, _ := utf8.DecodeRune(text); !mayBeWide(r) {
			out = append(out, text[:n]...)
			free--
			continue
		}
		if free -= 2; free >= 0 {
			out = append(out, text[:n]...)
			continue
		}
		_, _ = model.Write(out)
		at := model.CursorPosition()
		out = append(out[:0], text[:n]...)
		if free = last - 3 - at.X; free >= 0 || at.X < last-1 {
			continue
		}
		_, _ = model.Write(out)
		if out = out[:0]; at.X < last {
			c := model.CellAt(at.X, at.Y)
			e.full = c != nil && c.Width == 2
		} else if c := model.CellAt(last, at.Y); model.CursorPosition() == at && c != nil && (c.Content == "" || c.Content == " ") {
			out = append(out, text[:n]...) // at the end of the line it goes to the next one now
		}
		if e.full && n < len(text) {
			out = append(out, "\r\x1bD"...)
			e.full = false
		}
	}
	return out
}

// mayBeWide tells whether a character may take two columns; lines and blocks do not.
func mayBeWide(r rune) bool {
	return r >= 0x1100 && (r < 0x2500 || r >= 0x25a0) && (r < 0x2800 || r >= 0x2900) && r != utf8.RuneError
}
