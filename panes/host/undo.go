package host

import (
	"fmt"
	"strings"
)

const shiftOut = 0x0e

// undo is what takes back what t changes in a terminal beyond the modes that are followed,
// "" where that is nothing.
func (t token) undo() string {
	s := string(t.raw)
	switch t.kind {
	case controlToken:
		if s[0] == shiftOut {
			return "\x0f"
		}
	case escapeToken:
		switch {
		case s == "\x1b=": // the number keys
			return "\x1b>"
		case s == "\x1bn", s == "\x1bo":
			return "\x0f"
		case len(s) == 3 && strings.IndexByte("()*+", s[1]) >= 0 && s[2] != 'B': // letters
			return s[:2] + "B"
		}
	case csiToken:
		return undoCSI(s[2:len(s)-1], s[len(s)-1])
	case stringToken:
		return undoOSC(strings.TrimRight(s, "\x07\x1b\\"))
	}
	return ""
}

func undoCSI(params string, final byte) string {
	switch {
	case final == 'r' && strings.Trim(params, "0123456789;") == "" && params != "": // where it scrolls
		return "\x1b7\x1b[r\x1b8"
	case final == 'q' && strings.HasSuffix(params, " ") && params != "0 ": // the form of the cursor
		return "\x1b[0 q"
	case final == 'm' && strings.HasPrefix(params, ">4;"): // xterm's report of keys
		return "\x1b[>4m"
	case final == 'h' || final == 'l':
		list, private := strings.CutPrefix(params, "?")
		out := ""
		for n := range strings.SplitSeq(list, ";") {
			if undo, known := switches[fmt.Sprintf("%t %s%c", private, n, final)]; known {
				out += undo
			}
		}
		return out
	}
	return ""
}

// switches are the modes that are not followed, and what takes each back.
var switches = map[string]string{
	"false 4h": "\x1b[4l", "false 20h": "\x1b[20l", "true 5h": "\x1b[?5l", "true 6h": "\x1b[?6l", "true 7l": "\x1b[?7h",
	"true 69h": "\x1b[?69l", "true 2026h": "\x1b[?2026l", "true 2031h": "\x1b[?2031l", "true 2048h": "\x1b[?2048l",
}

// undoOSC is the undo of a link that was opened, a progress, and the terminal's colours.
func undoOSC(s string) string {
	if strings.HasPrefix(s, "\x1b]9;4;") && !strings.HasPrefix(s, "\x1b]9;4;0") {
		return "\x1b]9;4;0\a"
	}
	for _, x := range []struct{ begin, without, undo string }{
		{"\x1b]8;", ";", "\x1b]8;;\x1b\\"}, {"\x1b]4;", "?", "\x1b]104\a"},
		{"\x1b]10;", "?", "\x1b]110\a"}, {"\x1b]11;", "?", "\x1b]111\a"}, {"\x1b]12;", "?", "\x1b]112\a"},
	} {
		if text, ok := strings.CutPrefix(s, x.begin); ok && !strings.HasSuffix(text, x.without) {
			return x.undo
		}
	}
	return ""
}
