package panes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/signals"
)

// runFile is a file or folder in a run folder of this base directory that is proved to
// be one that we make there. Only the functions of this file make one.
type runFile struct{ path string }

// remove is the only place from which this package removes something outside a team's
// folder. A folder goes only with all that is in it.
func (f runFile) remove() error {
	info, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return os.RemoveAll(f.path)
	}
	return os.Remove(f.path)
}

// socketFile is the control socket of a host, if its path names a socket.
func (m *Manager) socketFile(path, team, agent string) (runFile, error) {
	if err := checkSocket(path, m.baseKey, team, agent); err != nil {
		return runFile{}, err
	}
	return typed(path, fs.ModeSocket)
}

// envFile is the environment that was handed over to a host and not taken.
func (m *Manager) envFile(hostID string) (runFile, error) {
	if err := checkHostID(hostID); err != nil {
		return runFile{}, err
	}
	return typed(filepath.Join(m.runDir(), "env-"+hostID), 0)
}

// typed is the file at path if it is of that type.
func typed(path string, of fs.FileMode) (runFile, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return runFile{}, err
	}
	if info.Mode().Type() != of {
		return runFile{}, unproven("%s is nothing that we make there (%s)", path, info.Mode())
	}
	return runFile{path}, nil
}

// sweep removes what a host that was killed could not remove itself.
func (m *Manager) sweep(h ownHost) {
	if h.seen.known() {
		if h.seen.record.Process.Probe() != signals.Gone {
			return
		}
		if f, err := m.socketFile(h.seen.record.Socket, h.Team, h.Agent); err == nil {
			_ = f.remove() // gc finds it again
		}
	}
	if f, err := m.envFile(h.Host); err == nil {
		_ = f.remove()
	}
}
