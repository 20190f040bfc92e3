package external

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend/external/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/lineio"
	"github.com/leadlight-dev/leadlight/internal/tail"
	"github.com/leadlight-dev/leadlight/signals"
)

const (
	endLimit    = 2 * time.Second        // the program's, to end after its input did
	drainLimit  = 200 * time.Millisecond // what it wrote before it ended may take to be read
	cancelLimit = 5 * time.Second        // for the answer to a question that was cancelled
	maxStderr   = 2 << 10
)

// conn is one run of the program.
type conn struct {
	who   string
	hello wire.Hello
	log   *slog.Logger
	cmd   *exec.Cmd
	in    *os.File // its standard input
	out   *wire.Writer
	said  *tail.Tail
	gone  chan struct{} // closed when the program has ended

	mu      sync.Mutex // guards the next
	last    int64
	waiting map[string]chan wire.Message // by id
	broken  error                        // why nothing is answered any more

	stray     int    // lines that were no message
	lastStray string // what was wrong with the last
}

// lateError says that an answer did not come in time.
type lateError struct{ limit time.Duration }

func (e *lateError) Error() string { return "no answer within " + e.limit.String() }

// dial starts the program and greets it.
func dial(ctx context.Context, o Options, who string) (*conn, error) {
	c := &conn{who: who, log: o.Log, waiting: map[string]chan wire.Message{}, gone: make(chan struct{}), said: tail.New(maxStderr)}
	if err := c.run(o); err != nil {
		return nil, fault.New(fault.BackendUnavailable, "start %s: %w", who, err)
	}
	err := c.greet(ctx, o)
	if late, ok := errors.AsType[*lateError](err); ok {
		err = fault.New(fault.BackendUnavailable, "%s did not answer initialize within %s%s%s", who, late.limit, c.strays(), c.lastWords())
	}
	if err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

// run starts the program, in a process group of its own: the interrupt key is for us.
func (c *conn) run(o Options) error {
	c.cmd = exec.Command(o.Argv[0], o.Argv[1:]...)
	c.cmd.Env, c.cmd.Stderr = o.Environ, io.MultiWriter(logged{c.log}, c.said)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.WaitDelay = drainLimit // what it started may hold standard error open
	in, toIt, err := os.Pipe()
	if err != nil {
		return err
	}
	fromIt, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, in.Close(), toIt.Close())
	}
	c.cmd.Stdin, c.cmd.Stdout = in, out
	err = c.cmd.Start()
	_, _ = in.Close(), out.Close()
	if err != nil {
		_, _ = toIt.Close(), fromIt.Close()
		return err
	}
	c.in, c.out = toIt, wire.NewWriter(toIt)
	read := make(chan struct{})
	go func() { defer close(read); c.read(fromIt) }()
	go c.wait(read, fromIt)
	return nil
}

// wait follows the program to its end. What it started may hold its output open.
func (c *conn) wait(read <-chan struct{}, out io.Closer) {
	err := c.cmd.Wait()
	select {
	case <-read:
	case <-time.After(drainLimit):
	}
	_ = out.Close()
	<-read
	how := "ended"
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		how = "ended: " + err.Error()
	}
	c.fail(fault.New(fault.BackendUnavailable, "%s %s%s", c.who, how, c.lastWords()))
	_ = c.in.Close()
	close(c.gone)
}

// lastWords is the end of what the program wrote on standard error, as part of a sentence.
func (c *conn) lastWords() string {
	if text := strings.TrimSpace(c.said.String()); text != "" {
		lines := strings.Split(text, "\n")
		return "; it said: " + strings.Join(lines[max(0, len(lines)-3):], " | ")
	}
	return ""
}

// greet says who we are and learns who it is. Then it asks what no backend knows, so
// that each meets the unknown every time and not only on the day when it matters.
func (c *conn) greet(ctx context.Context, o Options) error {
	hello := struct {
		wire.Greeting
		Grease string `json:"x-grease"`
	}{wire.Greeting{Protocol: wire.Version, Host: wire.Peer{Name: "leadlight", Version: o.Version}, StateDir: o.StateDir, Terminal: o.Terminal}, grease()}
	if err := c.ask(ctx, wire.Initialize, hello, &c.hello, o.Limit); err != nil {
		return err
	}
	if c.hello.Protocol != wire.Version {
		return fault.New(fault.BackendUnavailable, "%s speaks version %d of the protocol, this leadlight version %d", c.who, c.hello.Protocol, wire.Version).
			WithHint("a newer leadlight, or another version of the backend, may help")
	}
	if err := c.send(wire.Message{Method: "x-grease/" + grease()}); err != nil {
		return err
	}
	_, id := c.expect()
	return c.send(wire.Message{ID: id, Method: "x-grease-" + grease()})
}

func grease() string { return strings.ToLower(rand.Text()[:8]) }

// expect notes a question whose answer is awaited.
func (c *conn) expect() (answer chan wire.Message, id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	id = json.RawMessage(strconv.FormatInt(c.last, 10))
	answer = make(chan wire.Message, 1)
	c.waiting[string(id)] = answer
	return answer, id
}

func (c *conn) forget(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, string(id))
}

func (c *conn) send(m wire.Message) error {
	// A program that does not read fills its pipe: then writing has a limit, too.
	_ = c.in.SetWriteDeadline(time.Now().Add(callLimit))
	line, err := c.out.Send(m)
	c.log.Debug("backend", "to", c.who, "line", string(line))
	if err == nil {
		return nil
	}
	if errors.Is(err, lineio.ErrLong) {
		return fault.New(fault.InvalidArgument, "ask %s: %w", c.who, err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) { // half a line may have gone
		c.kill()
		return fault.New(fault.BackendUnavailable, "%s does not read what it is asked", c.who)
	}
	select { // it has ended: let it be said how
	case <-c.gone:
		return c.why()
	case <-time.After(endLimit):
		return fault.New(fault.BackendUnavailable, "ask %s: %w", c.who, err)
	}
}

// ask asks one question. The error is a *lateError when the program owes the answer
// longer than the limit. When ctx ends first the program is told; what became of panes
// that were to be opened only it knows, so that answer is waited for.
func (c *conn) ask(ctx context.Context, method string, params, result any, limit time.Duration) error {
	encoded, err := wire.Encode(params)
	if err != nil {
		return fmt.Errorf("ask %s: %w", c.who, err)
	}
	answer, id := c.expect()
	defer c.forget(id)
	if err := c.why(); err != nil {
		return err
	}
	if err := c.send(wire.Message{ID: id, Method: method, Params: encoded}); err != nil {
		return err
	}
	select {
	case m, ok := <-answer:
		return c.take(m, ok, method, result)
	case <-time.After(limit):
		return &lateError{limit}
	case <-ctx.Done():
	}
	cancelled, _ := wire.Encode(wire.CancelParams{ID: id})
	if err := c.send(wire.Message{Method: wire.Cancel, Params: cancelled}); err != nil {
		return err
	}
	unanswered := fault.New(fault.BackendUnavailable, "%s was asked to %s: %w", c.who, method, ctx.Err())
	if method != wire.Open {
		return unanswered
	}
	limit = min(cancelLimit, limit)
	select {
	case m, ok := <-answer:
		if ok && m.Error != nil {
			return unanswered
		}
		return c.take(m, ok, method, result)
	case <-time.After(limit):
		return &lateError{limit}
	}
}

// take reads an answer.
func (c *conn) take(m wire.Message, ok bool, method string, result any) error {
	if !ok {
		return c.why()
	}
	if m.Error != nil {
		return m.Error.Fault(fmt.Sprintf("%s could not %s", c.who, method))
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fault.New(fault.BackendUnavailable, "%s answered %s with something else: %w", c.who, method, err)
	}
	return nil
}

// maxStray is how many lines that are no message a run of the program may say.
const maxStray = 32

// strayed notes a line that is no message: one is passed over. It tells whether it was one
// too many.
func (c *conn) strayed(why string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stray++
	c.lastStray = why
	return c.stray > maxStray
}

// strays is the last line that was no message, as part of a sentence.
func (c *conn) strays() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stray == 0 {
		return ""
	}
	return "; " + c.lastStray
}

// read hands answers out until the program ends. A line that is no message is passed over,
// but not many of them.
func (c *conn) read(out io.Reader) {
	lines := wire.NewReader(out)
	for {
		m, line, bad, err := lines.Message()
		if err != nil {
			return
		}
		c.log.Debug("backend", "from", c.who, "line", string(line))
		if bad != nil {
			if why := fmt.Sprintf("%s: %.80q", bad.Message, line); c.strayed(why) {
				c.fail(fault.New(fault.BackendUnavailable, "%s does not keep to the protocol: %s", c.who, why))
				c.kill()
			}
			continue
		}
		c.handle(m)
	}
}

// handle gives an answer to whoever asked. Notifications that are not known are passed
// over, and so are answers that nobody waits for any more.
func (c *conn) handle(m wire.Message) {
	if m.Method != "" {
		return
	}
	c.mu.Lock()
	answer, ok := c.waiting[string(m.ID)]
	delete(c.waiting, string(m.ID))
	c.mu.Unlock()
	if ok {
		answer <- m
	}
}

// fail tells everybody who waits that no answer will come. The first reason counts.
func (c *conn) fail(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = why
	}
	for id, answer := range c.waiting {
		close(answer)
		delete(c.waiting, id)
	}
}

func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// end lets the program go: it is told, and its input ends. One that does not go is killed.
func (c *conn) end() {
	_, id := c.expect()
	_ = c.send(wire.Message{ID: id, Method: wire.Shutdown})
	_ = c.in.Close()
	select {
	case <-c.gone:
	case <-time.After(endLimit):
		c.kill()
	}
}

// kill ends the program at once, with what is in its process group: its panes are not.
func (c *conn) kill() {
	c.fail(fault.New(fault.BackendUnavailable, "%s was ended because it did not answer", c.who))
	if group, err := signals.OwnGroup(c.cmd.Process.Pid); err == nil { // else it has ended
		_ = group.Signal(syscall.SIGKILL)
	}
}

// logged writes what a program says to people into the log.
type logged struct{ log *slog.Logger }

func (l logged) Write(p []byte) (int, error) {
	l.log.Debug("backend", "says", string(bytes.TrimSpace(p)))
	return len(p), nil
}
