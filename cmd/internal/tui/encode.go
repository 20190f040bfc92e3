package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// sequences are what a terminal sends for keys that are no text (xterm's, in normal
// cursor mode).
func sequences() map[rune]string {
	return map[rune]string{
		tea.KeyUp: "\x1b[A", tea.KeyDown: "\x1b[B", tea.KeyRight: "\x1b[C", tea.KeyLeft: "\x1b[D",
		tea.KeyHome: "\x1b[H", tea.KeyEnd: "\x1b[F", tea.KeyPgUp: "\x1b[5~", tea.KeyPgDown: "\x1b[6~",
		tea.KeyInsert: "\x1b[2~", tea.KeyDelete: "\x1b[3~", tea.KeyEnter: "\r", tea.KeyKpEnter: "\r",
		tea.KeyTab: "\t", tea.KeyBackspace: "\x7f", tea.KeyEscape: "\x1b",
		tea.KeyF1: "\x1bOP", tea.KeyF2: "\x1bOQ", tea.KeyF3: "\x1bOR", tea.KeyF4: "\x1bOS", tea.KeyF5: "\x1b[15~",
		tea.KeyF6: "\x1b[17~", tea.KeyF7: "\x1b[18~", tea.KeyF8: "\x1b[19~", tea.KeyF9: "\x1b[20~", tea.KeyF10: "\x1b[21~",
		tea.KeyF11: "\x1b[23~", tea.KeyF12: "\x1b[24~",
	}
}

// encode returns the bytes that a terminal sends for a key, nil if it sends none.
func encode(k tea.Key) []byte {
	prefix := ""
	if k.Mod.Contains(tea.ModAlt) {
		prefix = "\x1b"
	}
	s := sequences()[k.Code]
	if with := modified(s, k.Mod); with != "" {
		return []byte(with)
	}
	switch {
	case k.Mod.Contains(tea.ModCtrl):
		return control(prefix, k.Code)
	case k.Code == tea.KeyTab && k.Mod.Contains(tea.ModShift):
		return []byte("\x1b[Z")
	case k.Text != "":
		return []byte(prefix + k.Text)
	case s != "":
		return []byte(prefix + s)
	case prefix != "" && k.Code >= ' ' && k.Code < 0x7f: // alt takes the text away
		return []byte(prefix + string(k.Code))
	}
	return nil
}

// modified is the sequence of a key that is held with others (xterm's parameter, 1 and 1
// for shift, 2 for alt, 4 for ctrl), "" where a terminal has none.
func modified(s string, mod tea.KeyMod) string {
	n := 1
	for bit, m := range map[int]tea.KeyMod{1: tea.ModShift, 2: tea.ModAlt, 4: tea.ModCtrl} {
		if mod.Contains(m) {
			n += bit
		}
	}
	if n == 1 || len(s) < 3 {
		return ""
	}
	begin, final := s[:len(s)-1], s[len(s)-1:]
	if final == "~" {
		return fmt.Sprintf("%s;%d~", begin, n)
	}
	return fmt.Sprintf("\x1b[1;%d%s", n, final) // also F1 to F4, which begin otherwise alone
}

// control is a key with ctrl.
func control(prefix string, code rune) []byte {
	switch {
	case code >= 'a' && code <= 'z':
		return []byte(prefix + string(code-'a'+1))
	case code == ']':
		return []byte(prefix + "\x1d")
	case code == '[':
		return []byte(prefix + "\x1b")
	case code == '^' || code == '6':
		return []byte(prefix + "\x1e")
	case code == '_' || code == '-':
		return []byte(prefix + "\x1f")
	case code == ' ' || code == '@':
		return []byte(prefix + "\x00")
	}
	return nil
}
