package screen

import (
	"strings"
	"unicode"
)

// Proof says that something may be typed. Only this package makes a valid one, from a
// screen that was read.
type Proof struct{ why string }

// Valid tells whether the proof proves anything.
func (p Proof) Valid() bool { return p.why != "" }

// mark begins every text of ours.
const mark = "[leadlight]"

// MayType proves that text may be typed: the agent's prompt takes text, no earlier text of
// ours still stands there, and nothing that might be a menu.
func (r Reading) MayType() Proof {
	if r.allowed {
		return Proof{"its profile allows it"}
	}
	if r.State != Ready || r.listed || strings.Contains(r.Input, mark) {
		return Proof{}
	}
	return Proof{"its prompt takes text"}
}

// MaySubmit proves that the submit key may be pressed: text stands in the input.
func (r Reading) MaySubmit(text string) Proof {
	if r.allowed {
		return Proof{"its profile allows it"}
	}
	if r.State == Asking || !r.Holds(text) {
		return Proof{}
	}
	return Proof{"the text stands in its input"}
}

// Shows tells whether there is an input.
func (r Reading) Shows() bool { return r.prompt }

// pasted is what agents show in place of a long text.
var pasted = lazily(`(?i)\[(past(e|ed)|copied)[^\]]*\]`)

// holdsRunes is how much of the end of a text has to be seen.
const holdsRunes = 12

// Holds tells whether the input holds text, or as much of its end as fits, or stands
// for a paste.
func (r Reading) Holds(text string) bool {
	return r.Times(text) > 0
}

// Times tells how often the input holds text. More than once: it was typed anew while
// the agent had not read it yet. What stands in the text itself several times does not
// make it more.
func (r Reading) Times(text string) int {
	want, tail, shown := essence(text), ending(text), essence(r.Input)
	pastes := len(pasted().FindAllString(r.Input, -1))
	switch {
	case tail != "" && strings.Contains(shown, tail):
		own := strings.Count(want, tail)
		whole := (strings.Count(shown, tail) + own - 1) / own
		return max(whole, pastes-len(pasted().FindAllString(text, -1)))
	case len(shown) >= holdsRunes/2 && strings.HasSuffix(want, shown): // no more fits
		return max(pastes, 1)
	case tail != "" && r.endsHere(tail):
		return max(pastes, 1)
	}
	return pastes
}

// endsHere tells whether a text ends in the row with the cursor, which may hold its last
// letters only, and what a program suggests behind them.
func (r Reading) endsHere(tail string) bool {
	above := essence(strings.Join(r.rows[:max(0, len(r.rows)-1)], ""))
	at := strings.LastIndex(essence(strings.Join(r.rows, "")), tail)
	return at >= 0 && at+len(tail) > len(above)
}

// ending is what of a text has to be seen.
func ending(text string) string {
	all := []rune(essence(text))
	return string(all[max(0, len(all)-holdsRunes):])
}

// essence is what of a text is drawn the same everywhere: letters, digits and ASCII.
func essence(text string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
