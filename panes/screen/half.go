package screen

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Place is where a cursor is: its line left of it, all that stands before it, its line with
// those right above and below, and what stood left of it, and around it, when nothing was typed.
type Place struct{ Line, Before, Around, Prompt, Bare string }

// Holds tells whether a text that a person has typed stands left of the cursor. Few characters
// are looked for, since a key that answered a dialog may be the first of them, and in the
// cursor's own line, where an answer has left nothing; but a long text may have been wrapped.
// moved: keys came that may have moved the cursor in the text, or brought another, so that a
// word of it may stand around, or something behind the prompt.
func (p Place) Holds(text string, moved bool) bool {
	if p.Bare != "" && p.Around == p.Bare { // a placeholder may have the same words as what was erased
		return false
	}
	if moved && (p.brought() || slices.ContainsFunc(strings.Fields(text), func(word string) bool {
		word = essence(word)
		return utf8.RuneCountInString(word) > 1 && strings.Contains(essence(p.Around), word)
	})) {
		return true
	}
	all := []rune(essence(text))
	end := func(n int) string { return string(all[max(0, len(all)-n):]) }
	if len(all) == 0 {
		return false
	}
	return strings.HasSuffix(essence(p.Line), end(2)) || len(all) > 2 && strings.HasSuffix(essence(p.Before), end(3)) ||
		len(all) > 2 && pastedLast().MatchString(p.Line)
}

// brought tells whether something stands behind the prompt.
func (p Place) brought() bool {
	prompt := squeezed(p.Prompt)
	return prompt != "" && strings.HasPrefix(squeezed(p.Line), prompt) && squeezed(p.Line) != prompt
}

// pastedLast is what agents show in place of a long text, last.
var pastedLast = lazily(`(?i)\[(past(e|ed)|copied)[^\]]*\]\s*$`)
