package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// Client speaks to a daemon. It is safe for concurrent use. Every call is bounded
// by its context; errors carry the codes of package fault that the daemon told.
type Client struct {
	conn   net.Conn
	pushes chan push
	done   chan struct{} // the connection is gone
	quit   chan struct{} // nobody listens any more
	once   sync.Once

	writing sync.Mutex // one request at a time

	mu      sync.Mutex // guards the next
	last    int
	waiting map[int]chan<- answer // by the ids of their requests
}

// request is what is asked, and answer what comes back: a result or an error, or, without
// an id, a method that tells something unasked.
type request struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

type answer struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *wireError      `json:"error"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
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
	c := &Client{
		conn: conn, pushes: make(chan push), done: make(chan struct{}), quit: make(chan struct{}),
		waiting: map[int]chan<- answer{},
	}
	go c.read()
	return c
}

// read takes what comes until the connection ends. What is told unasked is taken in its
// order, and holds up the rest until somebody has listened.
func (c *Client) read() {
	defer close(c.done)
	defer c.conn.Close()
	for lines := bufio.NewReader(c.conn); ; {
		line, err := lines.ReadBytes('\n')
		var a answer
		if err != nil || json.Unmarshal(line, &a) != nil {
			return
		}
		if a.Method != "" {
			select {
			case c.pushes <- push{a.Method, a.Params}:
			case <-c.quit:
			}
			continue
		}
		id, err := strconv.Atoi(string(a.ID))
		if err != nil {
			return // it answers nothing that was asked
		}
		if waits := c.taken(id); waits != nil {
			waits <- a
		}
	}
}

// taken returns who waits for an answer, who then waits no longer.
func (c *Client) taken(id int) chan<- answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits := c.waiting[id]
	delete(c.waiting, id)
	return waits
}

// Close hangs up.
func (c *Client) Close() error {
	c.once.Do(func() { close(c.quit) })
	err := c.conn.Close()
	<-c.done
	if errors.Is(err, net.ErrClosed) {
		return nil // the other side was first
	}
	return err
}

// Call calls any method: params is a struct or nil, result a pointer or nil. The
// typed functions and methods of this package are made of it.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if params == nil {
		params = Nothing{}
	}
	a, err := c.ask(ctx, method, params)
	if err != nil {
		return fromWire(ctx, method, err)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return fmt.Errorf("%s: the answer cannot be read: %w", method, err)
	}
	return nil
}

func (c *Client) ask(ctx context.Context, method string, params any) (answer, error) {
	got := make(chan answer, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = got
	c.mu.Unlock()
	defer c.taken(id)
	line, err := json.Marshal(request{"2.0", id, method, params})
	if err != nil {
		return answer{}, err
	}
	c.writing.Lock()
	_, err = c.conn.Write(append(line, '\n'))
	c.writing.Unlock()
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", ErrHungUp, err)
	}
	select {
	case a := <-got:
		return told(a)
	case <-ctx.Done():
		return answer{}, ctx.Err()
	case <-c.done:
	}
	select {
	case a := <-got: // it was the last thing that came
		return told(a)
	default:
		return answer{}, ErrHungUp
	}
}

// told returns an answer, or the error that it is.
func told(a answer) (answer, error) {
	if a.Error != nil {
		return a, a.Error
	}
	return a, nil
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
