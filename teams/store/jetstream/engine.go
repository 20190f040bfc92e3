// Package jetstream keeps teams on an engine, NATS JetStream, so that several machines
// share them.
//
// Rosters, tasks and what was read of a mailbox are entries of a key-value bucket,
// changed by compare-and-set on their revisions. The messages are a stream. A reader
// keeps a copy of what a team has there (mirror), which follows the engine; before it
// answers it asks the engine how far it must have come, so that it sees all that was
// written before. Every write carries an id: one whose answer was lost is sent again
// and is not done twice. docs/machines.md says what lies where.
package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Options say which engine, and how to get in.
type Options struct {
	URL     string // nats://HOST:PORT, several with commas between them
	Machine string // what the engine calls this connection
	Access  Access
	Prefix  string // of the names of buckets and streams; "" is leadlight
	Log     *slog.Logger
	Clock   func() time.Time // of this machine; nil: time.Now
	Silence time.Duration    // without a word, after which a machine is not there; 0: 15 s
}

// Bounds of talking to an engine.
const (
	connectLimit = 2 * time.Second  // for one node to answer
	answerLimit  = 2 * time.Second  // for one answer; then it is asked for again
	retryLimit   = 5 * time.Second  // for the engine to be back, to find out what became of a write
	chooseLimit  = 20 * time.Second // for the nodes of a cluster to choose who leads when one has gone
	switchLimit  = 3 * time.Second  // to get to another node when one has gone
	busyLimit    = 15 * time.Second // to get a write in between those of others
	pingEvery    = 3 * time.Second  // to find out that a node is gone
)

// Engine is the connection to an engine, and the copies of what is read there. It is safe
// for concurrent use.
type Engine struct {
	url     string
	prefix  string
	access  Access
	nc      *nats.Conn
	js      jetstream.JetStream
	log     *slog.Logger
	wall    func() time.Time
	silence time.Duration
	ctx     context.Context // ends with the engine
	end     context.CancelFunc

	mu      sync.Mutex
	mirrors map[string]*mirror
	begins  map[string]chan struct{} // the copies that are about to follow; closed when they do, or have failed
	cut     context.Context          // ends when the connection does: no answer comes on it
	hangUp  context.CancelFunc
	lost    time.Time // when the connection was
	heard   heard
	left    map[string]bool      // names of machines for which nothing more is said here
	first   map[string]firstWord // by the name of the machine
	copied  map[string]bool      // of these, whose daemon of before goes on
	clock   clock

	calls   calls
	answers answers
}

// Open connects to the engine, in the background if it cannot be reached now: until it
// can, everything is fault.EngineUnavailable. Only files that cannot be used are an error.
func Open(o Options) (*Engine, error) { return open(o, nats.RetryOnFailedConnect(true)) }

func open(o Options, more ...nats.Option) (*Engine, error) {
	o.Log, o.Prefix = cmp.Or(o.Log, slog.New(slog.DiscardHandler)), cmp.Or(o.Prefix, "leadlight")
	if o.Clock == nil {
		o.Clock = time.Now
	}
	access, err := o.Access.options()
	if err != nil {
		return nil, err
	}
	e := &Engine{url: store.EngineShown(o.URL), prefix: o.Prefix, access: o.Access, log: o.Log, wall: o.Clock, silence: cmp.Or(o.Silence, SilenceLimit),
		mirrors: map[string]*mirror{}, begins: map[string]chan struct{}{}, left: map[string]bool{}, copied: map[string]bool{}, first: map[string]firstWord{},
		calls: calls{known: map[string]*carried{}}}
	e.ctx, e.end = context.WithCancel(context.Background())
	e.disconnected()
	options := append(access, nats.Name("leadlight "+o.Machine), nats.Timeout(connectLimit), nats.MaxReconnects(-1),
		nats.ReconnectWait(200*time.Millisecond), nats.ReconnectBufSize(-1), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		nats.IgnoreAuthErrorAbort(), // a secret that is refused may be put right
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if e.ctx.Err() == nil { // else we have hung up
				o.Log.Warn("the engine is gone", "engine", e.url, "error", err)
			}
			e.disconnected()
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			o.Log.Info("the engine is back", "engine", e.url)
			e.followAnew()
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Log.Debug("engine", "error", err) }))
	if e.nc, err = nats.Connect(o.URL, append(options, more...)...); err != nil {
		return nil, e.access.unavailable("reach the engine "+e.url, err)
	}
	if e.js, err = jetstream.New(e.nc); err != nil {
		e.nc.Close()
		return nil, fmt.Errorf("open the engine: %w", err)
	}
	return e, nil
}

// disconnected ends the wait for answers on a connection that is gone.
func (e *Engine) disconnected() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hangUp != nil {
		e.hangUp()
	}
	e.cut, e.hangUp = context.WithCancel(e.ctx)
	e.lost = time.Now()
}

// within bounds a wait by a limit, and by the end of the connection.
func (e *Engine) within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	e.mu.Lock()
	cut := e.cut
	e.mu.Unlock()
	once, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(cut, cancel)
	return once, func() { stop(); cancel() }
}

// Connection numbers the connections: after a new one the engine may be another.
func (e *Engine) Connection() uint64 { return e.nc.Stats().Reconnects + 1 }

// URL is the engine's address, without secrets.
func (e *Engine) URL() string { return e.url }

// Close hangs up.
func (e *Engine) Close() error {
	e.end()
	e.nc.Close()
	return nil
}

var _ io.Closer = (*Engine)(nil)

// reachable says at once that the engine cannot be reached, unless the connection was lost
// just now and there are other nodes to go to.
func (e *Engine) reachable(op string) error {
	if e.nc.IsConnected() || e.connects(e.ctx, e.switching) {
		return nil
	}
	return e.access.unavailable(op, e.nc.LastError())
}

// connects waits until the engine can be reached, as long as patient says so and ctx lasts.
func (e *Engine) connects(ctx context.Context, patient func() bool) bool {
	tick := time.Tick(20 * time.Millisecond)
	for !e.nc.IsConnected() {
		if !patient() {
			return false
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// switching tells whether the connection was lost just now, and other nodes are tried.
func (e *Engine) switching() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Since(e.lost) < switchLimit && len(e.nc.Servers()) > 1 && !e.nc.IsClosed()
}

// explain gives an error of the engine its code.
func (e *Engine) explain(ctx context.Context, op string, err error) error {
	code := codeOf(err)
	switch {
	case err == nil, fault.CodeOf(err) != fault.Failed && !errors.Is(err, context.DeadlineExceeded):
		return err
	case ctx.Err() != nil && e.nc.IsConnected():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case errors.Is(err, nats.ErrMaxPayload):
		return fault.New(fault.LimitReached, "%s: it is too long for the engine (at most %d bytes)", op, e.nc.MaxPayload()).WithHint("raise max_payload of the engine, or put the text into a file and name it")
	case code == jetstream.JSErrCodeStreamNotFound:
		return fault.New(fault.EngineUnavailable, "%s: the engine %s has lost what was kept there, or is not prepared: %w", op, e.url, err).
			WithHint("leadlight machine leave --force, then leadlight machine join %s begins anew; leadlight gc ends teammates of before", e.url)
	case slices.Contains(noRoom, code):
		return fault.New(fault.EngineUnavailable, "%s: the engine %s has no room left: %w", op, e.url, err).
			WithHint("free room on the disk where it keeps its data, or raise max_file_store of its jetstream")
	case code == jetstream.JSErrCodeJetStreamNotEnabledForAccount, code == jetstream.JSErrCodeJetStreamNotEnabled, code == noLeader, errors.Is(err, nats.ErrNoResponders):
		return fault.New(fault.EngineUnavailable, "%s: no JetStream answers at %s: %w", op, e.url, err).
			WithHint("start nats-server with -js, and allow JetStream for the account; of a cluster most nodes have to run")
	case code == jetstream.JSErrCodeMaximumConsumersLimit, code == maxStreams:
		return fault.New(fault.EngineUnavailable, "%s: the engine %s allows this account no more: %w", op, e.url, err).
			WithHint("leadlight needs three streams, and two consumers for each team and machine: raise max_streams or max_consumers of the account")
	case code == noPeers:
		return fault.New(fault.EngineUnavailable, "%s: the engine %s is a cluster, and fewer than three of its nodes are there: %w", op, e.url, err).
			WithHint("start three nodes; what is made while they are fewer would have no replicas")
	}
	return e.access.unavailable(op, err)
}
