package teams

import (
	"context"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// withoutRoster returns those whose hosts run, as our own records know them: Stop goes by
// it where the roster is damaged or no longer names somebody. If it does not find all that
// are meant it fails with instead.
func (sp *stopper) withoutRoster(ctx context.Context, team string, names []string, instead error) ([]store.Member, error) {
	living, err := sp.panes.Unnamed(ctx, team, nil)
	if err != nil {
		return nil, err
	}
	var all []store.Member
	for _, o := range living {
		l, err := sp.panes.Records().Launch(ctx, team, o.Agent)
		if err != nil || l.ForeignPane != "" {
			continue // its lead's, or nothing is known of it
		}
		all = append(all, store.Member{
			AgentID: o.Agent + "@" + team, Name: o.Agent, BackendType: l.Backend,
			Leadlight: &store.Bookkeeping{Host: l.Host, Kind: l.Kind, Profile: l.Profile, State: api.StateActive},
		})
	}
	if names == nil && len(all) > 0 {
		return all, nil
	}
	var out []store.Member
	for _, name := range names {
		means := func(m store.Member) bool { return store.SameName(m.Name, store.LocalName(name, team)) }
		i := slices.IndexFunc(all, means)
		if i < 0 {
			return nil, instead
		}
		if !slices.ContainsFunc(out, means) {
			out = append(out, all[i])
		}
	}
	if len(out) == 0 {
		return nil, instead
	}
	return out, nil
}

// unwritten says of those who are gone that the roster could not be told.
func (r *stopping) unwritten(gone []*stoppingMember) {
	for _, m := range gone {
		m.out.Leftovers = append(m.out.Leftovers, "the roster is damaged and still names it: "+fault.Of(r.damage).Message)
	}
}
