package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes/host"
)

// maxConnections bounds those who are served at a time.
const maxConnections = 256

// listener is the socket: mode 0600 in a folder of mode 0700, for our own user only.
// When its file is taken away, it is made again.
type listener struct {
	path  string
	log   *slog.Logger
	serve func(net.Conn)
	slots chan struct{}

	mu     sync.Mutex
	socket *net.UnixListener
	file   os.FileInfo
	closed bool
	wg     sync.WaitGroup
}

// openListener listens on path. Whoever calls holds the daemon's lock, so a socket
// that is there has nobody behind it.
func openListener(path string, log *slog.Logger, serve func(net.Conn)) (*listener, error) {
	d := &listener{path: path, log: log, serve: serve, slots: make(chan struct{}, maxConnections)}
	return d, d.bind()
}

// bind listens under a temporary name and moves the socket to its place, so that
// whoever finds it can connect, and nobody else ever could.
func (d *listener) bind() error {
	for _, dir := range []string{filepath.Dir(filepath.Dir(d.path)), filepath.Dir(d.path)} {
		if err := files.MakePrivate(dir); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	if info, err := os.Lstat(d.path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return fault.New(fault.PermissionDenied, "%s is in the way: it is no socket", d.path).WithHint("remove it")
	}
	temp := d.path + "~"
	os.Remove(temp)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temp, Net: "unix"})
	if err != nil {
		return fault.New(fault.Of(err).Code, "listen on %s: %w", d.path, err)
	}
	l.SetUnlinkOnClose(false)
	info, err := os.Lstat(temp)
	if err = errors.Join(err, os.Chmod(temp, 0o600)); err == nil {
		err = os.Rename(temp, d.path)
	}
	if err != nil {
		l.Close()
		os.Remove(temp)
		return fault.New(fault.Of(err).Code, "listen on %s: %w", d.path, err)
	}
	if d.socket != nil {
		d.socket.Close()
	}
	d.socket, d.file = l, info
	d.wg.Go(func() { d.accept(l) })
	return nil
}

// guard makes the socket again whenever its file is gone, until ctx ends.
func (d *listener) guard(ctx context.Context, w *files.Watcher) error {
	hints, err := w.WatchFile(ctx, d.path, func() string { return "" })
	if err != nil {
		return err
	}
	for range hints {
		if _, err := os.Lstat(d.path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		switch err := d.bind(); {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			d.log.Warn("make the socket again", "error", err)
		default:
			d.log.Info("made the socket again", "path", d.path)
		}
	}
	return nil
}

func (d *listener) accept(l *net.UnixListener) {
	for {
		conn, err := l.AcceptUnix()
		switch {
		case err == nil:
			d.admit(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default: // out of descriptors, most likely
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// admit serves a connection of our own user.
func (d *listener) admit(conn *net.UnixConn) {
	uid, err := host.PeerUID(conn)
	if err != nil || (uid != os.Geteuid() && uid != 0) {
		d.log.Warn("refused a connection", "uid", uid, "error", err)
		conn.Close()
		return
	}
	select {
	case d.slots <- struct{}{}:
	default:
		d.log.Warn("refused a connection: too many", "limit", maxConnections)
		conn.Close()
		return
	}
	d.wg.Go(func() {
		defer func() { <-d.slots }()
		d.serve(conn)
	})
}

// clients is how many are connected.
func (d *listener) clients() int { return len(d.slots) }

// close lets nobody in any more. The socket's file is removed if it is still ours.
func (d *listener) close() {
	d.mu.Lock()
	d.closed = true
	d.socket.Close()
	if now, err := os.Lstat(d.path); err == nil && os.SameFile(now, d.file) {
		os.Remove(d.path)
	}
	d.mu.Unlock()
}
