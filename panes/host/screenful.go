package host

import (
	"bytes"
	"unicode/utf8"
)

// lastScreenful leaves out of p, which is to fill an empty screen of that many rows,
// what would only scroll off it, where that is sure: where p is nothing but lines of
// text and colours. A colour that was set in what is left out stays. (For the model a
// line that scrolls is many times the work of one that does not.)
func lastScreenful(p []byte, rows int) []byte {
	cut := len(p)
	for range rows + 1 {
		if cut = bytes.LastIndex(p[:cut], []byte("\r\n")); cut < 0 {
			return p
		}
	}
	cut += len("\r\n")
	var before, after plainLines
	if !before.are(p[:cut]) || before.scan.state != ground || !after.are(p[cut:len(p)-begunRune(p)]) {
		return p
	}
	return append(before.colours, p[cut:]...)
}

// begunRune is how many bytes at the end of p begin a character and are not all of it.
func begunRune(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if b := p[len(p)-n:]; utf8.RuneStart(b[0]) {
			if utf8.FullRune(b) {
				return 0
			}
			return n
		}
	}
	return 0
}

// plainLines looks whether output is text and colours alone, written line by line.
type plainLines struct {
	scan    scanner
	moves   bool   // something else was there
	colours []byte // what set the colours that hold at the end
}

// are tells it of p, which ends with a line or with the output.
func (l *plainLines) are(p []byte) bool {
	l.scan.scan(p, l.see)
	return !l.moves
}

func (l *plainLines) see(t token) {
	switch t.kind {
	case textToken:
		l.moves = l.moves || !plainUTF8(t.raw)
	case controlToken:
		l.moves = l.moves || bytes.IndexByte([]byte("\r\n\t\b\a"), t.raw[0]) < 0
	case csiToken:
		switch body := string(t.raw[2:]); {
		case body == "m", body == "0m":
			l.colours = l.colours[:0]
		case body[len(body)-1] == 'm':
			l.colours = append(l.colours, t.raw...)
		case body[len(body)-1] != 'K': // erases within its line
			l.moves = true
		}
	default:
		l.moves = true
	}
}

// plainUTF8 tells whether p is text without controls of the second set (C1), of which
// some models obey also the bytes that stand for themselves.
func plainUTF8(p []byte) bool {
	return utf8.Valid(p) && bytes.IndexFunc(p, func(r rune) bool { return r >= 0x80 && r < 0xa0 }) < 0
}
