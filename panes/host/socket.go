package host

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
)

// socketCheck is how often the socket's file is looked for.
const socketCheck = time.Second

// maxConnections bounds those who are served at a time.
const maxConnections = 128

// server answers on the control socket.
type server struct {
	host   *Host
	socket *unixsock.Listener
	taken  *progress // of what viewers are sent

	mu      sync.Mutex
	viewers []*viewer // oldest first
}

// listen makes the socket; connections wait until run.
func listen(h *Host, path string) (*server, error) {
	socket, err := unixsock.Open(unixsock.Options{Path: path, Most: maxConnections, Full: tooMany, Log: h.opt.Log})
	if err != nil {
		return nil, err
	}
	return &server{host: h, socket: socket, taken: newProgress()}, nil
}

func tooMany(conn *net.UnixConn) {
	conn.SetWriteDeadline(time.Now().Add(time.Second))
	writeAnswer(conn, nil, fault.New(fault.LimitReached, "the host serves %d connections already", maxConnections))
}

// run serves until ctx ends, and makes the socket again when its file is gone.
func (s *server) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.socket.Start(func(conn *net.UnixConn) { s.handle(ctx, conn) })
	tick := time.NewTicker(socketCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.socket.Wait()
			return
		case <-tick.C:
			if err := s.socket.Mend(); errors.Is(err, net.ErrClosed) {
				tick.Stop()
			}
		}
	}
}

// How long a closing host still answers.
const (
	closeLimit = 2 * time.Second  // while no viewer takes anything
	closeMost  = 10 * time.Second // for viewers that take it slowly
)

// close accepts nobody more, lets answers under way finish, then hangs up.
func (s *server) close() {
	s.socket.Close()
	done := make(chan struct{})
	go func() {
		s.socket.Wait()
		close(done)
	}()
	if s.taken.await(done, closeLimit, closeMost, nil) {
		return
	}
	s.socket.HangUp()
	closedWithin(done, closeLimit)
}
