package host

import (
	"bytes"
	"fmt"
	"maps"
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

// modes follows which private modes the program has switched on, and what else of a
// terminal it has changed. Not for use by several goroutines.
type modes struct {
	scan  scanner
	on    map[int]bool
	left  map[string]bool // what takes back what else was changed
	kitty int             // reports of keys (kitty's) that were asked for, less those called off
}

func newModes() *modes { return &modes{on: modeDefaults(), left: map[string]bool{}} }

func (m *modes) write(p []byte) {
	if m.scan.state == ground {
		// The usual case costs a few searches: where nothing is in it that is followed, and
		// no text within a sequence, only the last one matters, since it may go on.
		if bytes.IndexByte(p, shiftOut) >= 0 {
			m.left["\x0f"] = true
		}
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
			i := 1
			for i < len(p) && '0' <= p[i] && p[i] <= ';' {
				i++
			}
			if i < len(p) && strings.IndexByte("?<=> hrq", p[i]) >= 0 {
				return true
			}
		case 'c', '=', '(', ')', '*', '+', 'n', 'o', ']', 'P', '_', '^', 'X':
			return true
		}
	}
}

func (m *modes) see(t token) {
	switch t.kind {
	case escapeToken:
		if string(t.raw) == "\x1bc" { // full reset
			m.on, m.left, m.kitty = modeDefaults(), map[string]bool{}, 0
		}
	case csiToken:
		m.set(string(t.raw))
		m.reports(string(t.raw))
	}
	if undo := t.undo(); undo != "" {
		m.left[undo] = true
	}
}

// reports follows kitty's way to have keys reported: a stack.
func (m *modes) reports(sequence string) {
	switch {
	case !strings.HasSuffix(sequence, "u"), strings.HasPrefix(sequence, "\x1b[=0"): // as we say it ourselves
	case strings.HasPrefix(sequence, "\x1b[>"), strings.HasPrefix(sequence, "\x1b[=") && m.kitty == 0:
		m.kitty++
	case strings.HasPrefix(sequence, "\x1b[<"):
		n, _ := strconv.Atoi(sequence[3 : len(sequence)-1])
		m.kitty = max(0, m.kitty-max(n, 1))
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
		n, _ := strconv.Atoi(number) // there is no mode 0
		if _, followed := m.on[n]; followed {
			m.on[n] = final == 'h'
		}
	}
}

// setting returns the sequences that bring a terminal after a reset into these
// modes; undoing, those that bring it back, with all else that was changed.
func (m *modes) setting() []byte { return m.sequences(false) }

func (m *modes) undoing() []byte {
	var noReports []byte // of each of the two screens, which have a stack each
	if m.kitty > 0 {
		noReports = []byte("\x1b[=0;1u")
	}
	out := slices.Concat(noReports, m.sequences(true), noReports)
	for _, undo := range slices.Sorted(maps.Keys(m.left)) {
		out = append(out, undo...)
	}
	return out
}

func (m *modes) sequences(undo bool) (out []byte) {
	defaults := modeDefaults()
	for _, n := range slices.Sorted(maps.Keys(defaults)) {
		final := 'l'
		if m.on[n] != undo {
			final = 'h'
		}
		if m.on[n] != defaults[n] {
			out = fmt.Appendf(out, "\x1b[?%d%c", n, final)
		}
	}
	return out
}
