package teams

import (
	"context"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// elsewhere tells whether the host of a member runs on another machine. Only that one
// looks at its processes and signals them.
func (s *Service) elsewhere(m store.Member) bool {
	return m.Leadlight != nil && m.Leadlight.Machine != "" && m.Leadlight.Machine != s.machine
}

// notHere refuses what only a member's own machine can do.
func (s *Service) notHere(m store.Member) error {
	if !s.elsewhere(m) {
		return nil
	}
	return fault.New(fault.Unsupported, "teammate %s runs on machine %s", m.Name, store.Shown(m.Leadlight.Machine)).WithHint("run the same there")
}

// observed looks at the host of a member that we launched. One on another machine is
// unknown here, whatever runs here under its numbers.
func (s *Service) observed(ctx context.Context, team string, m store.Member) panes.Observation {
	if s.elsewhere(m) {
		return panes.Observation{State: api.StateUnknown, Reason: "it runs on machine " + store.Shown(m.Leadlight.Machine)}
	}
	return s.panes.Observe(ctx, team, m.Name, m.Leadlight.Host, deref(m.Leadlight.SpawnedAt))
}

// machineOf is what the roster of a team says of a member that is launched here.
func (s *Service) machineOf(t store.Team) string {
	if t.Engine == "" {
		return ""
	}
	return s.machine
}
