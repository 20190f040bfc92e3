// Package serve serves the daemon's API. It is a package of its own because the library
// that it stands on, jrpc2, brings in a web server, which the programs that only call
// would link, too.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// Bounds of a connection.
const (
	concurrency = 16               // requests of one connection that are served at a time
	writeLimit  = 10 * time.Second // for the other side to take what is written
)

// Server serves a table of methods.
type Server struct {
	methods map[string]rpc.Method
	log     *slog.Logger
}

// New returns a server. Two methods of one name are a mistake of the
// program and an error.
func New(methods []rpc.Method, log *slog.Logger) (*Server, error) {
	s := &Server{methods: map[string]rpc.Method{}, log: log}
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
	var srv *jrpc2.Server
	base := rpc.WithPeer(ctx, conn, func(ctx context.Context, method string, params any) error { return srv.Notify(ctx, method, params) })
	srv = jrpc2.NewServer(s, &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: concurrency, NewContext: func() context.Context { return base },
	})
	stop := context.AfterFunc(ctx, func() {
		conn.Close() // first: a write under way holds the server
		srv.Stop()
	})
	defer stop()
	limited := &limitedConn{Conn: conn, max: rpc.MaxLine}
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
			return nil, jrpc2.Errorf(jrpc2.MethodNotFound, "%s", e.Message).WithData(fault.Of(e))
		}
	}
	return func(ctx context.Context, r *jrpc2.Request) (result any, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("a method failed badly", "method", name, "panic", p, "stack", string(debug.Stack()))
				err = toWire(fault.New(fault.Failed, "%s failed badly: %v", name, p))
			}
		}()
		var raw json.RawMessage
		if r.HasParams() {
			if err := r.UnmarshalParams(&raw); err != nil {
				return nil, err
			}
		}
		if result, err = m.Carry(ctx, raw); err != nil && ctx.Err() != nil {
			return nil, jrpc2.Errorf(jrpc2.Cancelled, "the daemon ends: %v", err) // whatever a method says that was cut
		} else if err != nil {
			return nil, toWire(err)
		}
		return result, nil
	}
}

func clipped(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), 100)], "?")
}

// firstCode is JSON-RPC's first number for errors of one's own.
const firstCode = -32000

// toWire is an error as the wire carries it.
func toWire(err error) error {
	if err == nil {
		return nil
	}
	if own, ok := errors.AsType[*jrpc2.Error](err); ok {
		return own
	}
	e := fault.Of(err)
	number := jrpc2.Code(firstCode - fault.ExitOf(e))
	if e.Code == fault.InvalidArgument {
		number = jrpc2.InvalidParams
	}
	return jrpc2.Errorf(number, "%s", e.Message).WithData(fault.Of(e))
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
