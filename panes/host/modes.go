package host

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The private modes (DECSET) of a terminal that outlive the output that set them.
const (
	modeCursorKeys     = 1
	modeCursorVisible  = 25
	modeBracketedPaste = 2004
)

// modeDefaults are the modes that are followed, each with its value after a reset.
func modeDefaults() map[int]bool {
	modes := map[int]bool{modeCursorVisible: true}
	for _, m := range []int{modeCursorKeys, 9, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1047, 1049, modeBracketedPaste} {
		modes[m] = false
	}
	return modes
}

// modes follows which private modes the program has switched on. Not for use by
// several goroutines.
type modes struct {
	scan scanner
	on   map[int]bool
}

func newModes() *modes { return &modes{on: modeDefaults()} }

func (m *modes) write(p []byte) {
	if m.scan.state == ground {
		// The usual case costs a few searches: where nothing is in it that is followed, and
		// no text within a sequence, only the last one matters, since it may go on.
		first := bytes.IndexByte(p, esc)
		if first < 0 {
			return
		}
		if p = p[first:]; !telling(p) {
			p = p[bytes.LastIndexByte(p, esc):]
		}
	}
	m.scan.scan(p, m.see)
}

// telling tells whether p may hold a mode, a reset, or the beginning of a text.
func telling(p []byte) bool {
	for {
		at := bytes.IndexByte(p, esc)
		if at < 0 || at+1 == len(p) {
			return false
		}
		p = p[at+1:]
		switch p[0] {
		case '[':
			if len(p) > 1 && p[1] == '?' {
				return true
			}
		case 'c', ']', 'P', '_', '^', 'X':
			return true
		}
	}
}

func (m *modes) see(t token) {
	switch t.kind {
	case escapeToken:
		if string(t.raw) == "\x1bc" { // full reset
			m.on = modeDefaults()
		}
	case csiToken:
		m.set(string(t.raw))
	}
}

// set obeys CSI ? n ; … h and l.
func (m *modes) set(sequence string) {
	list, ok := strings.CutPrefix(sequence, "\x1b[?")
	if !ok {
		return
	}
	final := list[len(list)-1]
	if final != 'h' && final != 'l' {
		return
	}
	for number := range strings.SplitSeq(list[:len(list)-1], ";") {
		n, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		if _, followed := m.on[n]; followed {
			m.on[n] = final == 'h'
		}
	}
}

// setting returns the sequences that bring a terminal after a reset into these
// modes; undoing, those that bring it back.
func (m *modes) setting() []byte { return m.sequences(func(on bool) bool { return on }) }
func (m *modes) undoing() []byte { return m.sequences(func(on bool) bool { return !on }) }

func (m *modes) sequences(want func(bool) bool) []byte {
	var out []byte
	defaults := modeDefaults()
	changed := make([]int, 0, len(defaults))
	for n, byDefault := range defaults {
		if m.on[n] != byDefault {
			changed = append(changed, n)
		}
	}
	slices.Sort(changed)
	for _, n := range changed {
		final := 'l'
		if want(m.on[n]) {
			final = 'h'
		}
		out = fmt.Appendf(out, "\x1b[?%d%c", n, final)
	}
	return out
}
