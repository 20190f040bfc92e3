package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// Limits of a call with a stream.
const (
	maxMeet    = 16               // who connect at a time; one is let in
	meetLimit  = 10 * time.Second // for whoever asks to connect
	leaveLimit = 5 * time.Second  // for the last bytes, once the viewer has gone
)

// stream lets another machine carry out a verb whose bytes go both ways between it and a
// socket here, to which the process connects that has asked.
func (e *Engine) stream(ctx context.Context, pid int, d api.MachineCall, tell func(json.RawMessage)) (json.RawMessage, error) {
	conn, hangUp, err := e.meet(ctx, pid, tell)
	if err != nil {
		return nil, err
	}
	defer hangUp()
	there, err := e.Stream(d.Machine, d.ID)
	if err != nil {
		return nil, err
	}
	defer there.Close()
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		if _, err := io.Copy(conn, there); err != nil {
			_, _ = io.Copy(io.Discard, there) // nobody looks any more; the other machine is not to wait
		}
	}()
	go func() {
		_, _ = io.Copy(there, conn) // either way nothing more comes
		_ = there.CloseWrite()
		time.AfterFunc(leaveLimit, enough)
	}()
	result, err := e.call(ctx, d, tell)
	if err == nil { // all has come, up to the end; it is shown as slowly as the viewer takes it
		select {
		case <-shown:
		case <-ctx.Done():
		}
	}
	return result, err
}

// meet makes a socket, tells where it is, and waits until a process has connected to it. Others
// of this user are refused: a teammate would be taken for the lead.
func (e *Engine) meet(ctx context.Context, pid int, tell func(json.RawMessage)) (conn net.Conn, hangUp func(), err error) {
	path := filepath.Join(e.run, "attach-"+rand.Text()[:8]+".sock")
	l, err := unixsock.Open(unixsock.Options{Path: path, Most: maxMeet, Log: e.log})
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	came, over := make(chan net.Conn), make(chan struct{})
	l.Start(func(c *net.UnixConn) {
		if from, err := unixsock.PeerProcess(c); err != nil || from != pid {
			e.log.Warn("refused a connection to the socket of another process", "pid", from, "of", pid, "error", err)
			return
		}
		select {
		case came <- c:
			<-over
		case <-over:
		}
	})
	where, err := json.Marshal(api.MachineSocket{Socket: path})
	if err != nil {
		return nil, nil, err
	}
	tell(where)
	select {
	case conn := <-came:
		return conn, func() { close(over) }, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-time.After(meetLimit):
		err = fault.New(fault.Timeout, "nobody has connected to %s", path)
	}
	close(over)
	return nil, nil, err
}
