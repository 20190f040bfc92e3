package tmuxshim

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// keys are the names of tmux for keys, as the host calls them.
func keys() map[string]string {
	return map[string]string{"enter": "enter", "c-m": "enter", "c-c": "ctrl-c", "c-u": "ctrl-u", "escape": "escape", "tab": "tab", "space": "space", "bspace": "backspace"}
}

// otherKeys are the names that tmux has beside those.
const otherKeys = "up down left right home end ic insert dc delete ppage pageup pgup npage pagedown pgdn btab " +
	"f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 " +
	"kp0 kp1 kp2 kp3 kp4 kp5 kp6 kp7 kp8 kp9 kp/ kp* kp- kp+ kp. kpenter"

// keyOf returns the key that tmux presses for a word of send-keys, "" if it types the
// word. A key that the shim cannot press is an error: its name, typed, would be something
// else.
func keyOf(word string) (string, error) {
	name := strings.ToLower(word) // as it is all the same to tmux
	if key, ok := keys()[name]; ok {
		return key, nil
	}
	if named(name) {
		return "", unsupported("the key %.40q; send-keys -l types its name", word)
	}
	return "", nil
}

// named tells whether a word in small letters is a key to tmux: a name, or with modifiers
// a name or a single character. A character may be given as a number, too.
func named(word string) bool {
	bare := word
	if len(bare) > 1 && bare[0] == '^' {
		bare = bare[1:]
	}
	for len(bare) > 2 && bare[1] == '-' && strings.IndexByte("cms", bare[0]) >= 0 {
		bare = bare[2:]
	}
	if bare != word && utf8.RuneCountInString(bare) == 1 {
		return true
	}
	if digits, ok := strings.CutPrefix(word, "0x"); ok && digits != "" {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	_, known := keys()[bare]
	return known || slices.Contains(strings.Fields(otherKeys), bare)
}
