package host

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/leadlight-dev/leadlight/signals"
)

// BenchmarkCopyPath is what output costs before the pane takes it.
func BenchmarkCopyPath(b *testing.B) {
	o := &output{ring: newRing(ringSize), modes: newModes()}
	p := bytes.Repeat([]byte("\x1b[32mok\x1b[0m   some output of a program\r\n"), 800)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		o.put(p, 0)
	}
}

func BenchmarkScreenModel(b *testing.B) {
	s := newScreen(newRing(1024), 50, 160, nil)
	defer s.end()
	p := bytes.Repeat([]byte("\x1b[32mok\x1b[0m   some output of a program\r\n"), 400)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		s.feed(p)
	}
}

// BenchmarkRun is a whole run of a program that does nothing.
func BenchmarkRun(b *testing.B) {
	h, err := New(Options{ID: "benchmark"})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	for b.Loop() {
		if _, err := h.Run(context.Background(), Command{Argv: []string{"true"}, Dir: "/", Env: os.Environ()}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarked(b *testing.B) {
	for b.Loop() {
		if _, err := signals.Marked("benchmark"); err != nil {
			b.Fatal(err)
		}
	}
}
