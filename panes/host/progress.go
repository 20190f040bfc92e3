package host

import (
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// progress is when something went on last.
type progress struct {
	since time.Time
	after atomic.Int64 // nanoseconds since then
}

func newProgress() *progress { return &progress{since: time.Now()} }

func (p *progress) note() { p.after.Store(int64(time.Since(p.since))) }

func (p *progress) last() time.Time { return p.since.Add(time.Duration(p.after.Load())) }

// await waits for done while it goes on: until nothing has gone on for the time still, or
// most has passed. After hurry it goes on for the time still at most. It tells whether done
// came.
func (p *progress) await(done <-chan struct{}, still, most time.Duration, hurry <-chan struct{}) bool {
	began := time.Now()
	end := began.Add(most)
	for {
		last := latest(began, p.last())
		until := earlier(last.Add(still), end)
		select {
		case <-done:
			return true
		case <-hurry:
			hurry, end = nil, earlier(end, time.Now().Add(still))
		case <-time.After(time.Until(until)):
			if until.Before(end) && p.last().After(last) {
				continue
			}
			select {
			case <-done:
				return true
			default:
				return false
			}
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// writeAll writes p, and says how much of it was written. It calls taken each time that some
// was, which a Write of the whole does not tell.
func writeAll(to syscall.Conn, p []byte, taken func()) (written int, err error) {
	conn, err := to.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = conn.Write(func(fd uintptr) bool {
		for written < len(p) && failed == nil {
			n, err := unix.Write(int(fd), p[written:])
			switch {
			case n > 0:
				written += n
				taken()
			case err == unix.EAGAIN:
				return false
			case err == nil:
				failed = io.ErrShortWrite
			case err != unix.EINTR:
				failed = err
			}
		}
		return true
	})
	if failed != nil {
		return written, failed
	}
	return written, err
}
