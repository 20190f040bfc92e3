package teams

import (
	"context"
	"errors"
	"fmt"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// GC finds what belongs to no living team: panes, processes, sockets, files and
// records of this base directory that carry our mark. Unless dryRun is set it
// removes them, each only with proof that it is ours. Members that are lost are
// written down first.
func (s *Service) GC(ctx context.Context, dryRun bool) ([]api.Orphan, error) {
	if err := s.leadOnly("clean up"); err != nil {
		return nil, err
	}
	names, err := s.roster.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list teams: %w", err)
	}
	for _, name := range names {
		if dryRun {
			break
		}
		if _, err := s.Reconcile(ctx, name); err != nil {
			s.log.Warn("write down who is lost", "team", name, "error", err)
		}
	}
	// The rosters are read after the panes and records, and again before each
	// removal: a pending member is in its roster before it has a pane.
	found, err := s.panes.Orphans(ctx, func(team, agent, host string) bool { return s.names(ctx, team, agent, host) })
	out := []api.Orphan{}
	add := func(o api.Orphan, remove func(context.Context) error) {
		if !dryRun {
			if err := remove(ctx); err != nil {
				o.Kept = err.Error()
			} else {
				o.Removed = true
			}
		}
		out = append(out, o)
	}
	for _, l := range found {
		add(api.Orphan{Kind: l.Kind, What: l.What, Why: l.Why}, l.Remove)
	}
	remains, rerr := s.roster.Remains(ctx)
	for _, r := range remains {
		add(api.Orphan{Kind: "folder", What: r.What, Why: r.Why}, r.Remove)
	}
	return out, errors.Join(err, rerr)
}

// names tells whether the roster of a team names that host for that member. A
// roster that cannot be read names everybody.
func (s *Service) names(ctx context.Context, team, agent, host string) bool {
	t, err := s.get(ctx, team)
	if err != nil {
		code := fault.CodeOf(err)
		return code != fault.TeamNotFound && code != fault.InvalidName
	}
	m := t.Member(agent)
	return m != nil && m.Leadlight != nil && m.Leadlight.Host == host
}
