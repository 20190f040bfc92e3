package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// Client speaks to a daemon. It is safe for concurrent use. Every call is bounded
// by its context; errors carry the codes of package fault that the daemon told.
type Client struct {
	c      *jrpc2.Client
	pushes chan push
	done   chan struct{} // the connection is gone
	quit   chan struct{} // nobody listens any more
	once   sync.Once
}

// push is what came unasked.
type push struct {
	method string
	params json.RawMessage
}

// Dial connects to the daemon on a socket, the one that `leadlight daemon status
// --json` names. Nobody there is fault.BackendUnavailable's cousin Failed with the
// system's error as its cause (ENOENT, ECONNREFUSED).
func Dial(ctx context.Context, socket string) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fault.New(fault.Failed, "reach the daemon: %w", err).WithHint("leadlight daemon start starts it")
	}
	return NewClient(conn), nil
}

// NewClient speaks over a connection, which it closes in the end.
func NewClient(conn net.Conn) *Client {
	c := &Client{pushes: make(chan push), done: make(chan struct{}), quit: make(chan struct{})}
	c.c = jrpc2.NewClient(&sorter{channel.Line(conn, conn), c}, &jrpc2.ClientOptions{
		OnStop: func(*jrpc2.Client, error) { close(c.done) },
	})
	return c
}

// sorter takes what comes unasked out of the stream, in its order, which jrpc2
// does not keep.
type sorter struct {
	channel.Channel
	c *Client
}

// Recv implements channel.Channel: it returns answers only.
func (s *sorter) Recv() ([]byte, error) {
	for {
		line, err := s.Channel.Recv()
		if err != nil {
			return line, err
		}
		var m struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.Method == "" {
			return line, nil
		}
		select {
		case s.c.pushes <- push{m.Method, m.Params}:
		case <-s.c.quit:
		}
	}
}

// Close hangs up.
func (c *Client) Close() error {
	c.once.Do(func() { close(c.quit) })
	return c.c.Close()
}

// Call calls any method: params is a struct or nil, result a pointer or nil. The
// typed functions and methods of this package are made of it.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if params == nil {
		params = Nothing{}
	}
	r, err := c.c.Call(ctx, method, params)
	if err != nil {
		return fromWire(ctx, method, err)
	}
	if result == nil {
		return nil
	}
	if err := r.UnmarshalResult(result); err != nil {
		return fmt.Errorf("%s: the answer cannot be read: %w", method, err)
	}
	return nil
}

// Do is Call with the result as a value.
func Do[R any](ctx context.Context, c *Client, method string, params any) (R, error) {
	var r R
	err := c.Call(ctx, method, params, &r)
	return r, err
}

// Hello tells the daemon who calls and asks which daemon it is.
func (c *Client) Hello(ctx context.Context, version string) (api.Hello, error) {
	return Do[api.Hello](ctx, c, "hello", api.HelloParams{Version: version})
}

// Status asks what the daemon sees.
func (c *Client) Status(ctx context.Context) (api.DaemonStatus, error) {
	return Do[api.DaemonStatus](ctx, c, "daemon.status", nil)
}
