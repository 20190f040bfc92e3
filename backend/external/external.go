// Package external is a backend in a program of its own: leadlight-backend-NAME on
// PATH, which is asked over its standard input and output (package wire has the words,
// docs/backend-protocol.md the specification, package plugin the other half).
//
// The program runs while it is needed: it is started by the first question and ended
// after a pause without one. Its panes stay; what it has to remember lies in its
// terminal or in the state folder. Standard error is its log: the last lines are told
// when it fails. Every question has a limit. A program that does not answer in time is
// killed, and the next question starts another; questions that were on their way fail
// with fault.BackendUnavailable. After several that did not even begin well it is not
// tried again for a while.
//
// Questions are asked at the same time and answered in any order.
package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Prefix is what the name of a backend's program begins with.
const Prefix = "leadlight-backend-"

// The limits that hold where Options says nothing.
const (
	callLimit = 4 * time.Second // below the 5 s that a verb gives a terminal, so that it is told what was slow
	openLimit = 30 * time.Second
	idleLimit = 2 * time.Second
)

// Options is what a Backend is made of.
type Options struct {
	Name     string        // of the backend, for messages
	Argv     []string      // the program, absolute, and its arguments
	Environ  []string      // its environment
	Terminal string        // from Address: which terminal it is to reach; "": it finds one itself
	StateDir string        // its folder, absolute; it makes it when it needs it
	Version  string        // leadlight's own
	Limit    time.Duration // of one question, the greeting included; 0: 4 s
	Opening  time.Duration // of one Open; 0: 30 s
	Idle     time.Duration // how long the program waits for a next question; 0: 2 s, negative: for ever
	Log      *slog.Logger  // every line, both ways, at level debug; nil: nobody listens
}

// Backend asks a program. Its methods are safe for concurrent use.
type Backend struct {
	opt Options

	starting chan struct{} // of one: whoever has put something in starts the program, and owns the next
	failed   int           // starts in a row that came to nothing
	again    time.Time     // not before, after too many of those

	mu      sync.Mutex // guards the next
	conn    *conn      // nil: none runs
	busy    int        // questions on their way
	resting *time.Timer
}

var (
	_ backend.Backend  = (*Backend)(nil)
	_ backend.Capturer = (*Backend)(nil)
	_ backend.Lister   = (*Backend)(nil)
	_ backend.Attacher = (*Backend)(nil)
)

// New returns a Backend. It starts nothing.
func New(o Options) (*Backend, error) {
	if len(o.Argv) == 0 || !filepath.IsAbs(o.Argv[0]) || !filepath.IsAbs(o.StateDir) {
		return nil, fault.New(fault.InvalidArgument, "the backend %s needs a program and a state folder with absolute paths, not %q and %q", o.Name, o.Argv, o.StateDir)
	}
	o.Limit, o.Opening, o.Idle = cmp.Or(o.Limit, callLimit), cmp.Or(o.Opening, openLimit), cmp.Or(o.Idle, idleLimit)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Backend{opt: o, starting: make(chan struct{}, 1)}, nil
}

// CheckName refuses a name that no backend's program can have.
func CheckName(name string) error {
	if name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || name[0] == '-' {
		return fault.New(fault.InvalidArgument, "%.70q cannot be the name of a backend", name).
			WithHint("it is made of small letters, digits and -, and does not begin with -")
	}
	return nil
}

// Find returns the program of a backend by its name, beside the program beside or on PATH:
// fault.BackendUnavailable if there is none.
func Find(name, beside string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if program, err := exec.LookPath(filepath.Join(filepath.Dir(beside), Prefix+name)); err == nil && filepath.IsAbs(program) {
		return program, nil
	}
	program, err := exec.LookPath(Prefix + name)
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return "", fault.New(fault.BackendUnavailable, "the backend %s has no program: %w", name, err)
	}
	return program, nil
}

// Address is by what panes of this backend are found again: the program, and the terminal
// that it says it reaches.
func (b *Backend) Address(ctx context.Context) (string, error) {
	hello, err := b.Hello(ctx)
	if err != nil || hello.Terminal == "" {
		return b.opt.Argv[0], err
	}
	return b.opt.Argv[0] + backend.Between + hello.Terminal, nil
}

// Hello returns what the program says of itself.
func (b *Backend) Hello(ctx context.Context) (wire.Hello, error) {
	c, err := b.take(ctx)
	if err != nil {
		return wire.Hello{}, err
	}
	defer b.give()
	return c.hello, nil
}

// Stop ends the program, which leaves its panes alone. It is started again if it is
// asked something more.
func (b *Backend) Stop() {
	b.mu.Lock()
	c := b.conn
	b.conn = nil
	b.mu.Unlock()
	if c != nil {
		c.end()
	}
}

// take returns the running program, started if need be, which does not rest until give.
// Whoever asks while it is being greeted waits no longer than they want to.
func (b *Backend) take(ctx context.Context) (*conn, error) {
	if ctx.Err() == nil {
		if c := b.running(); c != nil {
			return c, nil
		}
		select {
		case b.starting <- struct{}{}:
			defer func() { <-b.starting }()
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.New(fault.Of(err).Code, "ask the backend %s: %w", b.opt.Name, err)
	}
	if c := b.running(); c != nil {
		return c, nil
	}
	return b.start(ctx)
}

// running returns the program, which does not rest until give; nil: none runs.
func (b *Backend) running() *conn {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn == nil || b.conn.why() != nil {
		b.conn = nil
		return nil
	}
	b.busy++
	if b.resting != nil {
		b.resting.Stop()
	}
	return b.conn
}

// How often a program may fail to begin in a row, and how long it is left alone then.
const (
	maxFailed = 5
	pause     = 5 * time.Second
)

// start starts the program and greets it; it does not rest until give.
func (b *Backend) start(ctx context.Context) (*conn, error) {
	if b.failed >= maxFailed && time.Now().Before(b.again) {
		return nil, fault.New(fault.BackendUnavailable, "%s failed to begin %d times in a row and is left alone for %s", b.who(), b.failed, pause).
			WithHint("%s", b.advice())
	}
	c, err := dial(ctx, b.opt, b.who())
	if ctx.Err() != nil && err != nil { // not the program's fault
		return nil, err
	}
	if err != nil {
		b.failed++
		b.again = time.Now().Add(pause)
		f := fault.Of(err)
		if f.Hint == "" {
			f = f.WithHint("%s", b.advice())
		}
		return nil, f
	}
	b.failed = 0
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conn = c
	b.busy++
	return c, nil
}

func (b *Backend) who() string { return fmt.Sprintf("the backend %s (%s)", b.opt.Name, b.opt.Argv[0]) }

func (b *Backend) advice() string {
	return "leadlight backend test -- " + strings.Join(b.opt.Argv, " ") + " tries it; -v shows what is said"
}

// give lets the program rest when nobody else asks.
func (b *Backend) give() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy--; b.busy > 0 || b.opt.Idle < 0 {
		return
	}
	resting := b.conn
	b.resting = time.AfterFunc(b.opt.Idle, func() {
		b.mu.Lock()
		idle := b.busy == 0 && b.conn == resting && resting != nil
		if idle {
			b.conn = nil
		}
		b.mu.Unlock()
		if idle {
			resting.end()
		}
	})
}

// ask asks one question and waits for the answer.
func (b *Backend) ask(ctx context.Context, method string, params, result any, limit time.Duration) error {
	c, err := b.take(ctx)
	if err != nil {
		return err
	}
	defer b.give()
	err = c.ask(ctx, method, params, result, limit)
	if late, ok := errors.AsType[*lateError](err); ok {
		c.kill()
		return fault.New(fault.BackendUnavailable, "%s did not answer %s within %s%s", b.who(), method, late.limit, c.strays()).WithHint("%s", b.advice())
	}
	return err
}

// call is ask with the usual limit.
func (b *Backend) call(ctx context.Context, method string, params, result any) error {
	return b.ask(ctx, method, params, result, b.opt.Limit)
}

// has tells whether the program has an optional method.
func (b *Backend) has(ctx context.Context, method string) error {
	hello, err := b.Hello(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(hello.Capabilities, method) {
		return nil
	}
	return fault.New(fault.Unsupported, "the backend %s has no %s", b.opt.Name, method)
}
