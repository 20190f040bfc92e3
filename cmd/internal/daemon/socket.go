package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// maxConnections bounds those who are served at a time.
const maxConnections = 256

// listen makes the daemon's socket. Whoever calls holds the daemon's lock, so a socket
// that is there has nobody behind it.
func listen(path string, log *slog.Logger) (*unixsock.Listener, error) {
	if err := files.MakePrivate(filepath.Dir(filepath.Dir(path))); err != nil {
		return nil, err
	}
	return unixsock.Open(unixsock.Options{Path: path, Most: maxConnections, Log: log})
}

// guard makes the socket again whenever its file is gone, until ctx ends.
func (d *daemon) guard(ctx context.Context) error {
	hints, err := d.Stores.Watcher.WatchFile(ctx, d.Paths.Socket, func() string { return "" })
	if err != nil {
		return err
	}
	for range hints {
		if err := d.listener.Mend(); errors.Is(err, net.ErrClosed) {
			return nil
		}
	}
	return nil
}

// calling returns the question which teammate has connected, if one has. It is looked up once,
// when it is asked.
func (d *daemon) calling(conn *net.UnixConn) func() (rpc.Teammate, bool) {
	return sync.OnceValues(func() (rpc.Teammate, bool) {
		pid, err := unixsock.PeerProcess(conn)
		if err != nil {
			return rpc.Teammate{}, false
		}
		team, name, is := panes.Above(d.Paths.Base, pid)
		return rpc.Teammate{Team: team, Name: name}, is
	})
}
