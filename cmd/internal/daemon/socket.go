package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
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
