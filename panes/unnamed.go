package panes

import (
	"context"
	"slices"

	"github.com/leadlight-dev/leadlight/signals"
)

// Unnamed lists the members of a team whose host runs, by their records, though no entry
// of the roster names them: a roster that was emptied or cut forgets who lives.
func (m *Manager) Unnamed(ctx context.Context, team string, named []string) ([]Owner, error) {
	recorded, err := m.recorded()
	if err != nil {
		return nil, err
	}
	var out []Owner
	for _, o := range recorded {
		if o.Team != team || slices.Contains(named, o.Agent) {
			continue
		}
		rec, err := m.records.Host(ctx, o.Team, o.Agent)
		if err == nil && m.sight(ctx, o.Team, o.Agent, rec.Host).state == signals.Alive {
			out = append(out, o)
		}
	}
	return out, nil
}
