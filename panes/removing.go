package panes

import (
	"io/fs"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/signals"
)

// socketFile is the control socket of a host, if its path names a socket.
func (m *Manager) socketFile(path, team, agent string) (files.Ours, error) {
	if err := checkSocket(path, m.baseKey, team, agent); err != nil {
		return files.Ours{}, err
	}
	return files.In(filepath.Dir(path), filepath.Base(path), fs.ModeSocket)
}

// envFile is the environment that was handed over to a host and not taken.
func (m *Manager) envFile(hostID string) (files.Ours, error) {
	if err := checkHostID(hostID); err != nil {
		return files.Ours{}, err
	}
	return files.In(m.runDir(), "env-"+hostID, 0)
}

// sweep removes what a host that was killed could not remove itself.
func (m *Manager) sweep(h ownHost) {
	if h.seen.known() && h.seen.record.Process.Probe() != signals.Gone {
		return
	}
	if h.seen.known() || m.noHost(h.Target) { // it may have been killed before it wrote its record
		if f, err := m.socketFile(m.socketOf(h), h.Team, h.Agent); err == nil {
			_ = f.Remove() // gc finds it again
		}
	}
	if f, err := m.envFile(h.Host); err == nil {
		_ = f.Remove()
	}
}

// noHost tells whether no host of a member runs: each holds the member's lock all its life.
func (m *Manager) noHost(t Target) bool {
	held, err := lock.Busy(m.opt.Dir, HostLock(t.Team, t.Agent))
	return err == nil && !held
}
