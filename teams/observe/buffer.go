package observe

import (
	"bytes"
	"slices"
	"time"
)

// Bounds of the correlation buffer.
const (
	Life      = 30 * time.Second // how long a use waits for its result
	maxOpen   = 4096             // uses
	maxInputs = MaxLine          // bytes of their inputs together
)

// Open is a use that waits for its result.
type Open struct {
	ToolUse
	Since time.Time `json:"-"` // when it was read
}

// Correlated is a use with its result.
type Correlated struct {
	ToolUse
	Result Result
}

// Buffer holds uses until their results come: the input is in one line, what
// became of it in a later one. It is bounded; the oldest uses go first. Its zero
// value is empty. Not safe for concurrent use.
type Buffer struct {
	open  []Open // oldest first
	bytes int
}

// Use keeps a use. One with the same id takes the place of the older. It returns
// how many uses had to go to make room.
func (b *Buffer) Use(u ToolUse, now time.Time) int {
	if i := b.find(u.ToolUseID); i >= 0 {
		b.remove(i)
	}
	b.open = append(b.open, Open{ToolUse: u, Since: now})
	b.bytes += len(u.Input)
	dropped := 0
	for len(b.open) > 1 && (len(b.open) > maxOpen || b.bytes > maxInputs) {
		b.remove(0)
		dropped++
	}
	return dropped
}

// Result returns the use that r answers, together with r, and forgets it. An
// error result counts as an answer, too: r.IsError says so.
func (b *Buffer) Result(r Result) (Correlated, bool) {
	i := b.find(r.ToolUseID)
	if i < 0 {
		return Correlated{}, false
	}
	u := b.open[i].ToolUse
	b.remove(i)
	return Correlated{ToolUse: u, Result: r}, true
}

// Flush forgets the uses that were read longer ago than their life, and returns
// how many.
func (b *Buffer) Flush(now time.Time) int {
	n := 0
	for len(b.open) > 0 && now.Sub(b.open[0].Since) > Life {
		b.remove(0)
		n++
	}
	return n
}

// Pending returns how many uses wait.
func (b *Buffer) Pending() int { return len(b.open) }

func (b *Buffer) find(id string) int {
	return slices.IndexFunc(b.open, func(o Open) bool { return o.ToolUseID == id })
}

func (b *Buffer) remove(i int) {
	b.bytes -= len(b.open[i].Input)
	b.open = slices.Delete(b.open, i, i+1)
}

// mayAnswer tells whether a line could hold the result of an open use. An id
// that JSON may have written with escapes is not looked for: then any line may.
func (b *Buffer) mayAnswer(line []byte) bool {
	if len(b.open) > 8 {
		return bytes.Contains(line, []byte("tool_result"))
	}
	return slices.ContainsFunc(b.open, func(o Open) bool { return !isPlain(o.ToolUseID) || bytes.Contains(line, []byte(o.ToolUseID)) })
}

// isPlain tells whether s is made of letters, digits, _ and - only.
func isPlain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
