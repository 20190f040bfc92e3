package panes

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/signals"
)

// Unnamed lists the members of a team whose host runs, by their records or by the lock that
// a host holds all its life, though no entry of the roster names them: a roster that was
// emptied, cut or lost forgets who lives.
func (m *Manager) Unnamed(ctx context.Context, team string, named []string) ([]Owner, error) {
	recorded, err := m.recorded()
	if err != nil {
		return nil, err
	}
	locked, err := m.locked(team)
	if err != nil {
		return nil, err
	}
	var out []Owner
	for _, o := range recorded {
		if o.Team != team || slices.Contains(named, o.Agent) || slices.Contains(locked, o.Agent) {
			continue
		}
		rec, err := m.records.Host(ctx, o.Team, o.Agent)
		if err == nil && m.sight(ctx, o.Team, o.Agent, rec.Host).state == signals.Alive {
			out = append(out, o)
		}
	}
	for _, agent := range locked {
		if !slices.Contains(named, agent) {
			out = append(out, Owner{team, agent})
		}
	}
	return out, nil
}

// locked are the members of a team whose host holds its lock.
func (m *Manager) locked(team string) ([]string, error) {
	entries, err := m.opt.Dir.ReadDir(OwnPath(team, "locks"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		agent, ok := strings.CutPrefix(e.Name(), "host-")
		if !ok {
			continue
		}
		if held, err := lock.Busy(m.opt.Dir, HostLock(team, agent)); err != nil {
			return nil, err
		} else if held {
			out = append(out, agent)
		}
	}
	return out, nil
}
