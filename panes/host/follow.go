package host

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"
)

// opFollow is answered with a line for the status of now, and with another one
// each time the state, the task or the program changes, until either side hangs
// up. Several changes at once are one line.
const opFollow = "follow"

// follow serves one follower.
func (s *server) follow(ctx context.Context, conn *net.UnixConn, r *bufio.Reader) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends when the connection is closed, by either side
		io.Copy(io.Discard, r)
		cancel()
	}()
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
		line, err := r.ReadBytes('\n')
		if err != nil {
			return c.failure(ctx, opFollow, err)
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("%s: the host's answer cannot be read: %w", opFollow, err)
		}
		if a.Error != nil {
			return a.Error
		}
		var s Status
		if err := json.Unmarshal(a.Result, &s); err != nil {
			return fmt.Errorf("%s: the host's answer cannot be read: %w", opFollow, err)
		}
		each(s)
	}
}
