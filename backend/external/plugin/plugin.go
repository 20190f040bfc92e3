// Package plugin makes a backend for leadlight of a Go type: whoever implements the seven
// methods of backend.Backend has, with
//
//	func main() {
//		plugin.Main(plugin.Info{Name: "mine", Version: "1.0"}, func(h plugin.Host) (backend.Backend, error) {
//			return &mine{dir: h.StateDir}, nil
//		})
//	}
//
// a program that, called leadlight-backend-mine and put on PATH, serves
// leadlight --backend mine. The optional powers backend.Capturer, Lister and Attacher are
// found and offered. examples/backend-pty is a whole one;
// leadlight backend test -- leadlight-backend-mine tries it.
//
// The program is started when leadlight wants something and ended soon afterwards, and
// several may run at the same time: what has to last must lie in the terminal itself or in
// the state folder. Panes must not be in the program's own process group or keep its
// standard input and output open. Standard output belongs to the protocol; what people
// should read goes to standard error.
package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external/wire"
	"github.com/leadlight-dev/leadlight/internal/lineio"
)

// Info is what a backend says of itself.
type Info struct {
	Name    string
	Version string
	// NoFocus and NoReopen declare weaknesses, for leadlight backend test: there is no
	// focus to keep or to take; panes end with this program.
	NoFocus, NoReopen bool
}

// Host is what leadlight says of itself.
type Host struct {
	Version  string
	Terminal string // the terminal of before: see Terminal; "": find it yourself
	StateDir string // for this backend alone: make it (0700) when it is needed, remove it when it is empty
}

// A terminal of which there may be several tells how this one is reached later: leadlight
// gives that back as Host.Terminal.
type terminal interface{ Terminal() string }

// leaves is how long requests on their way may take when leadlight has gone.
const leaves = time.Second

// maxPending is how many requests may be on their way.
const maxPending = 256

// Main serves standard input and output until leadlight is done, and exits.
func Main(i Info, open func(Host) (backend.Backend, error)) {
	if err := Serve(context.Background(), os.Stdin, os.Stdout, i, open); err != nil {
		fmt.Fprintln(os.Stderr, i.Name+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Serve answers the requests on in until it ends, ctx does, or leadlight asks to stop.
// Requests are served at the same time. It waits a second for those on their way, whose
// contexts are cancelled.
func Serve(ctx context.Context, in io.Reader, out io.Writer, i Info, open func(Host) (backend.Backend, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{info: i, open: open, out: wire.NewWriter(out), pending: map[string]context.CancelFunc{}}
	read := make(chan error, 1)
	go func() { read <- s.read(ctx, wire.NewReader(in)) }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
		err = ctx.Err()
	}
	cancel()
	done := make(chan struct{})
	go func() { defer close(done); s.serving.Wait() }()
	select {
	case <-done:
	case <-time.After(leaves):
	}
	return err
}

type server struct {
	info    Info
	open    func(Host) (backend.Backend, error)
	out     *wire.Writer
	backend backend.Backend // nil until initialize was answered
	serving sync.WaitGroup

	mu      sync.Mutex // guards the next
	pending map[string]context.CancelFunc
}

// read takes lines until the end of the input, or shutdown.
func (s *server) read(ctx context.Context, lines wire.Reader) error {
	for {
		m, _, bad, err := lines.Message()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case bad != nil:
			s.reply(json.RawMessage("null"), nil, bad)
		case s.take(ctx, m):
			return nil
		}
	}
}

// take serves one message, requests but the first in the background. It reports whether
// that was the last.
func (s *server) take(ctx context.Context, m wire.Message) (last bool) {
	switch {
	case m.Method == "": // an answer; we have asked nothing
	case m.Method == wire.Cancel:
		s.cancel(m.Params)
	case len(m.ID) == 0: // a notification that we do not know
	case m.Method == wire.Shutdown:
		s.reply(m.ID, wire.Nothing{}, nil)
		return true
	case m.Method == wire.Initialize:
		result, err := s.initialize(m.Params)
		s.reply(m.ID, result, err)
	case methods()[m.Method] == nil:
		s.reply(m.ID, nil, &wire.Error{Code: wire.MethodNotFound, Message: fmt.Sprintf("there is no method %.80q", m.Method)})
	case s.backend == nil:
		s.reply(m.ID, nil, &wire.Error{Code: wire.InvalidRequest, Message: "initialize comes first"})
	default:
		s.begin(ctx, m)
	}
	return false
}

func (s *server) cancel(params json.RawMessage) {
	var p wire.CancelParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.pending[string(p.ID)]; cancel != nil {
		cancel()
	}
}

// begin serves a request in the background.
func (s *server) begin(ctx context.Context, m wire.Message) {
	ctx, cancel := context.WithCancel(ctx)
	id := string(m.ID)
	s.mu.Lock()
	_, doubled := s.pending[id]
	full := len(s.pending) >= maxPending
	if !doubled && !full {
		s.pending[id] = cancel
	}
	s.mu.Unlock()
	if doubled || full {
		cancel()
		s.reply(m.ID, nil, &wire.Error{Code: wire.InvalidRequest, Message: "the id is in use, or too much is asked at once"})
		return
	}
	s.serving.Go(func() {
		result, err := s.serve(ctx, m)
		s.mu.Lock()
		delete(s.pending, id)
		s.mu.Unlock()
		cancel()
		s.reply(m.ID, result, err)
	})
}

// serve asks the backend. A backend that panics has not done it; the others go on.
func (s *server) serve(ctx context.Context, m wire.Message) (result any, failed *wire.Error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "%s: %s panicked: %v\n", s.info.Name, m.Method, p)
			failed = &wire.Error{Code: wire.InternalError, Message: fmt.Sprintf("%s panicked: %v", m.Method, p)}
		}
	}()
	return methods()[m.Method](ctx, s.backend, m.Params)
}

func (s *server) reply(id json.RawMessage, result any, failed *wire.Error) {
	m := wire.Message{ID: id, Error: failed}
	if failed == nil {
		encoded, err := wire.Encode(result)
		if err != nil {
			m.Error = &wire.Error{Code: wire.InternalError, Message: err.Error()}
		}
		m.Result = encoded
	}
	if _, err := s.out.Send(m); errors.Is(err, lineio.ErrLong) {
		_, _ = s.out.Send(wire.Message{ID: id, Error: &wire.Error{Code: wire.InternalError, Message: err.Error()}})
	} // any other error means that leadlight has gone: the input ends, too
}

// initialize answers the greeting and makes the backend.
func (s *server) initialize(params json.RawMessage) (any, *wire.Error) {
	var g wire.Greeting
	if err := json.Unmarshal(params, &g); err != nil {
		return nil, &wire.Error{Code: wire.InvalidParams, Message: "initialize: " + err.Error()}
	}
	if g.Protocol < wire.Version {
		return nil, &wire.Error{Code: wire.InvalidParams, Message: fmt.Sprintf("%s speaks version %d of the protocol, and leadlight only %d", s.info.Name, wire.Version, g.Protocol)}
	}
	if s.backend != nil {
		return nil, &wire.Error{Code: wire.InvalidRequest, Message: "initialize comes once"}
	}
	b, err := s.open(Host{Version: g.Host.Version, Terminal: g.Terminal, StateDir: g.StateDir})
	if err != nil {
		return nil, wire.ErrorOf(err)
	}
	s.backend = b
	return s.hello(), nil
}

func (s *server) hello() wire.Hello {
	h := wire.Hello{Protocol: wire.Version, Backend: wire.Peer{Name: s.info.Name, Version: s.info.Version}}
	offer := func(to *[]string, word string, ok bool) {
		if ok {
			*to = append(*to, word)
		}
	}
	if t, ok := backend.As[terminal](s.backend); ok {
		h.Terminal = t.Terminal()
	}
	_, captures := backend.As[backend.Capturer](s.backend)
	_, lists := backend.As[backend.Lister](s.backend)
	_, attaches := backend.As[backend.Attacher](s.backend)
	offer(&h.Capabilities, wire.Capture, captures)
	offer(&h.Capabilities, wire.ListAll, lists)
	offer(&h.Capabilities, wire.Attach, attaches)
	offer(&h.Weaknesses, wire.NoFocus, s.info.NoFocus)
	offer(&h.Weaknesses, wire.NoReopen, s.info.NoReopen)
	return h
}
