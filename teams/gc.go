package teams

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// GC finds what belongs to no living team: panes, processes, sockets, files and
// records of this base directory that carry our mark. Unless dryRun is set it
// removes them, each only with proof that it is ours. Members that are lost are
// written down first.
func (rm *remover) GC(ctx context.Context, dryRun bool) ([]api.Orphan, error) {
	if err := rm.leadOnly("clean up"); err != nil {
		return nil, err
	}
	names, err := rm.roster.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list teams: %w", err)
	}
	out := []api.Orphan{}
	for _, name := range names {
		found, err := rm.reconcile(ctx, name, dryRun)
		out = append(out, found...)
		if err != nil {
			rm.log.Warn("write down who is lost", "team", name, "error", err)
			out = append(out, api.Orphan{Kind: "team", What: name, Why: "who is lost in it could not be found out and written down", Kept: fault.Of(err).Message})
		}
	}
	found, err := rm.orphans(ctx, dryRun)
	return append(out, found...), err
}

// orphans finds, and unless dryRun is set removes, what no roster names and what is left
// of deleted teams.
func (rm *remover) orphans(ctx context.Context, dryRun bool) (out []api.Orphan, err error) {
	found, err := rm.panes.Orphans(ctx)
	for _, l := range found {
		out = append(out, remove(ctx, api.Orphan{Kind: l.Kind, What: l.What, Why: l.Why, Kept: l.Kept}, l.Remove, dryRun))
	}
	remains, remainsErr := rm.roster.Remains(ctx)
	for _, r := range remains {
		out = append(out, remove(ctx, api.Orphan{Kind: "folder", What: r.What, Why: r.Why, Kept: r.Kept, Usual: r.Usual}, r.Remove, dryRun))
	}
	return out, errors.Join(err, remainsErr)
}

// remove removes what belongs to nobody, or says that it would.
func remove(ctx context.Context, o api.Orphan, do func(context.Context) error, dryRun bool) api.Orphan {
	if dryRun || o.Kept != "" {
		return o
	}
	if err := do(ctx); err != nil {
		o.Kept = err.Error()
	} else {
		o.Removed = true
	}
	return o
}

// Claims returns the question which hosts the rosters name: all of them, those of members
// that have ended and those of foreign members, too.
func Claims(roster store.Roster, records *panes.Records) func(context.Context) (panes.Claims, error) {
	return func(ctx context.Context) (panes.Claims, error) {
		out := panes.Claims{Owners: map[string][]panes.Owner{}, Hosts: map[panes.Owner]string{}, Made: map[string]time.Time{}}
		names, err := roster.List(ctx)
		if err != nil {
			return out, fmt.Errorf("list teams: %w", err)
		}
		remains, err := roster.Remains(ctx)
		if err != nil {
			return out, fmt.Errorf("list teams without a roster: %w", err)
		}
		for _, r := range remains {
			if r.Kept != "" {
				out.Lost = append(out.Lost, r.Team)
			}
		}
		for _, name := range names {
			t, err := roster.Get(ctx, name)
			if fault.CodeOf(err) == fault.TeamNotFound {
				continue
			} else if err != nil || len(t.Members) == 0 || slices.Contains(names, t.DisplayName) {
				// Even an empty team has its lead; and with another team's name it is a copy.
				out.Unread = append(out.Unread, store.Shown(name))
				continue
			}
			out.Made[name] = t.CreatedAt
			for _, m := range withForeign(ctx, records, t).Members {
				self, host := panes.Owner{Team: name, Agent: m.Name}, hostOf(&m)
				if out.Hosts[self] = host; host != "" {
					out.Owners[host] = append(out.Owners[host], self)
				}
			}
		}
		return out, nil
	}
}
