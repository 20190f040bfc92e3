package memory

import (
	"context"
	"regexp"

	"github.com/leadlight-dev/leadlight/backend"
)

// maxOutput is how many bytes of output a pane keeps.
const maxOutput = 64 << 10

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)")

// Capture returns the output of a pane. There is no screen: what a program overwrote is
// still in it.
func (b *Backend) Capture(_ context.Context, id backend.ID, lines int, ansi bool) (string, error) {
	b.mu.Lock()
	p, err := b.find(id)
	b.mu.Unlock()
	if err != nil {
		return "", err
	}
	text := p.output.String()
	if !ansi {
		text = escapes.ReplaceAllString(text, "")
	}
	return backend.LastLines(text, lines), nil
}
