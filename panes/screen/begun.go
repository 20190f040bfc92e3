package screen

import "strings"

// TellsBusy tells whether an agent that works can be told from one that rests.
func (r *Reader) TellsBusy() bool { return len(r.busy) > 0 }

// Begun tells, of a text that has left the input, whether the agent has begun with it, or
// keeps it for later: it works or asks, or shows the text above its input. before is what
// was read while the text stood there.
func (r Reading) Begun(before Reading, text string) bool {
	return r.State == Busy || r.State == Asking || r.Said(text) > before.Said(text)
}

// Printed is how often a text stands in what an agent has printed.
func Printed(output, text string) int {
	end := ending(text)
	if end == "" {
		return 0
	}
	return strings.Count(essence(output), end)
}

// Said is how often a text, or the sign of a paste, stands above the input.
func (r Reading) Said(text string) int {
	var b strings.Builder
	for _, line := range r.above {
		line, _, _ = strings.Cut(strings.TrimSpace(line), sidebar)
		b.WriteString(strings.TrimFunc(line, outside))
	}
	all := b.String()
	if n := Printed(all, text); n > 0 {
		return n
	}
	return len(pasted().FindAllString(all, -1))
}
