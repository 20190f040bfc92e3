package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/unixsock"
)

// Client talks to a Host over its socket, one connection a request. It may be
// used by several goroutines at once. Every method fails with ErrNoHost if nobody
// listens, with the context's error if the host does not answer in time, and with
// the fault that the host told.
type Client struct{ socket string }

// Dial returns a client for a socket. It connects for each request anew, so it
// costs nothing and cannot fail.
func Dial(socket string) *Client { return &Client{socket: socket} }

// Status asks what is known now.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	err = c.call(ctx, "status", nil, &s)
	return s, err
}

// Capture asks for the pane's text, see Host.Capture.
func (c *Client) Capture(ctx context.Context, lines int, ansi bool) (t Capture, err error) {
	err = c.call(ctx, "capture", captureParams{Lines: lines, ANSI: ansi}, &t)
	return t, err
}

// Inject types text, see Host.Inject. If ctx ends first, what is not typed by
// then is not typed at all.
func (c *Client) Inject(ctx context.Context, in Input) error {
	return c.call(ctx, "inject", in, nil)
}

// Keys presses keys, see Host.Keys.
func (c *Client) Keys(ctx context.Context, names []string) error {
	return c.call(ctx, "keys", keysParams{names}, nil)
}

// Variables returns those of the host's variables (K=V) that are named.
func (c *Client) Variables(ctx context.Context, names []string) (env []string, err error) {
	err = c.call(ctx, "variables", variablesParams{names}, &env)
	return env, err
}

// Shutdown ends what runs and closes the host. It goes on when ctx ends.
func (c *Client) Shutdown(ctx context.Context, r ShutdownRequest) (report Report, err error) {
	err = c.call(ctx, "shutdown", r, &report)
	return report, err
}

// call is one request and its answer.
func (c *Client) call(ctx context.Context, op string, params, result any) error {
	_, r, end, err := c.begin(ctx, op, params)
	if err != nil {
		return err
	}
	defer end()
	return c.answer(ctx, op, r, result)
}

// begin connects and sends the request. Nothing is waited for on the connection once ctx has
// ended; end closes it.
func (c *Client) begin(ctx context.Context, op string, params any) (_ net.Conn, _ *bufio.Reader, end func(), _ error) {
	if err := unixsock.CheckPath(c.socket); err != nil {
		return nil, nil, nil, err
	}
	q := request{V: protocolVersion, Op: op}
	if params != nil {
		raw, err := json.Marshal(params)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", op, err)
		}
		q.Params = raw
	}
	line, err := json.Marshal(q)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", op, err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.socket)
	if err != nil {
		return nil, nil, nil, c.failure(ctx, op, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	end = func() { stop(); conn.Close() }
	if _, err := conn.Write(append(line, '\n')); err != nil {
		// A host that refuses a request says so before it has read it all.
		if refusal := c.answer(ctx, op, bufio.NewReader(conn), nil); refusal != nil && !errors.Is(refusal, ErrNoHost) {
			err = refusal
		}
		end()
		return nil, nil, nil, c.failure(ctx, op, err)
	}
	return conn, bufio.NewReader(conn), end, nil
}

func (c *Client) answer(ctx context.Context, op string, r *bufio.Reader, result any) error {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return c.failure(ctx, op, err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return fmt.Errorf("%s: the host's answer cannot be read: %w", op, err)
	}
	if a.Error != nil {
		return a.Error
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return fmt.Errorf("%s: the host's answer cannot be read: %w", op, err)
	}
	return nil
}

// failure tells a host that is not there from one that is mute.
func (c *Client) failure(ctx context.Context, op string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: the host does not answer: %w", op, ctx.Err())
	case hungUp(err) || isAny(err, fs.ErrNotExist, syscall.ECONNREFUSED, syscall.ENOTDIR):
		return fmt.Errorf("%s: %w on %s: %w", op, ErrNoHost, c.socket, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// hungUp tells whether an error of a connection is its end by the other side.
func hungUp(err error) bool {
	return isAny(err, io.EOF, io.ErrUnexpectedEOF, syscall.EPIPE, syscall.ECONNRESET)
}

func isAny(err error, known ...error) bool {
	return slices.ContainsFunc(known, func(one error) bool { return errors.Is(err, one) })
}
