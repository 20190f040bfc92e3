package host

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"time"
)

// opFollow is answered with a line for the status of now, and with another one
// each time the state, the task or the program changes, until either side hangs
// up. Several changes at once are one line.
const opFollow = "follow"

// follow serves one follower.
func (s *server) follow(ctx context.Context, conn *net.UnixConn, _ *bufio.Reader, _ json.RawMessage) {
	for {
		s.host.mu.Lock()
		statusChanged := s.host.statusChanged
		s.host.mu.Unlock()
		conn.SetWriteDeadline(time.Now().Add(answerLimit))
		if err := writeAnswer(conn, s.host.Status(), nil); err != nil {
			return
		}
		select {
		case <-statusChanged:
		case <-ctx.Done():
			return
		case <-s.host.closed:
			select {
			case <-statusChanged: // the last one is told, too
			default:
				return
			}
		}
	}
}

// Follow hands each status that the host tells to each, the one of now first,
// until ctx ends or the host is gone (ErrNoHost).
func (c *Client) Follow(ctx context.Context, each func(Status)) error {
	_, r, end, err := c.begin(ctx, opFollow, nil)
	if err != nil {
		return err
	}
	defer end()
	for {
		var s Status
		if err := c.answer(ctx, opFollow, r, &s); err != nil {
			return err
		}
		each(s)
	}
}
