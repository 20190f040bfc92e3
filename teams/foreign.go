package teams

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// ForeignMember is a teammate that Claude Code, as the lead, starts by us, in a pane of
// its own making and with an entry of its own in the roster.
type ForeignMember struct {
	profiles.Ask               // as the lead says it on the command line
	Client            []string // the client's own command line: what runs unless the type stands for another agent
	Dir               string
	Pane              string // as the roster names it
	Backend, Terminal string // of the pane; "" if not known
}

// entryLimit is how long a lead may take to write a teammate that it has started into
// the roster: until 2.1.112 it does so afterwards.
const entryLimit = 10 * time.Second

// Prepare writes what the host of a foreign member, in this process, will read. A type of agent that stands for another vendor's agent
// (profiles.Set.ForType) runs that one. The variables are those of the Service's
// panes.Manager.
func (st *starter) Prepare(ctx context.Context, g ForeignMember) error {
	n := resolvedMember{spec: SpawnSpec{Name: g.Agent}, record: panes.LaunchRecord{
		Host: uuid.NewString(), Agent: g.Agent, Dir: g.Dir, Color: g.Color, Plan: g.Plan, ForeignPane: g.Pane, Backend: g.Backend, Terminal: g.Terminal, Mode: g.Mode,
	}}
	t, err := st.awaitEntry(ctx, g)
	if n.record.Team = t.Name; err == nil {
		err = st.buildForeignCommand(g, &n)
	}
	if err != nil {
		return err
	}
	if n.record.Kind == profiles.Native { // nobody starts it again but its lead
		n.record.Origin, n.record.Session = nil, ""
	}
	return st.panes.WriteLaunch(ctx, &panes.Launch{Record: n.record, Env: st.panes.Environment(t.Name, g.Agent, n.record.Host, n.variables()), Ready: st.limits.Ready})
}

// awaitEntry waits until the lead has written the foreign member, with its pane, into its roster.
func (st *starter) awaitEntry(ctx context.Context, g ForeignMember) (store.Team, error) {
	if g.Pane == "" {
		return store.Team{}, fault.New(fault.BackendUnavailable, "teammate %s is in no pane of a terminal that is known", g.Agent).WithHint("Claude Code makes panes in tmux")
	}
	ctx, cancel := context.WithTimeout(ctx, entryLimit)
	defer cancel()
	tick := time.Tick(50 * time.Millisecond)
	for {
		t, m, err := st.find(ctx, g.Team, g.Agent)
		code := fault.CodeOf(err)
		switch {
		case err == nil && t.LedByUs():
			return t, fault.New(fault.InvalidArgument, "team %s is led by leadlight, not by Claude Code", t.Name)
		case err == nil && t.IsLead(m):
			return t, fault.New(fault.InvalidArgument, "%s is the lead of team %s", m.Name, t.Name)
		case err == nil && m.TmuxPaneID != g.Pane:
			err = fault.New(fault.MemberNotFound, "the roster of team %s gives %s the pane %q, and it is in %s", t.Name, m.Name, store.Shown(m.TmuxPaneID), g.Pane)
		case err == nil || (code != fault.TeamNotFound && code != fault.MemberNotFound):
			return t, err
		}
		select {
		case <-ctx.Done():
			return t, fmt.Errorf("wait for the entry of %s: %w", g.Agent, err)
		case <-tick:
		}
	}
}

// buildForeignCommand decides what the foreign member runs.
func (st *starter) buildForeignCommand(g ForeignMember, n *resolvedMember) error {
	other, is := st.profiles.ForType(g.Type)
	if !is {
		n.profile = st.profiles[profiles.Claude]
		n.runs(profiles.Native)
		n.record.Argv = g.Client
		return nil
	}
	n.profile = other
	n.runs(other.Kind)
	model := g.Model
	if other.CheckModel(model) != nil {
		model = "" // the lead knows the models of its own agent only
	}
	if err := buildCommand(&n.record, other, "", model, g.Parent); err != nil {
		return err
	}
	n.env = st.panes.Environment("", "", "", n.variables())
	return st.checkProgram(n)
}

// withForeign adds to the entries of foreign members what is known of them: nothing of ours is
// written into a roster that its lead rewrites at any time.
func withForeign(ctx context.Context, records *panes.Records, t store.Team) store.Team {
	for i := range t.Members {
		m := &t.Members[i]
		if m.Leadlight != nil || m.Unsafe || m.TmuxPaneID == "" {
			continue
		}
		if l, err := records.Launch(ctx, t.Name, m.Name); err == nil && l.ForeignPane == m.TmuxPaneID {
			m.Leadlight = &store.Bookkeeping{Host: l.Host, Kind: l.Kind, Profile: l.Profile, State: api.StateActive, SpawnedAt: &l.LaunchedAt, Foreign: true}
		}
	}
	return t
}

// ofItsLead tells whether a member is its own lead's to end, to start and to write to:
// one that we do not host, or a foreign member, as long as that lead is not proved to be gone.
func ofItsLead(t store.Team, m store.Member) bool {
	return m.Leadlight == nil || (m.Leadlight.Foreign && !t.LedByUs() && leadAlive(t) != signals.Gone)
}

// noteAgreed keeps that the caller has agreed, for its own host.
func (rg *registry) noteAgreed(ctx context.Context, team, name, host string) error {
	err := agreedRecord().Edit(ctx, rg.panes.Records(), team, "agree to shut down", func(all *map[string]string) (bool, error) {
		if *all == nil {
			*all = map[string]string{}
		}
		(*all)[name] = host
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("keep that %s agreed to shut down: %w", name, err)
	}
	return nil
}

// Agreed tells whether the caller has agreed to be shut down while that host has run.
func (rg *registry) Agreed(ctx context.Context, team, host string) bool {
	all, err := agreedRecord().Read(ctx, rg.panes.Records(), team)
	return err == nil && all[rg.caller.Name] == host
}
