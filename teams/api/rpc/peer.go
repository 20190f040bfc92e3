package rpc

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

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
	conn   net.Conn
	ctx    context.Context // of the connection
	notify func(ctx context.Context, method string, params any) error
	once   sync.Once

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

// Context ends when the connection does.
func (p *Peer) Context() context.Context { return p.ctx }

// Notify tells something unasked. It waits for the other side to take it, ten
// seconds at most, and fails if it does not.
func (p *Peer) Notify(ctx context.Context, method string, params any) error {
	return p.notify(ctx, method, params)
}

// Close closes the connection.
func (p *Peer) Close() { p.conn.Close() }

// HangUp says a last word, without waiting for a side that takes nothing for
// longer than limit, and closes the connection.
func (p *Peer) HangUp(limit time.Duration, method string, params any) {
	p.once.Do(func() {
		timer := time.AfterFunc(limit, func() { p.conn.Close() })
		defer timer.Stop()
		_ = p.notify(context.Background(), method, params) // it hangs up either way
		p.conn.Close()
	})
}

// WithPeer has methods know the other side of the connection that they are called on: it
// is there until ctx ends, and notify tells it something.
func WithPeer(ctx context.Context, conn net.Conn, notify func(ctx context.Context, method string, params any) error) context.Context {
	return context.WithValue(ctx, peerKey{}, &Peer{conn: conn, ctx: ctx, notify: notify})
}
