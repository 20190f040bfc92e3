package teams

import (
	"context"
	"fmt"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/fault"
)

// GC finds what belongs to no living team: panes, processes, sockets, files and
// records of this base directory that carry our mark. Unless dryRun is set it
// removes them, each only with proof that it is ours. Members that are lost are
// written down first.
func (s *Service) GC(ctx context.Context, dryRun bool) ([]api.Litter, error) {
	if err := s.leadOnly("clean up"); err != nil {
		return nil, err
	}
	names, err := s.roster.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list teams: %w", err)
	}
	hosts := map[[3]string]bool{}
	unreadable := map[string]bool{}
	for _, name := range names {
		if !dryRun {
			if _, err := s.Reconcile(ctx, name); err != nil {
				s.log.Warn("write down who is lost", "team", name, "error", err)
			}
		}
		t, err := s.roster.Get(ctx, name)
		if err != nil {
			unreadable[name] = fault.CodeOf(err) != fault.TeamNotFound
			continue
		}
		for _, m := range t.Members {
			if m.Leadlight != nil {
				hosts[[3]string{name, m.Name, m.Leadlight.Host}] = true
			}
		}
	}
	found, err := s.panes.Litter(ctx, func(team, agent, host string) bool {
		return unreadable[team] || hosts[[3]string{team, agent, host}]
	})
	out := []api.Litter{}
	for _, l := range found {
		if !dryRun {
			if err := l.Remove(ctx); err != nil {
				l.Kept = err.Error()
			} else {
				l.Removed = true
			}
		}
		out = append(out, l.Litter)
	}
	return out, err
}
