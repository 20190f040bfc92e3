package teams

import (
	"context"
	"fmt"
	"slices"

	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Delegate tells whether the lead of a team is in delegate mode: it coordinates,
// and hooks.DelegateAllows says with which tools. The state is in the roster, so
// that every process that serves this lead goes by the same one.
func (rg *registry) Delegate(ctx context.Context, team string) (bool, error) {
	t, err := rg.get(ctx, team)
	return t.Ours.Delegate, err
}

// SetDelegate turns delegate mode on or off, also of a team that Claude Code
// leads: fault.NotLead for a teammate.
func (rg *registry) SetDelegate(ctx context.Context, team string, on bool) error {
	if err := rg.leadOnly("turn delegate mode on or off"); err != nil {
		return err
	}
	t, err := rg.get(ctx, team)
	if err != nil {
		return err
	}
	err = rg.roster.Update(ctx, t.Name, func(t *store.Team) error {
		t.Ours.Delegate = on
		return nil
	})
	if err != nil {
		return fmt.Errorf("write the mode of team %s: %w", t.Name, err)
	}
	return nil
}

// LedBy returns the team that a session of Claude Code leads, "" if there is none.
func (rg *registry) LedBy(ctx context.Context, session string) (string, error) {
	names, err := rg.roster.List(ctx)
	if err != nil {
		return "", fmt.Errorf("list teams: %w", err)
	}
	for _, name := range names {
		if t, err := rg.roster.Get(ctx, name); err == nil && t.LeadSessionID == session && session != "" {
			return t.Name, nil
		}
	}
	return "", nil
}

// LedBelow returns the team whose lead is a process below pid that runs, such as a
// server of tools which a client has started; "" if there is none.
func (rg *registry) LedBelow(ctx context.Context, pid int) (string, error) {
	names, err := rg.roster.List(ctx)
	if err != nil {
		return "", fmt.Errorf("list teams: %w", err)
	}
	table, err := signals.Snapshot()
	if err != nil {
		return "", fmt.Errorf("look at the processes: %w", err)
	}
	below := table.Descendants(pid)
	for _, name := range names {
		t, err := rg.roster.Get(ctx, name)
		if err != nil || leadAlive(t) != signals.Alive {
			continue // who leads a team that cannot be read is not known
		}
		if slices.ContainsFunc(below, func(p signals.Process) bool { return p.PID == t.LeadProcess.PID }) {
			return t.Name, nil
		}
	}
	return "", nil
}
