package host

import (
	"io"
	"strings"
	"sync"
	"testing"
)

// heard keeps what was written, for several goroutines.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(p)
	select {
	case h.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// A job can be spoken to: what it says goes to who speaks, and so do the keys; the pane shows
// neither.
func TestTalk(t *testing.T) {
	h := newHost(t, Options{})
	in, input := io.Pipe()
	said, keys := &heard{more: make(chan struct{}, 1)}, &heard{more: make(chan struct{}, 1)}
	c := shell("cat; echo end")
	c.Pipes, c.Stdout, c.Stderr, c.Talk = true, said, said, &Talk{Input: in, Keys: keys}
	go func() {
		_, _ = io.WriteString(input, "hello\n")
		<-said.more
		if err := h.Inject(t.Context(), Input{Text: "typed"}); err != nil {
			t.Error(err)
		}
		for !strings.HasSuffix(keys.String(), "\r") {
			<-keys.more
		}
		_ = input.Close()
	}()
	exit, err := h.Run(limited(t), c)
	if err != nil || exit.Code != 0 || said.String() != "hello\nend\n" || keys.String() != "typed\r" || h.Tail(0) != "" {
		t.Errorf("%+v, %v: said %q, typed %q, shown %q", exit, err, said.String(), keys.String(), h.Tail(0))
	}
	// It ends, too, while nobody closes its input.
	in, input = io.Pipe()
	defer input.Close()
	c = shell("exit 3")
	c.Pipes, c.Stdout, c.Stderr, c.Talk = true, said, said, &Talk{Input: in, Keys: keys}
	if exit, err = h.Run(limited(t), c); err != nil || exit.Code != 3 {
		t.Errorf("%+v, %v", exit, err)
	}
}
