package iterm2

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend/iterm2/iterm2test"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// TestHalfAFrameEndsTheConnection: whatever comes behind a request of which iTerm2 got only
// a part is not understood, so nothing more goes that way, also when the caller has left.
func TestHalfAFrameEndsTheConnection(t *testing.T) {
	t.Parallel()
	s := iterm2test.Start(t)
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go theirs.Read(make([]byte, 3))
	c := &conn{ws: &socket{conn: ours, lines: bufio.NewReader(ours)}, done: make(chan struct{}), waiting: map[int]chan *wire.Response{}}
	l := &link{opt: Options{Socket: s.Socket, Cookie: s.Cookie, Timeout: time.Minute, Log: slog.New(slog.DiscardHandler)}, dialing: make(chan struct{}, 1), conn: c}
	go l.read(c)
	defer func() { l.hangUp(); _ = ours.Close() }()
	gone, leave := context.WithCancel(t.Context())
	leave()
	request := &wire.Request{ListSessions: &wire.Empty{}}
	if _, err := c.ask(gone, 10*time.Millisecond, request); !errors.Is(err, context.Canceled) {
		t.Errorf("half a frame: %v", err)
	}
	if l.current() != nil {
		t.Fatal("the connection is kept")
	}
	if a, err := l.ask(t.Context(), request); err != nil || a.ListSessions == nil {
		t.Errorf("the next request: %+v, %v", a, err)
	}
}
