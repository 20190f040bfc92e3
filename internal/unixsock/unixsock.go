// Package unixsock listens on a socket in the file system for one user: the file has
// mode 0600 in a folder of mode 0700, it is made again when somebody takes it away, and
// connections of other users are refused.
package unixsock

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

// maxPath is what fits into the address of a socket on every system (104 bytes on
// macOS, 108 on Linux) with the temporary name's letter.
const maxPath = 100

// CheckPath refuses a path that is too long for a socket, with INVALID_ARGUMENT.
func CheckPath(path string) error {
	if len(path) > maxPath {
		return fault.New(fault.InvalidArgument, "socket path %s has %d bytes, at most %d fit", path, len(path), maxPath).
			WithHint("set XDG_RUNTIME_DIR to a shorter path")
	}
	return nil
}

// Options say where to listen, and for how many.
type Options struct {
	Path string
	Most int                 // connections that are served at a time
	Full func(*net.UnixConn) // answers one connection too many before it is closed; may be nil
	Log  *slog.Logger
}

// Listener accepts connections from Start to Close. Its methods may be called at the
// same time.
type Listener struct {
	Options

	mu     sync.Mutex
	socket *net.UnixListener
	file   files.Ours             // the socket as we made it
	serve  func(*net.UnixConn)    // nil before Start
	open   map[*net.UnixConn]bool // that are served
	closed bool
	wg     sync.WaitGroup
}

// Open makes the socket, in the place of a dead one: never of one that answers
// (DUPLICATE_NAME) or of another kind of file (PERMISSION_DENIED).
func Open(o Options) (*Listener, error) {
	l := &Listener{Options: o, open: map[*net.UnixConn]bool{}}
	if err := CheckPath(o.Path); err != nil {
		return nil, err
	}
	if err := vacant(o.Path); err != nil {
		return nil, err
	}
	return l, l.bind()
}

// vacant refuses a path that something alive or something else stands on.
func vacant(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fault.New(fault.PermissionDenied, "%s is in the way: it is no socket", path).WithHint("remove it")
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return fault.New(fault.DuplicateName, "another process listens on %s", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.PermissionDenied, "take over the socket %s: %w", path, err)
	}
	return nil
}

// bind listens under a temporary name and moves the socket to its place, so that
// whoever finds it can connect and none but the owner ever could.
func (l *Listener) bind() error {
	dir := filepath.Dir(l.Path)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return files.Explain("make the folder for the socket", dir, err)
	}
	if err := files.MakePrivate(dir); err != nil {
		return err
	}
	l.mu.Lock() // against Close: a socket made after it would stay
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	socket, file, err := listen(l.Path)
	if err != nil {
		return files.Explain("listen on", l.Path, err)
	}
	if l.socket != nil {
		l.socket.Close()
	}
	l.socket, l.file = socket, file
	l.acceptLocked()
	return nil
}

// Half ends the name of a socket until it is made whole. Who is killed in that moment leaves
// it.
const Half = "~"

func listen(path string) (*net.UnixListener, files.Ours, error) {
	dir, name, temp := filepath.Dir(path), filepath.Base(path), path+Half
	_ = files.Remove(dir, name+Half, fs.ModeSocket)
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: temp, Net: "unix"})
	if err != nil {
		return nil, files.Ours{}, err
	}
	socket.SetUnlinkOnClose(false)
	if err = os.Chmod(temp, 0o600); err == nil {
		err = os.Rename(temp, path)
	}
	file, proof := files.In(dir, name, fs.ModeSocket)
	if err = errors.Join(err, proof); err != nil {
		socket.Close()
		_ = files.Remove(dir, name+Half, fs.ModeSocket)
	}
	return socket, file, err
}

// Start begins to accept: serve is called for each connection, on its own goroutine,
// and the connection is closed when it returns.
func (l *Listener) Start(serve func(*net.UnixConn)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serve = serve
	l.acceptLocked()
}

// Mend makes the socket again when its file is gone: cleaners of temporary folders take
// old files away. After Close it is net.ErrClosed.
func (l *Listener) Mend() error {
	if _, err := os.Lstat(l.Path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := l.bind()
	switch {
	case err == nil:
		l.Log.Info("made the socket again", "path", l.Path)
	case !errors.Is(err, net.ErrClosed):
		l.Log.Warn("make the socket again", "error", err)
	}
	return err
}

// acceptLocked accepts on the socket of now until it is closed.
func (l *Listener) acceptLocked() {
	socket := l.socket
	if l.serve == nil || l.closed {
		return
	}
	l.wg.Go(func() {
		for {
			conn, err := socket.AcceptUnix()
			switch {
			case err == nil:
				l.admit(conn)
			case errors.Is(err, net.ErrClosed):
				return
			default: // out of descriptors, most likely
				time.Sleep(50 * time.Millisecond)
			}
		}
	})
}

// admit serves a connection of our own user.
func (l *Listener) admit(conn *net.UnixConn) {
	uid, _, err := peer(conn)
	if uid != os.Geteuid() && uid != 0 { // -1: it cannot be told
		l.Log.Warn("refused a connection", "uid", uid, "error", err)
		conn.Close()
		return
	}
	l.mu.Lock()
	full := len(l.open) >= l.Most
	if !full {
		l.open[conn] = true
	}
	l.mu.Unlock()
	if full {
		l.Log.Warn("refused a connection: too many", "limit", l.Most)
		if l.Full != nil {
			l.Full(conn)
		}
		conn.Close()
		return
	}
	l.wg.Go(func() {
		defer func() {
			conn.Close()
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.open, conn)
		}()
		l.serve(conn)
	})
}

// Clients is how many are connected.
func (l *Listener) Clients() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// Close accepts nobody more. The socket's file is removed if it is still ours. Whoever
// is being served stays: see Wait and HangUp.
func (l *Listener) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.socket.Close()
	_ = l.file.Remove()
}

// Wait returns when nobody is served any more. It is called after Close.
func (l *Listener) Wait() { l.wg.Wait() }

// HangUp closes the connections that are still served.
func (l *Listener) HangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.open {
		conn.Close()
	}
}

// PeerProcess returns the process that has connected. It may have ended, and its number may be
// another one's by now.
func PeerProcess(conn *net.UnixConn) (pid int, err error) {
	_, pid, err = peer(conn)
	return pid, err
}

// ListenerOf asks which process listens on a socket, once, when it is called first; 0: nobody
// does, or it cannot be told.
func ListenerOf(path string) (pid func() int) {
	return sync.OnceValue(func() int {
		c, err := net.DialTimeout("unix", path, time.Second)
		if err != nil {
			return 0
		}
		defer func() { _ = c.Close() }()
		pid, _ := PeerProcess(c.(*net.UnixConn)) // 0 where it fails
		return pid
	})
}

// peer returns the user and the process at the other end.
func peer(conn *net.UnixConn) (uid, pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, 0, err
	}
	uid = -1 // also if it is not asked at all
	var inner error
	err = raw.Control(func(fd uintptr) { uid, pid, inner = peerOf(int(fd)) })
	return uid, pid, errors.Join(err, inner)
}
