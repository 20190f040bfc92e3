package host

import "sync"

// ring holds the last bytes of the output under their place in the whole of it,
// so that any number of readers can follow at their own pace. Writing never
// waits: a reader that falls behind by more than the ring holds finds a gap.
type ring struct {
	mu      sync.Mutex
	max     int
	buf     []byte
	end     int64 // place after the last byte
	closed  bool
	changed chan struct{} // made by a reader that waits, closed by the next write
}

func newRing(size int) *ring { return &ring{max: size} }

func (r *ring) write(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end += int64(len(p))
	if len(p) > r.max {
		p = p[len(p)-r.max:]
		r.buf = r.buf[:0]
	}
	r.buf = append(r.buf, p...)
	if len(r.buf) > 2*r.max {
		n := copy(r.buf, r.buf[len(r.buf)-r.max:])
		r.buf = r.buf[:n]
	}
	r.wake()
}

func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.wake()
}

func (r *ring) wake() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// piece is what a reader got: bytes, or a channel that tells when there are more.
type piece struct {
	data   []byte
	next   int64 // where to go on
	gap    bool  // bytes before data were lost to this reader
	wait   <-chan struct{}
	closed bool // there is nothing and there will be nothing
}

// read copies up to limit bytes from a place on. After a gap it gives all the
// ring holds, of any size.
func (r *ring) read(from int64, limit int) piece {
	r.mu.Lock()
	defer r.mu.Unlock()
	start := r.end - int64(len(r.buf))
	if from < start {
		return piece{data: append([]byte(nil), r.buf...), next: r.end, gap: true}
	}
	if from >= r.end {
		if r.closed {
			return piece{next: r.end, closed: true}
		}
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		return piece{next: r.end, wait: r.changed}
	}
	rest := r.buf[from-start:]
	rest = rest[:min(limit, len(rest))]
	return piece{data: append([]byte(nil), rest...), next: from + int64(len(rest))}
}

// behind is how many bytes came after a place.
func (r *ring) behind(from int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.end - from
}

// tail copies up to limit of the last bytes; truncated if there were more.
func (r *ring) tail(limit int) (data []byte, end int64, truncated bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.buf[max(0, len(r.buf)-limit):]
	return append([]byte(nil), last...), r.end, int64(len(last)) < r.end
}
