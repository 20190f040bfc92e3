package teams

import (
	"context"
	"fmt"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// find returns the roster's entry of a teammate. name may be given with the
// team, as in bob@alpha.
func (rg *registry) find(ctx context.Context, team, name string) (store.Team, store.Member, error) {
	t, err := rg.get(ctx, team)
	if err != nil {
		return t, store.Member{}, err
	}
	m, err := memberOf(t, name)
	return t, m, err
}

// Named returns the names of the members that are meant, each once. If one is not there, it
// is an error, so that a verb with several names begins with none of them.
func (rg *registry) Named(ctx context.Context, team string, names []string) ([]string, error) {
	t, err := rg.get(ctx, team)
	if err != nil {
		return nil, err
	}
	var meant []string
	for _, name := range names {
		m, err := memberOf(t, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(meant, m.Name) {
			meant = append(meant, m.Name)
		}
	}
	return meant, nil
}

// get reads one team by a name that may come from anywhere.
func (rg *registry) get(ctx context.Context, name string) (store.Team, error) {
	if err := store.CheckTeam(name); err != nil {
		return store.Team{}, err
	}
	t, err := rg.roster.Get(ctx, name)
	if fault.CodeOf(err) == fault.TeamNotFound {
		return t, fault.New(fault.TeamNotFound, "team %q does not exist in %s", store.Shown(name), rg.base).
			WithHint("leadlight team ls lists the teams there are, leadlight team create makes one")
	}
	return withForeign(ctx, rg.panes.Records(), t), err
}

// leadOnly refuses a verb of the lead to a teammate.
func (rg *registry) leadOnly(what string) error {
	if !rg.caller.Teammate {
		return nil
	}
	return fault.New(fault.NotLead, "teammate %s may not %s: that is the lead's", rg.caller.Name, what).
		WithHint("ask the lead: leadlight send %s TEXT", store.Lead)
}

// ownTeam refuses to a session the clean-up of a team that another lead, which
// runs, leads.
func (rg *registry) ownTeam(t store.Team, what string) error {
	ours := t.LedByUs() && (!rg.caller.Session || t.LeadProcess == nil || isThisProcess(t.LeadProcess))
	if ours || leadAlive(t) != signals.Alive {
		return nil
	}
	return fault.New(fault.NotLead, "team %s is led by process %d, which runs: only its lead may %s it", t.Name, t.LeadProcess.PID, what).
		WithHint("end that session, or let it do it itself")
}

// OnlyLead refuses to a session what the process that leads a team, and runs, does
// itself.
func (rg *registry) OnlyLead(ctx context.Context, team, what string) error {
	t, err := rg.get(ctx, team)
	if err != nil || !rg.caller.Session || !t.LedByUs() || t.LeadProcess == nil {
		return err
	}
	return rg.ownTeam(t, what)
}

// oneTeam refuses a process that leads a team already a second one: a session has
// one team.
func (rg *registry) oneTeam(ctx context.Context, but string) error {
	names, err := rg.roster.List(ctx)
	if err != nil {
		return fmt.Errorf("list teams: %w", err)
	}
	for _, name := range names {
		t, err := rg.roster.Get(ctx, name)
		if err != nil || t.Name == but || t.LeadProcess == nil || !isThisProcess(t.LeadProcess) {
			continue // one that cannot be read says nothing about us
		}
		return fault.New(fault.LimitReached, "this session leads team %s already: one team a session", t.Name).
			WithHint("end team %s first, or start another session", t.Name)
	}
	return nil
}

// gaveUp tells whether a lead that cannot be looked at from here, as one in a container that
// was removed, has itself taken its team down, and every teammate has ended and was not started since.
func (rg *registry) gaveUp(t store.Team) bool {
	p, by := t.LeadProcess, rg.panes.DownBy(t.Name)
	if leadAlive(t) != signals.Unknown || !t.LedByUs() || p == nil || by.PID <= 0 || by.PID != p.PID || by.At < p.ClaimedAt.UnixMilli() {
		return false
	}
	return !slices.ContainsFunc(t.Teammates(), func(m store.Member) bool {
		b := m.Leadlight
		return b == nil || !settled(b.State) || b.SpawnedAt != nil && b.SpawnedAt.UnixMilli() > by.At
	})
}
