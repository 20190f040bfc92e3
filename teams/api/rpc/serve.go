package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Bounds of a connection.
const (
	concurrency = 16               // requests of one connection that are served at a time
	writeLimit  = 10 * time.Second // for the other side to take what is written
	maxLine     = 32 << 20         // bytes of a request
)

// Server serves a table of methods.
type Server struct {
	methods map[string]Method
	log     *slog.Logger
}

// NewServer returns a server. Two methods of one name are a mistake of the
// program and an error.
func NewServer(methods []Method, log *slog.Logger) (*Server, error) {
	s := &Server{methods: map[string]Method{}, log: log}
	for _, m := range methods {
		if _, twice := s.methods[m.Name]; twice {
			return nil, fmt.Errorf("serve: the method %s is there twice", m.Name)
		}
		s.methods[m.Name] = m
	}
	return s, nil
}

// Serve answers on conn until the other side hangs up or ctx ends, and closes it.
// What is under way then is cancelled.
func (s *Server) Serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	peer := &Peer{conn: conn, gone: ctx.Done()}
	base := context.WithValue(ctx, peerKey{}, peer)
	srv := jrpc2.NewServer(s, &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: concurrency, NewContext: func() context.Context { return base },
	})
	peer.srv = srv
	stop := context.AfterFunc(ctx, func() {
		conn.Close() // first: a write under way holds the server
		srv.Stop()
	})
	defer stop()
	limited := &limitedConn{Conn: conn, max: maxLine}
	srv.Start(channel.Line(limited, limited))
	st := srv.WaitStatus()
	cancel()
	conn.Close()
	if st.Err != nil && ctx.Err() == nil {
		s.log.Debug("connection", "error", st.Err)
	}
}

// Assign implements jrpc2.Assigner.
func (s *Server) Assign(_ context.Context, name string) jrpc2.Handler {
	m, ok := s.methods[name]
	if !ok {
		return func(context.Context, *jrpc2.Request) (any, error) {
			e := fault.New(fault.Unsupported, "there is no method %q", clipped(name)).WithHint("leadlight daemon schema lists them")
			return nil, jrpc2.Errorf(jrpc2.MethodNotFound, "%s", e.Message).WithData(shown(e))
		}
	}
	return func(ctx context.Context, r *jrpc2.Request) (result any, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("a method failed badly", "method", name, "panic", p, "stack", string(debug.Stack()))
				err = toWire(fault.New(fault.Failed, "%s failed badly: %v", name, p))
			}
		}()
		if m.lead { // only then: to find out who asks costs a look at its ancestors
			if who, is := TeammateOf(ctx); is {
				return nil, toWire(NotLead(who, "call "+name))
			}
		}
		var raw json.RawMessage
		if r.HasParams() {
			if err := r.UnmarshalParams(&raw); err != nil {
				return nil, err
			}
		}
		if !utf8.Valid(raw) { // else the bytes would be replaced without a word
			e := fault.New(fault.InvalidArgument, "the parameters of %s are not UTF-8", name)
			return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%s", e.Message).WithData(shown(e))
		}
		result, err = m.handle(ctx, raw)
		if err != nil {
			return nil, toWire(err)
		}
		return result, nil
	}
}

func clipped(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), 100)], "?")
}

type peerKey struct{}

type teammateKey struct{}

// Teammate is a teammate that calls.
type Teammate struct{ Team, Name string }

// WithTeammate has methods know which teammate calls on the connections of ctx, if one does.
func WithTeammate(ctx context.Context, who func() (Teammate, bool)) context.Context {
	return context.WithValue(ctx, teammateKey{}, who)
}

// TeammateOf returns the teammate that a method is called by.
func TeammateOf(ctx context.Context) (who Teammate, is bool) {
	if ask, known := ctx.Value(teammateKey{}).(func() (Teammate, bool)); known {
		return ask()
	}
	return who, false
}

// NotLead refuses a teammate what is the lead's.
func NotLead(who Teammate, what string) error {
	return fault.New(fault.NotLead, "teammate %s cannot %s: that is the lead's", who.Name, what).WithHint("ask the lead: leadlight send team-lead TEXT")
}

// Peer is the other side of a connection, for methods that go on telling after
// they have answered.
type Peer struct {
	conn net.Conn
	srv  *jrpc2.Server
	gone <-chan struct{}
	once sync.Once

	mu         sync.Mutex
	subscribed map[string]bool
}

// Subscribe notes a subscription of the other side: fault.Rejected if it has one of that
// name, for everything would be told twice.
func (p *Peer) Subscribe(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.subscribed[name] {
		return fault.New(fault.Rejected, "this connection has subscribed to %s already", name).WithHint("end that one by closing the connection, or use another connection")
	}
	if p.subscribed == nil {
		p.subscribed = map[string]bool{}
	}
	p.subscribed[name] = true
	return nil
}

// Unsubscribe takes back what Subscribe has noted.
func (p *Peer) Unsubscribe(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subscribed, name)
}

// PeerOf returns the other side of the connection that a method is called on.
func PeerOf(ctx context.Context) *Peer {
	p, _ := ctx.Value(peerKey{}).(*Peer)
	return p
}

// Conn is the connection, to ask who is at the other end.
func (p *Peer) Conn() net.Conn { return p.conn }

// Gone is closed when the connection is.
func (p *Peer) Gone() <-chan struct{} { return p.gone }

// Notify tells something unasked. It waits for the other side to take it, ten
// seconds at most, and fails if it does not.
func (p *Peer) Notify(ctx context.Context, method string, params any) error {
	return p.srv.Notify(ctx, method, params)
}

// Close closes the connection.
func (p *Peer) Close() { p.conn.Close() }

// HangUp says a last word, without waiting for a side that takes nothing for
// longer than limit, and closes the connection.
func (p *Peer) HangUp(limit time.Duration, method string, params any) {
	p.once.Do(func() {
		timer := time.AfterFunc(limit, func() { p.conn.Close() })
		defer timer.Stop()
		_ = p.srv.Notify(context.Background(), method, params) // it hangs up either way
		p.conn.Close()
	})
}

// limitedConn bounds what a write may wait and what a line may hold.
type limitedConn struct {
	net.Conn
	line, max int
}

func (c *limitedConn) Write(b []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// Read passes over what a line has too much: what is left of it is no request, and is
// answered so.
func (c *limitedConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		kept := b[:0]
		for _, x := range b[:n] {
			if c.line++; x == '\n' {
				c.line = 0
			}
			if c.line <= c.max {
				kept = append(kept, x)
			}
		}
		if len(kept) > 0 || err != nil || len(b) == 0 {
			return len(kept), err
		}
	}
}
