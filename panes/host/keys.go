package host

import (
	"maps"
	"slices"
	"strconv"
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
		"ctrl-space": "\x00",
	}
	for _, c := range `abcdefghijklmnopqrstuvwxyz[\]^_` {
		keys["ctrl-"+string(c)] = string(c & 0x1f)
	}
	return keys
}

// KeyNames returns the names Keys knows, sorted.
func KeyNames() []string { return slices.Sorted(maps.Keys(keyTable())) }

// applicationKeys are the keys that send ESC O instead of ESC [ while the program
// has application cursor keys on (DECCKM).
var applicationKeys = []string{"up", "down", "right", "left", "home", "end"}

// modified is what xterm sends for a key with modifiers before its name: their number stands in
// the sequence of a cursor or function key, and alt is an escape before any other.
func modified(name string, table map[string]string) (seq string, ok bool) {
	modifiers, key := 0, name
	for more := true; more; {
		more = false
		for i, word := range []string{"shift-", "alt-", "ctrl-"} {
			if n := len(word); len(key) > n && strings.EqualFold(key[:n], word) {
				modifiers, key, more = modifiers|1<<i, key[n:], true
			}
		}
	}
	number := strconv.Itoa(1 + modifiers)
	switch kind, escaped := strings.CutPrefix(table[strings.ToLower(key)], "\x1b"); {
	case modifiers == 0:
	case escaped && strings.HasSuffix(kind, "~"):
		return "\x1b" + strings.TrimSuffix(kind, "~") + ";" + number + "~", true
	case escaped && kind != "":
		return "\x1b[1;" + number + kind[1:], true
	case modifiers&2 != 0:
		seq, ok = plainKey([]string{"", "shift-", "", "", "ctrl-", "ctrl-shift-"}[modifiers&5]+key, table)
		return "\x1b" + seq, ok
	}
	return "", false
}

// plainKey is what a key sends, by its name or as the one character that it types.
func plainKey(name string, table map[string]string) (string, bool) {
	if seq, ok := table[strings.ToLower(name)]; ok {
		return seq, true
	}
	r, size := utf8.DecodeRuneInString(name)
	return name, name != "" && size == len(name) && unicode.IsPrint(r)
}

// KeyBytes is what a key sends, by its name, while the program has the cursor keys in normal mode.
func KeyBytes(name string) ([]byte, error) { return keyBytes([]string{name}, false) }

// keyBytes translates names; an unknown one is INVALID_ARGUMENT with the list.
func keyBytes(names []string, application bool) ([]byte, error) {
	table := keyTable()
	var out []byte
	for _, name := range names {
		seq, ok := plainKey(name, table)
		if !ok {
			seq, ok = modified(name, table)
		}
		if !ok {
			return nil, fault.New(fault.InvalidArgument, "there is no key %q", name).
				WithHint("a key is one character, or one of: %s; ctrl-, alt- and shift- may stand before it", strings.Join(KeyNames(), " "))
		}
		if application && slices.Contains(applicationKeys, strings.ToLower(name)) {
			seq = "\x1bO" + seq[len("\x1b["):]
		}
		out = append(out, seq...)
	}
	return out, nil
}
