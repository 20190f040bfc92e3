package jetstream

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Bounds of a stream.
const (
	window     = 256 << 10               // bytes that one side may be ahead of the other
	maxPiece   = 32 << 10                // bytes of a message
	tellEvery  = 250 * time.Millisecond  // what was not told otherwise is told
	hereAgain  = time.Second             // something is told in any case
	lostAfter  = 1500 * time.Millisecond // if nothing arrives, until it is sent again
	pieceFrame = 25                      // bytes of a message before what it carries
)

// errLeft ends the use of a stream that was closed here.
var errLeft = errors.New("the connection to the other machine is closed")

// Stream is bytes both ways between two machines, whole and in order: what is lost is sent
// again. Who does not read makes the other side wait; nobody keeps more than the window.
type Stream struct {
	e   *Engine
	sub *nats.Subscription
	to  string
	end chan struct{} // closed by Close

	mu      sync.Mutex
	changed sync.Cond
	err     error
	said    time.Time // when something was said last

	// What goes out. The places count from the beginning; the end takes one, too.
	base    int64     // all before it has arrived
	sent    []byte    // from base on
	limit   int64     // the other side takes what is before it; 0: it has said nothing yet
	ended   bool      // nothing comes after sent
	arrived bool      // the end, too
	moved   time.Time // when something arrived last, or was the first to be on its way

	// What comes in.
	next     int64 // the place that is to come
	unread   []byte
	over     bool  // the end has come
	toldNext int64 // what the other side was told of these
	toldRoom int64
}

// piece is one message of a stream.
type piece struct {
	place int64 // of the first byte
	next  int64 // what is to come the other way
	limit int64 // up to where whoever says it takes
	ended bool  // nothing comes after data
	data  []byte
}

func (p piece) bytes() []byte {
	out := make([]byte, pieceFrame, pieceFrame+len(p.data))
	binary.BigEndian.PutUint64(out, uint64(p.place))
	binary.BigEndian.PutUint64(out[8:], uint64(p.next))
	binary.BigEndian.PutUint64(out[16:], uint64(p.limit))
	if p.ended {
		out[24] = 1
	}
	return append(out, p.data...)
}

func parsePiece(raw []byte) (p piece, ok bool) {
	if len(raw) < pieceFrame {
		return p, false
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(raw[i:])) }
	p = piece{at(0), at(8), at(16), raw[24] == 1, raw[pieceFrame:]}
	return p, p.place >= 0 && p.next >= 0 && p.limit >= 0
}

// Stream opens this machine's side of the stream of a call that it is about to ask for.
func (e *Engine) Stream(machine, id string) (*Stream, error) { return e.openStream(machine, id, false) }

// openStream opens one side of the stream of a call: of the machine that is asked, or of the
// one that asks.
func (e *Engine) openStream(machine, id string, asked bool) (*Stream, error) {
	from, to := e.subject("machine", machine, "stream", token(id), "out"), e.subject("machine", machine, "stream", token(id), "in")
	if asked {
		from, to = to, from
	}
	s := &Stream{e: e, to: to, end: make(chan struct{})}
	s.changed.L = &s.mu
	var err error
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sub, err = e.nc.Subscribe(from, s.hear); err != nil {
		return nil, e.access.unavailable("open a stream to another machine", err)
	}
	s.say(0, nil)
	go s.tend()
	return s, nil
}

// Write sends p, as fast as the other side takes it.
func (s *Stream) Write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < len(p) {
		room := int(min(s.limit, s.base+window) - s.base - int64(len(s.sent)))
		switch {
		case s.err != nil:
			return n, s.err
		case s.ended:
			return n, io.ErrClosedPipe
		case room <= 0:
			s.changed.Wait()
			continue
		}
		k := min(len(p)-n, room, s.most())
		if len(s.sent) == 0 {
			s.moved = time.Now()
		}
		s.sent = append(s.sent, p[n:n+k]...)
		s.say(len(s.sent)-k, p[n:n+k])
		n += k
	}
	return n, nil
}

// most is how much one message carries.
func (s *Stream) most() int {
	return max(1, min(maxPiece, int(s.e.nc.MaxPayload())-pieceFrame))
}

// CloseWrite says that nothing more comes.
func (s *Stream) CloseWrite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && s.err == nil {
		s.ended, s.moved = true, time.Now()
		s.say(len(s.sent), nil)
	}
	return s.err
}

// flush waits until all that was written, and the end, has arrived on the other side; at most
// for limit while nothing does.
func (s *Stream) flush(limit time.Duration) error {
	timer := time.AfterFunc(limit, func() { _ = s.Close() })
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for base := s.base; s.err == nil && !s.arrived; s.changed.Wait() {
		if s.base > base {
			base = s.base
			timer.Reset(limit)
		}
	}
	if s.arrived {
		return nil
	}
	return s.err
}

// Read returns what has come, io.EOF after all of it.
func (s *Stream) Read(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.unread) == 0 && !s.over && s.err == nil {
		s.changed.Wait()
	}
	switch {
	case len(s.unread) > 0:
	case s.over:
		return 0, io.EOF
	default:
		return 0, s.err
	}
	n = copy(p, s.unread)
	s.unread = append(s.unread[:0], s.unread[n:]...)
	if s.room()-s.toldRoom >= window/4 {
		s.say(len(s.sent), nil)
	}
	return n, nil
}

// room is the place before which whatever comes is taken.
func (s *Stream) room() int64 { return s.next - int64(len(s.unread)) + window }

// Close ends both ways at once. What has come may still be read.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = errLeft
		close(s.end)
		_ = s.sub.Unsubscribe() // the connection may be gone
		s.changed.Broadcast()
	}
	return nil
}

// say sends the bytes that stand at a place of what is on its way, and what came. One that is
// lost is made good by tend. It is called with s.mu held.
func (s *Stream) say(at int, data []byte) {
	s.toldNext, s.toldRoom, s.said = s.next, s.room(), time.Now()
	p := piece{place: s.base + int64(at), next: s.next, limit: s.toldRoom, ended: s.ended && at+len(data) == len(s.sent), data: data}
	if err := s.e.nc.Publish(s.to, p.bytes()); err != nil {
		s.e.log.Debug("a piece of a stream is lost", "error", err)
	}
}

// hear takes one message of the other side.
func (s *Stream) hear(m *nats.Msg) {
	p, ok := parsePiece(m.Data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ok || s.err != nil {
		return
	}
	first := s.limit == 0
	s.took(p)
	s.takes(p)
	if first || s.next-s.toldNext >= window/4 || s.over && s.next > s.toldNext {
		s.say(len(s.sent), nil)
	}
	s.changed.Broadcast()
}

// took notes what has arrived on the other side.
func (s *Stream) took(p piece) {
	end := s.base + int64(len(s.sent))
	s.arrived = s.arrived || s.ended && p.next == end+1
	if to := min(p.next, end); to > s.base && (p.next <= end || s.arrived) {
		s.sent = append(s.sent[:0], s.sent[to-s.base:]...)
		s.base, s.moved = to, time.Now()
	}
	s.limit = max(s.limit, p.limit)
}

// takes keeps what comes next of a piece. What has come before is passed over, and what comes
// too early, or is more than there is room for, comes again.
func (s *Stream) takes(p piece) {
	known := s.next - p.place
	if s.over || known < 0 || known > int64(len(p.data)) {
		return
	}
	fresh := p.data[known:]
	n := min(len(fresh), window-len(s.unread))
	s.unread = append(s.unread, fresh[:n]...)
	s.next += int64(n)
	if p.ended && n == len(fresh) {
		s.over = true
		s.next++
	}
}

// tend tells what was not told, and sends again what does not arrive.
func (s *Stream) tend() {
	tick := time.Tick(tellEvery)
	for {
		select {
		case <-s.end:
			return
		case <-tick:
		}
		s.mu.Lock()
		outstanding := len(s.sent) > 0 || s.ended && !s.arrived
		switch {
		case outstanding && time.Since(s.moved) > lostAfter:
			s.again()
		case s.next > s.toldNext || s.room() > s.toldRoom || time.Since(s.said) > hereAgain:
			s.say(len(s.sent), nil)
		}
		s.mu.Unlock()
	}
}

// again sends all that has not arrived.
func (s *Stream) again() {
	s.moved = time.Now()
	for at := 0; at < len(s.sent); at += s.most() {
		s.say(at, s.sent[at:min(at+s.most(), len(s.sent))])
	}
	if len(s.sent) == 0 {
		s.say(0, nil)
	}
}
