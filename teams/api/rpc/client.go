package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// MaxLine is how many bytes a request may have.
const MaxLine = 32 << 20

// Client speaks to a daemon. It is safe for concurrent use. Every call is bounded
// by its context; errors carry the codes of package fault that the daemon told.
type Client struct {
	conn   net.Conn
	pushes chan push
	done   chan struct{} // the connection is gone
	quit   chan struct{} // nobody listens any more
	once   sync.Once

	writing chan struct{} // holds one value while a request is written

	mu      sync.Mutex // guards the next
	pid     int        // of the daemon, once it has said hello
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
		writing: make(chan struct{}, 1), waiting: map[int]chan<- answer{},
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
		if err != nil && a.Error != nil {
			c.tellAll(a)
			continue
		} else if err != nil {
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

// tellAll tells all who wait that a request was none: whose it is an answer without an id
// does not say, and nothing else would come for that one.
func (c *Client) tellAll(a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, waits := range c.waiting {
		waits <- a
	}
	clear(c.waiting)
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
	if len(line) > MaxLine {
		return answer{}, fault.New(fault.LimitReached, "the request has %d bytes, the limit is %d", len(line), MaxLine).WithHint("put long text into a file and name it")
	}
	if err := c.write(ctx, append(line, '\n')); err != nil {
		return answer{}, err
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

// write sends a line, unless ctx ends first. The connection stays if nothing of it was sent
// then: half a line would spoil the next one.
func (c *Client) write(ctx context.Context, line []byte) error {
	select {
	case c.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return ErrHungUp
	}
	defer func() { <-c.writing }()
	late := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(late)
		_ = c.conn.SetWriteDeadline(time.Unix(1, 0)) // without a connection there is nothing to end
	})
	n, err := c.conn.Write(line)
	if !stop() {
		<-late
		_ = c.conn.SetWriteDeadline(time.Time{})
	}
	if err == nil {
		return nil
	}
	if n > 0 {
		_ = c.conn.Close()
	}
	if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrHungUp, err)
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
	h, err := Do[api.Hello](ctx, c, "hello", api.HelloParams{Version: version})
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pid = h.PID
	}
	return h, err
}

// PID is the daemon's process, 0 before it has said hello. It is known also when it has hung up.
func (c *Client) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid
}

// Status asks what the daemon sees.
func (c *Client) Status(ctx context.Context) (api.DaemonStatus, error) {
	return Do[api.DaemonStatus](ctx, c, "daemon.status", nil)
}
