package panes

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
)

// serverLeaves is how long a terminal server of our own may take to end after its
// last pane.
const serverLeaves = time.Second

// TidyRun removes what the run folder holds when no host is left: the socket of a
// terminal server of ours that has ended (tmux leaves it behind), the locks, and
// the folder itself. While a host of any base directory is there, it does nothing.
// What somebody is just taking into use stays.
func (m *Manager) TidyRun(ctx context.Context) {
	_ = files.RemoveEmpty(m.runDir())
	if _, err := os.Lstat(m.opt.Runtime); err != nil || m.hostsLeft() {
		return
	}
	dir, err := files.Open(m.opt.Runtime)
	if err != nil {
		return
	}
	defer dir.Close()
	entries, err := dir.ReadDir(".")
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, "terminal-") {
			continue
		}
		held, err := lock.Try(dir, name, "tidy up")
		if err != nil || held == nil {
			return // somebody opens panes
		}
		defer held.Release()
	}
	if m.hostsLeft() || !m.serverGone(ctx) {
		return
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(strings.TrimPrefix(name, "."), "terminal-") {
			_ = files.Remove(m.opt.Runtime, name, 0)
		}
	}
	_ = files.RemoveEmpty(m.opt.Runtime)
}

// hostsLeft tells whether the run folder holds the folder of any base directory.
func (m *Manager) hostsLeft() bool {
	entries, err := os.ReadDir(m.opt.Runtime)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return slices.ContainsFunc(entries, os.DirEntry.IsDir)
}

// OwnSocket is the socket of the terminal server that is ours alone, in a run
// folder.
func OwnSocket(runtime string) string { return filepath.Join(runtime, ownSocket) }

const ownSocket = "tmux"

// serverGone waits a moment for our own terminal server to end and removes its
// socket.
func (m *Manager) serverGone(ctx context.Context) bool {
	if dead, _ := socketDead(ctx, OwnSocket(m.opt.Runtime), serverLeaves); !dead {
		return false
	}
	// A server that starts now may have its socket in a place that was empty.
	conn, err := net.Dial("unix", OwnSocket(m.opt.Runtime))
	switch {
	case err == nil:
		_ = conn.Close()
		return false
	case errors.Is(err, syscall.ECONNREFUSED):
		err = files.Remove(m.opt.Runtime, ownSocket, fs.ModeSocket)
	}
	return err == nil || errors.Is(err, fs.ErrNotExist)
}
