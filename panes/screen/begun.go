package screen

import (
	"slices"
	"strings"
)

// freshLines is how many lines above an input have to be new to say that the agent does
// something: a hint that comes and goes with the text in the input is fewer.
const freshLines = 3

// TellsBusy tells whether an agent that works can be told from one that rests.
func (r *Reader) TellsBusy() bool { return len(r.busy) > 0 }

// Begun tells, of a text that has left the input, whether the agent has begun with it, or
// keeps it for later: it works or asks, shows the text above its input, or has changed
// more than its input. before is what was read while the text stood there. The last does
// not count while it starts: then it prints much by itself.
func (r Reading) Begun(before Reading, text string, starts bool) bool {
	return r.State == Busy || r.State == Asking || r.Said(text) > before.Said(text) || !starts && r.fresh(before) >= freshLines
}

// Said is how often a text, or the sign of a paste, stands above the input.
func (r Reading) Said(text string) int {
	var b strings.Builder
	for _, line := range r.above {
		line, _, _ = strings.Cut(strings.TrimSpace(line), sidebar)
		b.WriteString(strings.TrimFunc(line, outside))
	}
	all := b.String()
	if end := ending(text); end != "" {
		if n := strings.Count(essence(all), end); n > 0 {
			return n
		}
	}
	return len(pasted().FindAllString(all, -1))
}

// fresh is how many lines above the input say something that was not there before.
func (r Reading) fresh(before Reading) (n int) {
	for _, line := range r.above {
		if tidy(line) != "" && !slices.Contains(before.above, line) {
			n++
		}
	}
	return n
}
