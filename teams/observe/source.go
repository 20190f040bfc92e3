package observe

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// errQuiet is what a source returns when it has waited for a while in vain.
var errQuiet = errors.New("nothing to read for a while")

// source is where a stream comes from. read waits for bytes at most as long as
// wait (0: without limit) and then returns errQuiet; it ends with ctx.
type source interface {
	read(ctx context.Context, p []byte, wait time.Duration) (int, error)
}

// pipe reads in a goroutine, so that a read that blocks can be waited for. The
// goroutine ends with the reader's next return after ctx.
type pipe struct {
	chunks chan chunk
	free   chan []byte
	rest   []byte // of the last chunk
	buf    []byte
	err    error
}

type chunk struct {
	b   []byte
	err error
}

func newPipe(ctx context.Context, r io.Reader) *pipe {
	p := &pipe{chunks: make(chan chunk), free: make(chan []byte, 2)}
	p.free <- make([]byte, chunkSize)
	p.free <- make([]byte, chunkSize)
	go p.pump(ctx, r)
	return p
}

func (p *pipe) pump(ctx context.Context, r io.Reader) {
	for {
		var buf []byte
		select {
		case buf = <-p.free:
		case <-ctx.Done():
			return
		}
		n, err := r.Read(buf)
		select {
		case p.chunks <- chunk{buf[:n], err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (p *pipe) read(ctx context.Context, b []byte, wait time.Duration) (int, error) {
	for len(p.rest) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		if p.buf != nil {
			p.free <- p.buf[:cap(p.buf)]
			p.buf = nil
		}
		var quiet <-chan time.Time
		if wait > 0 {
			quiet = time.After(wait)
		}
		select {
		case c := <-p.chunks:
			p.buf, p.rest, p.err = c.b, c.b, c.err
		case <-quiet:
			return 0, errQuiet
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// file reads a file, to its end or, when it follows, on as it grows, is truncated
// or replaced. It looks every poll.
type file struct {
	path   string
	f      *os.File
	offset int64
	follow bool
	cut    func(why string) // the stream starts anew
}

// poll is how often a file that is followed is looked at.
const poll = 100 * time.Millisecond

func openFile(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		_ = f.Close()
		return nil, errors.Join(err, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR})
	}
	return &file{path: path, f: f}, nil
}

func (s *file) close() { _ = s.f.Close() }

func (s *file) read(ctx context.Context, p []byte, wait time.Duration) (int, error) {
	quiet := time.Now().Add(wait)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := s.f.Read(p)
		s.offset += int64(n)
		if n > 0 {
			return n, nil
		}
		if err != nil && err != io.EOF {
			return 0, err
		}
		if !s.follow {
			return 0, io.EOF
		}
		again, err := s.renew()
		if err != nil {
			return 0, err
		}
		if again {
			continue
		}
		if wait > 0 && !time.Now().Before(quiet) {
			return 0, errQuiet
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
		}
	}
}

// renew looks whether the file at the path is another one now, or shorter than
// what was read of it, and if so starts at its beginning. A file that is gone may
// come back.
func (s *file) renew() (bool, error) {
	mine, err := s.f.Stat()
	if err != nil {
		return false, err
	}
	if mine.Size() < s.offset {
		s.cut("was truncated")
		_, err := s.f.Seek(0, io.SeekStart)
		s.offset = 0
		return true, err
	}
	there, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(mine, there) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if mine.Size() > s.offset {
		return true, nil // written between our read and the change: read that first
	}
	next, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.cut("was replaced")
	s.close()
	s.f, s.offset = next, 0
	return true, nil
}
