package host

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

// maxSocketPath is what fits into the address of a socket on every system (104
// bytes on macOS, 108 on Linux) with the temporary name's letter.
const maxSocketPath = 100

// socketCheck is how often the socket's file is looked for: cleaners of temporary
// folders take old files away.
const socketCheck = time.Second

// maxConnections bounds those who are served at a time.
const maxConnections = 128

// server answers on the control socket.
type server struct {
	host  *Host
	path  string
	slots chan struct{}

	mu       sync.Mutex
	listener *net.UnixListener
	file     os.FileInfo // the socket as we made it
	closed   bool
	viewers  []*viewer // oldest first
	open     map[*net.UnixConn]bool

	accepts  sync.WaitGroup
	handlers sync.WaitGroup
}

// listen binds the socket: mode 0600 in a folder of mode 0700, in the place of a
// dead one, never of one that answers.
func listen(h *Host, path string) (*server, error) {
	s := &server{host: h, path: path, slots: make(chan struct{}, maxConnections), open: map[*net.UnixConn]bool{}}
	if err := checkSocketPath(path); err != nil {
		return nil, err
	}
	if err := vacant(path); err != nil {
		return nil, err
	}
	if err := s.bind(); err != nil {
		return nil, err
	}
	return s, nil
}

func checkSocketPath(path string) error {
	if len(path) > maxSocketPath {
		return fault.New(fault.InvalidArgument, "socket path %s has %d bytes, at most %d fit", path, len(path), maxSocketPath).
			WithHint("set XDG_RUNTIME_DIR to a shorter path")
	}
	return nil
}

// vacant refuses a path that something alive or something else stands on.
func vacant(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fault.New(fault.PermissionDenied, "%s is in the way: it is no socket", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return fault.New(fault.DuplicateName, "another host listens on %s", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.PermissionDenied, "take over the socket %s: %w", path, err)
	}
	return nil
}

// bind listens under a temporary name and moves the socket to its place, so that
// whoever finds it can connect and none but the owner ever could.
func (s *server) bind() error {
	failed := func(err error) error {
		return fault.New(fault.Of(err).Code, "listen on %s: %w", s.path, err)
	}
	if err := privateFolder(filepath.Dir(s.path)); err != nil {
		return err
	}
	s.mu.Lock() // against close: a socket made after it would stay
	defer s.mu.Unlock()
	if s.closed {
		return failed(net.ErrClosed)
	}
	temp := s.path + "~"
	os.Remove(temp)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temp, Net: "unix"})
	if err != nil {
		return failed(err)
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(temp, 0o600)
	var info os.FileInfo
	if err == nil {
		info, err = os.Lstat(temp)
	}
	if err == nil {
		err = os.Rename(temp, s.path)
	}
	if err != nil {
		l.Close()
		os.Remove(temp)
		return failed(err)
	}
	if s.listener != nil {
		s.listener.Close()
	}
	s.listener, s.file = l, info
	return nil
}

// privateFolder makes the folder and checks that nobody else gets into it.
func privateFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fault.New(fault.Of(err).Code, "make the folder for the socket: %w", err)
	}
	return files.MakePrivate(dir)
}

// run accepts until ctx ends, and binds the socket again when its file is gone.
func (s *server) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.serve(ctx)
	tick := time.NewTicker(socketCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.accepts.Wait()
			s.handlers.Wait()
			return
		case <-tick.C:
			s.mend(ctx)
		}
	}
}

func (s *server) mend(ctx context.Context) {
	if _, err := os.Lstat(s.path); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := s.bind(); errors.Is(err, net.ErrClosed) {
		return
	} else if err != nil {
		s.host.log.Warn("make the socket again", "error", err)
		return
	}
	s.host.log.Info("made the socket again", "path", s.path)
	s.serve(ctx)
}

// serve accepts on the listener of now until it is closed.
func (s *server) serve(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	l := s.listener
	s.accepts.Add(1)
	go func() {
		defer s.accepts.Done()
		for {
			conn, err := l.AcceptUnix()
			switch {
			case err == nil:
				s.accepted(ctx, conn)
			case errors.Is(err, net.ErrClosed):
				return
			default: // out of descriptors, most likely
				time.Sleep(50 * time.Millisecond)
			}
		}
	}()
}

func (s *server) accepted(ctx context.Context, conn *net.UnixConn) {
	uid, err := PeerUID(conn)
	if err != nil || (uid != os.Geteuid() && uid != 0) {
		s.host.log.Warn("refused a connection", "uid", uid, "error", err)
		conn.Close()
		return
	}
	select {
	case s.slots <- struct{}{}:
	default:
		conn.SetWriteDeadline(time.Now().Add(time.Second))
		writeAnswer(conn, nil, fault.New(fault.LimitReached, "the host serves %d connections already", maxConnections))
		conn.Close()
		return
	}
	s.track(conn, true)
	s.handlers.Add(1)
	go func() {
		defer func() {
			conn.Close()
			s.track(conn, false)
			<-s.slots
			s.handlers.Done()
		}()
		s.handle(ctx, conn)
	}()
}

func (s *server) track(conn *net.UnixConn, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open {
		s.open[conn] = true
	} else {
		delete(s.open, conn)
	}
}

// closeLimit bounds how long a closing host still answers.
const closeLimit = 2 * time.Second

// close accepts nobody more, lets answers under way finish, then hangs up. The
// socket's file is removed if it is still ours.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	l, ours := s.listener, s.file
	s.mu.Unlock()
	l.Close()
	if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, ours) {
		os.Remove(s.path)
	}
	done := make(chan struct{})
	go func() {
		s.accepts.Wait()
		s.handlers.Wait()
		close(done)
	}()
	if closedWithin(done, closeLimit) {
		return
	}
	s.mu.Lock()
	for conn := range s.open {
		conn.Close()
	}
	s.mu.Unlock()
	closedWithin(done, closeLimit)
}
