package host

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// keyTable is the closed list of keys, as xterm sends them (its ctlseqs) with the
// cursor keys in normal mode.
func keyTable() map[string]string {
	keys := map[string]string{
		"enter": "\r", "tab": "\t", "shift-tab": "\x1b[Z", "escape": "\x1b", "space": " ", "backspace": "\x7f",
		"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
		"insert": "\x1b[2~", "delete": "\x1b[3~", "pageup": "\x1b[5~", "pagedown": "\x1b[6~",
		"shift-up": "\x1b[1;2A", "shift-down": "\x1b[1;2B", "shift-enter": "\x1b\r",
		"f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~",
		"f7": "\x1b[18~", "f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~", "f11": "\x1b[23~", "f12": "\x1b[24~",
		`ctrl-\`: "\x1c", "ctrl-]": "\x1d",
	}
	for c := 'a'; c <= 'z'; c++ {
		keys["ctrl-"+string(c)] = string(c - 'a' + 1)
	}
	return keys
}

// KeyNames returns the names Keys knows, sorted.
func KeyNames() []string { return slices.Sorted(maps.Keys(keyTable())) }

// applicationKeys are the keys that send ESC O instead of ESC [ while the program
// has application cursor keys on (DECCKM).
var applicationKeys = []string{"up", "down", "right", "left", "home", "end"}

// keyBytes translates names; an unknown one is INVALID_ARGUMENT with the list.
func keyBytes(names []string, application bool) ([]byte, error) {
	table := keyTable()
	var out []byte
	for _, name := range names {
		seq, ok := table[strings.ToLower(name)]
		if r, size := utf8.DecodeRuneInString(name); !ok && name != "" && size == len(name) && unicode.IsPrint(r) {
			seq, ok = name, true // one character is the key that types it
		}
		if !ok {
			return nil, fault.New(fault.InvalidArgument, "there is no key %q", name).
				WithHint("the keys are: %s", strings.Join(KeyNames(), " "))
		}
		if application && slices.Contains(applicationKeys, strings.ToLower(name)) {
			seq = "\x1bO" + seq[len("\x1b["):]
		}
		out = append(out, seq...)
	}
	return out, nil
}
