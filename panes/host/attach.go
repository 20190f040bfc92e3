package host

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"slices"
	"time"
)

// viewer is one who looks at the pane over the socket, and may type.
type viewer struct {
	readOnly   bool
	rows, cols int           // of its terminal, 0: not known; guarded by server.mu
	redraw     chan struct{} // holds one token while it wants a new picture
}

// ask has a new picture sent.
func (v *viewer) ask() {
	select {
	case v.redraw <- struct{}{}:
	default: // that was asked for already
	}
}

// attach serves a viewer: a picture of now, then the stream, until it hangs up,
// is too slow, or the host closes. What it types goes to the program; its size
// counts in a headless host, if it is the one that was there first.
func (s *server) attach(ctx context.Context, conn *net.UnixConn, r *bufio.Reader, raw json.RawMessage) {
	var p attachParams
	if err := decodeParams(raw, &p); err != nil {
		s.answer(conn, nil, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_ = conn.SetWriteBuffer(viewerBuffer)
	v := &viewer{readOnly: p.ReadOnly, redraw: make(chan struct{}, 1)}
	s.join(v)
	defer s.leave(v)
	s.resizeFor(v, p.Rows, p.Cols)
	picture, place := s.host.picture(ctx)
	s.answer(conn, struct{}{}, nil)
	obeyed := make(chan struct{})
	go func() {
		defer close(obeyed)
		defer cancel()
		s.obey(ctx, v, r)
	}()
	err := s.send(conn, frameOutput, picture)
	if err == nil {
		err = s.stream(ctx, conn, v, place)
	}
	if hungUp(err) { // what it has typed before is still to be read
		select {
		case <-obeyed:
		case <-time.After(TakeLimit):
		}
	}
}

// picture returns what a viewer sees first, and where the stream goes on. A screen that a
// flood has left far behind is not drawn: what comes after it may be lost already.
func (h *Host) picture(ctx context.Context) (picture []byte, place int64) {
	if h.screen != nil {
		limited, cancel := context.WithTimeout(ctx, screenLimit)
		defer cancel()
		if drawn, place, err := h.screen.redraw(limited); err == nil && h.out.ring.behind(place) <= ringSize/2 {
			return slices.Concat(h.out.setting(), drawn), place
		}
	}
	raw, place, _ := h.out.ring.tail(maxFrame / 2)
	if at := lastReset(raw); at >= 0 {
		raw = raw[at:]
	}
	return slices.Concat(h.out.setting(), raw), place
}

// stream passes on the ring. A viewer that does not take it is cut; the program
// never waits for one. The error is why the viewer can be sent no more.
func (s *server) stream(ctx context.Context, conn *net.UnixConn, v *viewer, place int64) error {
	for {
		select {
		case <-v.redraw:
			var picture []byte
			picture, place = s.host.picture(ctx)
			if err := s.send(conn, frameOutput, picture); err != nil {
				return err
			}
		default:
		}
		p := s.host.out.ring.read(place, maxFrame)
		switch {
		case p.gap:
			return s.send(conn, frameCut, []byte("the viewer is too slow for the output"))
		case p.closed:
			return s.send(conn, frameEnd, nil)
		case p.wait != nil:
			select {
			case <-ctx.Done():
				return nil
			case <-v.redraw:
				v.ask()
			case <-p.wait:
			}
		default:
			if err := s.send(conn, frameOutput, p.data); err != nil {
				return err
			}
		}
		place = p.next
	}
}

func (s *server) send(conn *net.UnixConn, kind byte, payload []byte) error {
	return writeFrame(taker{conn, s.taken}, kind, payload)
}

// viewerBuffer is how much the system holds for a viewer: it tells that some of it was taken
// when most of it was.
const viewerBuffer = 32 << 10

// taker is the connection of a viewer, who may take nothing for TakeLimit.
type taker struct {
	conn  *net.UnixConn
	taken *progress
}

func (t taker) Write(p []byte) (int, error) {
	t.conn.SetWriteDeadline(time.Now().Add(TakeLimit))
	return writeAll(t.conn, p, func() {
		t.taken.note()
		t.conn.SetWriteDeadline(time.Now().Add(TakeLimit))
	})
}

// obey reads what the viewer sends until it hangs up.
func (s *server) obey(ctx context.Context, v *viewer, r io.Reader) {
	keys := newKeyboard()
	for {
		kind, payload, err := readFrame(r)
		if err != nil {
			return
		}
		switch kind {
		case frameInput:
			typed, without := keys.read(payload)
			if s.host.answered() {
				payload = without
			}
			if !v.readOnly && len(payload) > 0 {
				s.host.fromPerson(ctx, payload, typed)
			}
		case frameRedraw:
			v.ask()
		case frameResize:
			if len(payload) == 4 {
				s.resizeFor(v, int(binary.BigEndian.Uint16(payload)), int(binary.BigEndian.Uint16(payload[2:])))
			}
		}
	}
}

// answered tells whether the program's queries are answered without the viewers,
// whose terminals would answer once more.
func (h *Host) answered() bool { return h.terminal != nil || h.screen != nil }

func (s *server) join(v *viewer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewers = append(s.viewers, v)
}

func (s *server) leave(v *viewer) {
	s.mu.Lock()
	s.viewers = slices.DeleteFunc(s.viewers, func(o *viewer) bool { return o == v })
	s.mu.Unlock()
	s.fit()
}

// resizeFor notes a viewer's size.
func (s *server) resizeFor(v *viewer, rows, cols int) {
	s.mu.Lock()
	v.rows, v.cols = rows, cols
	s.mu.Unlock()
	s.fit()
}

// fit obeys the size of the oldest viewer that may type, where there is no pane whose
// size counts.
func (s *server) fit() {
	s.mu.Lock()
	rows, cols := 0, 0
	if i := slices.IndexFunc(s.viewers, func(o *viewer) bool { return !o.readOnly }); i >= 0 {
		rows, cols = s.viewers[i].rows, s.viewers[i].cols
	}
	s.mu.Unlock()
	if s.host.terminal == nil && rows > 0 && cols > 0 {
		s.host.resize(rows, cols)
	}
}
