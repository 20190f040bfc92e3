package panes

import (
	"io/fs"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
	"github.com/leadlight-dev/leadlight/signals"
)

// socketFiles are the control socket of a host, whole and half made, as far as they are
// there and its path names one.
func (m *Manager) socketFiles(path, team, agent string) (found []files.Ours) {
	if checkSocket(path, m.baseKey, team, agent) != nil {
		return nil
	}
	for _, end := range []string{"", unixsock.Half} {
		if f, err := files.In(filepath.Dir(path), filepath.Base(path)+end, fs.ModeSocket); err == nil {
			found = append(found, f)
		}
	}
	return found
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
		for _, f := range m.socketFiles(m.socketOf(h), h.Team, h.Agent) {
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
