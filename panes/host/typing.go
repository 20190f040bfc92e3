package host

import (
	"bytes"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Input is text to be typed into a program.
type Input struct {
	Text   string `json:"text"`
	Submit string `json:"submit,omitempty"` // name of the key that submits it; "" = enter, SubmitNone = none
	Join   bool   `json:"join,omitempty"`   // without bracketed paste: line breaks become blanks, else each line is entered
}

// SubmitNone leaves the text in the program's input.
const SubmitNone = "none"

// DefaultPause separates text and submit, so that a program that takes a quick
// return key for a part of a paste still sees it.
const DefaultPause = 100 * time.Millisecond

// typed returns the text as bytes that are never anything but text: every control
// character but line break and tab is left out (of both sets, C0 and C1, so that
// nothing ends a paste or moves a cursor), line breaks are one kind, and what is
// no UTF-8 becomes the replacement character.
func typed(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}

// The ends of a bracketed paste (DECSET 2004).
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// encode returns what a terminal would send for the text: one paste if the
// program asked for that, else lines, each ended by the return key.
func (in Input) encode(bracketed bool) []byte {
	text := typed(in.Text)
	switch {
	case text == "":
		return nil
	case bracketed:
		return []byte(pasteBegin + text + pasteEnd)
	case in.Join:
		return []byte(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " "))
	}
	return []byte(strings.ReplaceAll(text, "\n", "\r"))
}

// longestLine returns the length in bytes of the longest line of encoded input.
func longestLine(p []byte) int {
	longest := 0
	for line := range bytes.SplitSeq(p, []byte{'\r'}) {
		longest = max(longest, len(line))
	}
	return longest
}

// reader of what a person's terminal sends: keys, but also answers to queries,
// focus and mouse events, which nobody typed.
type keyboard struct {
	scan    scanner
	pasting bool
	typing
}

// halfLine is what was typed since a line was submitted or erased.
type halfLine struct {
	text  string // the end of it
	moved bool   // keys were pressed that may have moved the cursor in it, or changed it
}

// typing is what was made out in the last piece of input, with what stands there since before.
type typing struct {
	human    bool // a person has typed it
	draft    bool // the last that was typed is text, and no key that ends a line
	half     halfLine
	returned bool // it holds the return key
}

func newKeyboard() *keyboard { return &keyboard{scan: scanner{input: true}} }

// read makes out what is typed, and returns p without the terminal's answers to queries
// (keys, pastes, focus and mouse events stay).
func (k *keyboard) read(p []byte) (_ typing, without []byte) {
	k.human, k.returned = false, false
	k.scan.scan(p, func(t token) {
		k.human = k.human || !isEvent(t) && !isAnswer(t)
		k.follow(t)
		if !isAnswer(t) {
			without = append(without, t.raw...)
		}
	})
	if k.scan.pendingEscape() { // the key; its sequence would have come along
		k.human, without = true, append(without, esc)
		k.scan.state, k.draft = ground, false
		k.half.move()
	}
	return k.typing, without
}

// endsLine are the keys after which no unfinished line stands there: return, line
// feed, ^C, ^D, ^U.
const endsLine = "\r\n\x03\x04\x15"

// reported are keys that end a line, as a terminal sends them to a program that has asked for
// kitty's or xterm's reports of keys.
var reported = map[string]string{
	"\x1b[99;5u": "\x03", "\x1b[100;5u": "\x04", "\x1b[117;5u": "\x15", "\x1b[13u": "\r",
	"\x1b[27;5;99~": "\x03", "\x1b[27;5;100~": "\x04", "\x1b[27;5;117~": "\x15",
}

// follow keeps draft, half and returned true. A paste is text, whatever is in it.
func (k *keyboard) follow(t token) {
	if key, ok := reported[string(t.raw)]; ok {
		t = token{controlToken, []byte(key)}
	}
	switch {
	case t.kind == csiToken && (string(t.raw) == pasteBegin || string(t.raw) == pasteEnd):
		k.pasting, k.draft = string(t.raw) == pasteBegin, true
	case t.kind == textToken, t.kind == controlToken && k.pasting:
		k.draft = true
		k.half.add(t.raw)
	case t.kind == controlToken && strings.IndexByte(endsLine, t.raw[0]) >= 0:
		k.draft = false
		k.returned = k.returned || t.raw[0] == '\r'
		k.half.end(t.raw[0])
	case t.kind == controlToken && (t.raw[0] == del || t.raw[0] == '\b') && !k.half.moved:
		_, n := utf8.DecodeLastRuneInString(k.half.text)
		k.half.text = k.half.text[:len(k.half.text)-n]
	case !isEvent(t) && !isAnswer(t):
		k.half.move()
	}
}

// halfLineKept is how much of a half line is kept, in bytes.
const halfLineKept = 256

func (l *halfLine) add(p []byte) {
	l.text += strings.ReplaceAll(string(p), "\r", "\n")
	l.text = l.text[max(0, len(l.text)-halfLineKept):]
}

// move is for a key that may move the cursor: what follows may be elsewhere in the line.
func (l *halfLine) move() {
	l.add([]byte(" "))
	l.moved = true
}

// end is for a key that ends a line. An agent's text may have several: a line feed begins
// another, and ^U erases one.
func (l *halfLine) end(key byte) {
	switch key {
	case '\n':
		l.add([]byte{key})
	case 0x15:
		l.text = l.text[:strings.LastIndexByte(l.text, '\n')+1]
	default:
		*l = halfLine{}
	}
}

// isEvent tells focus and mouse events, and a key that is let go.
func isEvent(t token) bool {
	if t.kind != csiToken {
		return false
	}
	body := string(t.raw[2:])
	return body == "I" || body == "O" || strings.HasPrefix(body, "<") || strings.HasPrefix(body, "M") ||
		strings.HasSuffix(body[:len(body)-1], ":3")
}

// isAnswer tells what a terminal says when a program asks it: device attributes
// and status, cursor position, modes, sizes, colours, version.
func isAnswer(t token) bool {
	switch t.kind {
	case stringToken:
		return true
	case csiToken:
	default:
		return false
	}
	body := string(t.raw[2:])
	final := body[len(body)-1]
	switch final {
	case 'c', 'n', 't', 'x', 'y':
		return true
	case 'R': // also F3 with a modifier, which xterm sends as CSI 1 ; 2 R to CSI 1 ; 8 R
		return !(len(body) == len("1;2R") && strings.HasPrefix(body, "1;") && body[2] >= '2' && body[2] <= '8')
	case 'u':
		return strings.HasPrefix(body, "?")
	}
	return false
}
