package rawjson

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Unseen tells whether a character is not shown: a terminal acts on it, as on control
// characters, C1 included, and those that turn the reading direction or end a line; or it
// takes no place, and what is written with it is hidden from whoever reads. Joiners within
// words and emoji are not meant.
func Unseen(r rune) bool {
	return unicode.IsControl(r) || r >= unicode.MaxLatin1 && unicode.Is(unseen, r)
}

// unseen are the characters beyond Latin-1 that Unseen names.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x061c, 0x061c, 1}, {0x115f, 0x1160, 1}, {0x180e, 0x180e, 1}, {0x200b, 0x200b, 1}, {0x200e, 0x200f, 1}, {0x2028, 0x202e, 1},
		{0x2060, 0x206f, 1}, {0x3164, 0x3164, 1}, {0xfeff, 0xfeff, 1}, {0xffa0, 0xffa0, 1}, {0xfff9, 0xfffb, 1},
	},
	R32: []unicode.Range32{{0xe0000, 0xe007f, 1}},
}

// Visible returns a writer of JSON that escapes what is Unseen, which an encoder writes as
// it is. The value stays the same. Each write has whole characters.
func Visible(w io.Writer) io.Writer { return visible{w} }

type visible struct{ w io.Writer }

// Write implements io.Writer.
func (v visible) Write(p []byte) (int, error) {
	acts := func(r rune) bool { return r >= utf8.RuneSelf-1 && Unseen(r) } // those below stand outside of strings only
	out := p
	if bytes.ContainsFunc(p, acts) {
		out = make([]byte, 0, len(p)+16)
		for _, r := range string(p) {
			if acts(r) {
				for _, unit := range utf16.AppendRune(nil, r) {
					out = fmt.Appendf(out, `\u%04x`, unit)
				}
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
