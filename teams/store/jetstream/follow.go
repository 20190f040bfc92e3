package jetstream

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// follower is what the engine sends a copy what is new by. It sends it without being asked,
// which costs it less than to be asked for the next so many, and counts it, so that what was
// lost shows: by what comes next, or by the word that there is nothing new.
type follower struct {
	m    *mirror
	sub  *nats.Subscription
	come uint64 // how many messages; guarded by the copy's lock
}

// heartbeat is how often the engine says that nothing is new. Without two of them a copy is
// followed anew, by another node if need be.
const heartbeat = 2 * time.Second

// near is how long is tried to be followed by the node to which this machine is connected.
const near = 50 * time.Millisecond

// follow has the engine send what comes after the newest that is there. A cluster lets any of
// the nodes do it that hold the stream, and is asked again until that is the one to which
// this machine is connected: from another, everything would go through two nodes.
func (m *mirror) follow(ctx context.Context) error {
	if err := m.compare(ctx); err != nil {
		return err
	}
	for began, first := time.Now(), true; ; first = false {
		on, err := m.followOnce(ctx)
		if err != nil {
			return err
		}
		here := m.e.nc.ConnectedServerName()
		if on == nil || on.Cluster == nil || on.Cluster.Leader == here || time.Since(began) > near || first && !m.heldBy(ctx, here) {
			return nil
		}
		m.replace(nil)
		once, stop := m.e.within(ctx, near)
		_ = m.e.js.DeleteConsumer(once, m.stream, on.Name) // else it ends by itself
		stop()
	}
}

// compare empties a copy that has come further than the stream: that was restored from a backup
// since, and the numbers behind it are given again. Who watches is told.
func (m *mirror) compare(ctx context.Context) error {
	seq := m.replace(nil)
	if seq == 0 {
		return nil
	}
	s, err := m.e.js.Stream(ctx, m.stream)
	if err != nil || s.CachedInfo().State.LastSeq >= seq {
		return err
	}
	m.e.log.Warn("the engine has less than before: it was restored", "stream", m.stream)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.empty()
	m.seq, m.proven = 0, false
	m.wake()
	for w := range m.watchers {
		select {
		case w.c <- struct{}{}:
		default:
		}
	}
	return nil
}

func (m *mirror) followOnce(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	f := &follower{m: m}
	inbox := m.e.nc.NewInbox()
	var err error
	if f.sub, err = m.e.nc.Subscribe(inbox, f.hear); err != nil {
		return nil, err
	}
	c, err := m.e.js.CreatePushConsumer(ctx, m.stream, jetstream.ConsumerConfig{
		DeliverSubject: inbox, FilterSubjects: m.subjects, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: m.replace(f) + 1,
		AckPolicy: jetstream.AckNonePolicy, MaxDeliver: 1, MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
		IdleHeartbeat: heartbeat, FlowControl: true,
	})
	if err != nil {
		m.replace(nil)
		return nil, err
	}
	return c.CachedInfo(), nil
}

// replace has the copy be followed by f, nil for none, and returns the number of the newest
// message that is there: what others send from now on is not taken in.
func (m *mirror) replace(f *follower) (seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by != nil {
		_ = m.by.sub.Unsubscribe() // else the connection is closed
	}
	m.by, m.heard = f, time.Now()
	return m.seq
}

// heldBy tells whether a node of the cluster holds the stream.
func (m *mirror) heldBy(ctx context.Context, node string) bool {
	once, stop := m.e.within(ctx, near)
	defer stop()
	s, err := m.e.js.Stream(once, m.stream)
	if err != nil || s.CachedInfo().Cluster == nil {
		return false
	}
	on := s.CachedInfo().Cluster
	return on.Leader == node || slices.ContainsFunc(on.Replicas, func(p *jetstream.PeerInfo) bool { return p.Name == node })
}

// hear takes in a message, or what else the engine says.
func (f *follower) hear(msg *nats.Msg) {
	m := f.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by != f {
		return
	}
	m.heard = time.Now()
	if !strings.HasPrefix(msg.Reply, "$JS.ACK.") {
		f.told(msg)
		return
	}
	meta, err := msg.Metadata()
	if err != nil || meta.Sequence.Consumer != f.come+1 {
		m.renew()
		return
	}
	f.come++
	x := &entry{value: msg.Data, rev: meta.Sequence.Stream, at: meta.Timestamp}
	x.read(msg.Header)
	m.take(msg.Subject, x)
	m.seq = max(m.seq, x.rev)
	m.wake()
	m.hint(msg.Subject)
}

// told is for what is no message: that nothing is new, and how many were sent, or that the
// engine sends no more until it is told that all of that has come.
func (f *follower) told(msg *nats.Msg) {
	goOn := msg.Reply
	if goOn == "" {
		goOn = msg.Header.Get("Nats-Consumer-Stalled")
	}
	if goOn != "" {
		_ = f.m.e.nc.Publish(goOn, nil) // it is asked for again
	}
	sent := msg.Header.Get("Nats-Last-Consumer")
	if msg.Header.Get("Status") != "100" || sent != "" && sent != strconv.FormatUint(f.come, 10) {
		f.m.renew()
	}
}

// renew has the copy be followed anew. Called with mu held.
func (m *mirror) renew() {
	m.heard = time.Time{}
	select {
	case m.anew <- struct{}{}:
	default:
	}
}

// followAnew is for all copies, after a new connection.
func (e *Engine) followAnew() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.mirrors {
		m.mu.Lock()
		m.renew()
		m.mu.Unlock()
	}
}

// tend follows anew when something was lost or nothing is said, as long as the copy is used.
func (m *mirror) tend() {
	quiet := time.NewTimer(2 * heartbeat)
	defer m.replace(nil)
	defer quiet.Stop()
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-m.anew:
		case <-quiet.C:
		}
		m.mu.Lock()
		left := 2*heartbeat - time.Since(m.heard)
		m.mu.Unlock()
		if left <= 0 {
			left = 2 * heartbeat
			once, cancel := m.e.within(m.ctx, retryLimit)
			if err := m.follow(once); err != nil {
				m.e.log.Debug("follow the engine", "stream", m.stream, "error", err)
				left = heartbeat / 2
				m.mu.Lock()
				m.heard = time.Time{}
				m.mu.Unlock()
			}
			cancel()
		}
		quiet.Reset(left)
	}
}
