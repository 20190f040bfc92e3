package iterm2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// A Cookie gets what lets one connection in, and a key that tells iTerm2 which program it
// is. It is bounded by ctx.
type Cookie func(ctx context.Context) (cookie, key string, err error)

// maxMessage is the largest message taken from iTerm2, in bytes.
const maxMessage = 16 << 20

var (
	errMute = errors.New("it did not answer in time")
	errLost = errors.New("the connection was lost")

	// errUnsent is an errLost before iTerm2 got the request whole: it did nothing.
	errUnsent error = unsent{}
)

// unsent needs nothing at the start of the program, unlike an error that is put together.
type unsent struct{}

func (unsent) Error() string { return errLost.Error() + " before the request was sent" }
func (unsent) Unwrap() error { return errLost }

// link is the way to iTerm2: one connection, made when it is needed.
type link struct {
	opt     Options
	dialing chan struct{} // of one: whoever has put something in makes a connection

	mu   sync.Mutex // guards the next
	conn *conn      // nil: none
}

// conn is one connection. A request waits for the answer with its id.
type conn struct {
	ws   *socket
	done chan struct{} // closed when the connection is over

	mu      sync.Mutex // guards the next
	last    int
	waiting map[int]chan *wire.Response
}

// ask sends a request and waits for the answer. fault.BackendUnavailable; errAway in it
// when iTerm2 does not run. A connection that ended before iTerm2 had the request, or that
// ended while something was only read, is made again, once.
func (l *link) ask(ctx context.Context, r *wire.Request) (*wire.Response, error) {
	a, err := l.try(ctx, r)
	if errors.Is(err, errUnsent) || errors.Is(err, errLost) && reads(r) {
		a, err = l.try(ctx, r)
	}
	return a, err
}

// reads tells whether a request changes nothing, so that asking twice is the same.
func reads(r *wire.Request) bool {
	return r.ListSessions != nil || r.Focus != nil || r.Variable != nil && len(r.Variable.Set) == 0
}

func (l *link) try(ctx context.Context, r *wire.Request) (*wire.Response, error) {
	c, err := l.connected(ctx)
	if err != nil {
		return nil, err
	}
	tctx, cancel := context.WithTimeoutCause(ctx, l.opt.Timeout, errMute)
	defer cancel()
	a, err := c.ask(tctx, l.opt.Timeout, r)
	switch {
	case ctx.Err() != nil:
		return nil, fault.New(fault.Of(ctx.Err()).Code, "ask iTerm2: %w", ctx.Err())
	case errors.Is(err, errMute):
		return nil, fault.New(fault.BackendUnavailable, "ask iTerm2: %w (%s)", err, l.opt.Timeout).
			WithHint("a dialog of iTerm2 may be waiting for you")
	case err != nil:
		return nil, fault.New(fault.BackendUnavailable, "ask iTerm2: %w", err)
	case a.Error != nil:
		return nil, fault.New(fault.BackendUnavailable, "iTerm2 did not understand a request: %.200s", *a.Error).
			WithHint("this iTerm2 may be too old; update it, or use --backend tmux")
	}
	return a, nil
}

// connected returns the connection, made if there is none. Somebody else who is being let
// in, perhaps by a person who is asked, is waited for no longer than our own turn may take.
func (l *link) connected(ctx context.Context) (*conn, error) {
	if c := l.current(); c != nil {
		return c, nil
	}
	pctx, cancel := context.WithTimeoutCause(ctx, 10*l.opt.Timeout, errMute)
	defer cancel()
	select {
	case l.dialing <- struct{}{}:
		defer func() { <-l.dialing }()
	case <-pctx.Done():
	}
	if c := l.current(); c != nil {
		return c, nil
	}
	if pctx.Err() != nil {
		return nil, l.shut(ctx, pctx, context.Cause(pctx))
	}
	c, err := l.dial(ctx, pctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = c
	go l.read(c)
	return c, nil
}

func (l *link) current() *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		select {
		case <-l.conn.done:
			l.conn = nil
		default:
		}
	}
	return l.conn
}

// dial gets a cookie, once it is sure that somebody listens, and does the handshake. ctx is
// the caller's, and pctx has our patience besides.
func (l *link) dial(ctx, pctx context.Context) (*conn, error) {
	dialer := net.Dialer{Timeout: l.opt.Timeout}
	unix, err := dialer.DialContext(pctx, "unix", l.opt.Socket)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fault.New(fault.BackendUnavailable, "nobody listens on %s: %w", l.opt.Socket, errAway).
			WithHint("in iTerm2's settings, General, Magic: Enable Python API")
	case pctx.Err() != nil:
		return nil, l.shut(ctx, pctx, err)
	case err != nil:
		return nil, fault.New(fault.BackendUnavailable, "connect to iTerm2: %w", err)
	}
	cookie, key, err := l.opt.Cookie(pctx)
	if err != nil {
		_ = unix.Close()
		return nil, l.shut(ctx, pctx, err)
	}
	tctx, cancel := context.WithTimeoutCause(pctx, l.opt.Timeout, errMute)
	defer cancel()
	start := time.Now()
	ws, status, err := handshake(tctx, unix, []header{
		{"Origin", "ws://localhost/"}, {"X-Iterm2-Library-Version", "go 1.0"}, {"X-Iterm2-Cookie", cookie}, {"X-Iterm2-Key", key},
		{"X-Iterm2-Advisory-Name", "leadlight"}, {"X-Iterm2-Disable-Auth-Ui", "true"},
	})
	if err != nil || status != switched {
		_ = unix.Close()
		if err == nil {
			return nil, turnedAway(status)
		}
		return nil, l.shut(ctx, tctx, err)
	}
	l.opt.Log.Debug("iterm2: connected", "socket", l.opt.Socket, "took", time.Since(start))
	return &conn{ws: ws, done: make(chan struct{}), waiting: map[int]chan *wire.Response{}}, nil
}

// shut explains why iTerm2 did not let us in.
func (l *link) shut(ctx, limited context.Context, err error) error {
	if ctx.Err() != nil {
		return fault.New(fault.Of(ctx.Err()).Code, "connect to iTerm2: %w", ctx.Err())
	}
	if cause := context.Cause(limited); cause != nil {
		err = cause
	}
	e := fault.Of(fault.New(fault.BackendUnavailable, "iTerm2 did not let us in: %w", err))
	if found, ok := errors.AsType[*fault.Error](err); ok && found.Hint != "" {
		return e.WithHint("%s", found.Hint)
	}
	return e.WithHint("a dialog may be waiting for you: let this terminal control iTerm2 (System Settings, Privacy & Security, Automation)")
}

// HTTP's statuses of a handshake that iTerm2 refuses.
const (
	unauthorized  = 401
	notAcceptable = 406
)

// turnedAway explains the HTTP status of a refused handshake.
func turnedAway(status int) error {
	why, hint := "it answered the handshake with HTTP status", "this iTerm2 may be too old or too new; leadlight --backend tmux works in every terminal"
	switch status {
	case unauthorized:
		why, hint = "permission to use its API was refused:", "allow it in iTerm2's settings, General, Magic: Enable Python API, and let this terminal control iTerm2 (System Settings, Privacy & Security, Automation)"
	case notAcceptable:
		why = "it wants a newer client:"
	}
	return fault.New(fault.BackendUnavailable, "iTerm2 did not let us in: %s %d", why, status).WithHint("%s", hint)
}

// read takes what comes until the connection ends.
func (l *link) read(c *conn) {
	for {
		data, err := c.ws.read()
		var r wire.Response
		if err == nil {
			err = wire.Unmarshal(data, &r)
		}
		if err != nil {
			l.opt.Log.Debug("iterm2: the connection ended", "error", err)
			break
		}
		c.mu.Lock()
		answer := c.waiting[r.ID]
		delete(c.waiting, r.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- &r
		}
	}
	_ = c.ws.conn.Close()
	close(c.done)
}

// ask sends one request and waits for its answer.
func (c *conn) ask(ctx context.Context, limit time.Duration, r *wire.Request) (*wire.Response, error) {
	answer := make(chan *wire.Response, 1)
	c.mu.Lock()
	c.last++
	said := *r
	said.ID = c.last
	c.waiting[said.ID] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, said.ID)
		c.mu.Unlock()
	}()
	// A write that is cut off breaks the connection for all: it gets the limit, not the caller's ctx.
	if err := c.ws.write(time.Now().Add(limit), opBinary, wire.Marshal(&said)); err != nil {
		_ = c.ws.conn.Close()
		<-c.done // the reader sees the end, too, and the next question gets another connection
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	select {
	case a := <-answer:
		return a, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.done:
	}
	select {
	case a := <-answer: // it was the last thing that came
		return a, nil
	default:
		return nil, errLost
	}
}

func (l *link) hangUp() {
	if c := l.current(); c != nil {
		c.ws.close()
		<-c.done
	}
}

// said is what a program said, as the end of a message about it.
func said(outs ...[]byte) string {
	if text := clean(bytes.Join(outs, []byte(" "))); text != "" {
		return ": " + text
	}
	return ""
}

// clean is a line of a program's output, to be shown.
func clean(out []byte) string {
	s := strings.Join(strings.Fields(string(out)), " ")
	if len(s) > 200 {
		s = s[:200]
	}
	return s
}
