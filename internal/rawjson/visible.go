package rawjson

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// ActsOnTerminal tells whether a terminal would act on a character instead of showing
// it: control characters, C1 included, and those that turn the reading direction.
func ActsOnTerminal(r rune) bool {
	return unicode.IsControl(r) || r == '\u061c' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Visible returns a writer of JSON that escapes what a terminal would act on, which an
// encoder writes as it is. The value stays the same. Each write has whole characters.
func Visible(w io.Writer) io.Writer { return visible{w} }

type visible struct{ w io.Writer }

// Write implements io.Writer.
func (v visible) Write(p []byte) (int, error) {
	acts := func(r rune) bool { return r >= utf8.RuneSelf-1 && ActsOnTerminal(r) } // those below stand outside of strings only
	out := p
	if bytes.ContainsFunc(p, acts) {
		out = make([]byte, 0, len(p)+16)
		for _, r := range string(p) {
			if acts(r) {
				out = fmt.Appendf(out, `\u%04x`, r)
			} else {
				out = utf8.AppendRune(out, r)
			}
		}
	}
	if _, err := v.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
