package teams

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Restart stops a teammate, if it runs, and starts it again with the same command
// in the same folder; an agent that can goes on with its conversation. Its mail stays.
// The environment is that of whoever calls, and over it the variables that came with
// the spawn: their values are kept nowhere but in the host, so that those of a
// teammate that has ended are gone, which a notice says.
func (rs *restarter) Restart(ctx context.Context, team, name string) (api.Member, error) {
	if err := rs.leadOnly("restart teammates"); err != nil {
		return api.Member{}, err
	}
	t, m, err := rs.reach(ctx, team, name)
	if err != nil {
		return api.Member{}, err
	}
	if rs.routed(m) {
		var again api.Member
		err := rs.ask(ctx, m.Leadlight.Machine, verbRestart, order{Team: t.Name, Names: []string{m.Name}}, &again, func(t told) { rs.say(t.Name, t.What) })
		return again, err
	}
	if t.IsLead(m) {
		return api.Member{}, fault.New(fault.InvalidArgument, "%s is the lead, which is never restarted", m.Name).WithHint("leadlight ps lists the teammates")
	}
	if ofItsLead(t, m) {
		return api.Member{}, fault.New(fault.NotLead, "teammate %s was not started by leadlight", m.Name).WithHint("its own lead starts it")
	}
	return rs.restart(ctx, t.Name, m.Name, nil, nil)
}

// Restarting tells whether a teammate that has stopped is about to be started again by
// whoever has stopped it.
func (rs *restarter) Restarting(team, name string) bool { return rs.panes.Restarting(team, name) }

// launched returns how a teammate was started.
func (rs *restarter) launched(ctx context.Context, t store.Team, m store.Member) (panes.LaunchRecord, error) {
	rec, err := rs.panes.Records().Launch(ctx, t.Name, m.Name)
	if err != nil {
		why := fault.New(fault.CodeOf(err), "how %s was started is not known any more: %w", m.Name, err)
		if seen := rs.observeOne(ctx, t, m); seen.Live() {
			return rec, why.WithHint("leadlight stop %s ends it; then leadlight spawn %s starts it anew", m.Name, m.Name)
		}
		return rec, why.WithHint("leadlight spawn %s starts it anew", m.Name)
	}
	return rec, nil
}

// restart starts a teammate again, as asked says, or as it was launched if that is nil, and
// has its lock all the while.
// count is how often that happened without being asked for, nil if it is asked for; one that
// runs is not restarted without being asked.
func (rs *restarter) restart(ctx context.Context, team, name string, asked *panes.LaunchRecord, count *store.Replaced) (api.Member, error) {
	release, err := rs.lockMember(ctx, team, name, "restart a teammate")
	if err != nil {
		return api.Member{}, err
	}
	defer release()
	t, m, seen, err := rs.member(ctx, team, name)
	if err != nil {
		return api.Member{}, err
	}
	if count != nil && seen.Live() {
		return api.Member{}, errFaster
	}
	var rec panes.LaunchRecord
	if asked != nil {
		rec = *asked
	} else if rec, err = rs.launched(ctx, t, m); err != nil {
		return api.Member{}, err
	}
	spec := SpawnSpec{
		Name: m.Name, Model: m.Model, AgentType: m.AgentType, Prompt: m.Prompt, Env: rs.keptVariables(ctx, m, seen, rec),
		Cwd: rec.Dir, Color: m.Color, again: &rec, replaced: count,
	}
	if _, err := rs.resolveOne(t, spec, ""); err != nil {
		return api.Member{}, err // before anything is stopped
	}
	if seen.Live() {
		if err := rs.panes.Writable(); err != nil {
			return api.Member{}, fmt.Errorf("restart %s, which runs on: %w", m.Name, err)
		}
		release, err := rs.panes.NoteRestart(ctx, team, m.Name, rs.limits.lockWait())
		if err != nil {
			return api.Member{}, err
		}
		defer release()
		defer rs.panes.Hold(ctx, rs.target(t, m, rs.observed(ctx, t.Name, m)))()
		ends, err := rs.Stop(ctx, team, []string{m.Name}, StopOptions{Reason: "restart", again: true, Progress: rs.say})
		if err == nil {
			err = Verdict(ends)
		}
		if err != nil {
			return api.Member{}, fmt.Errorf("restart %s: %w", m.Name, err)
		}
		if now, err := rs.launched(ctx, t, m); err == nil { // it may have shown its conversation's id in the end
			rec = rec.WithSession(now.Session)
		}
	}
	rec.GoOn = rec.CanResume()
	rs.say(m.Name, "starts again")
	res := rs.Spawn(ctx, team, []SpawnSpec{spec})
	return res[0].Member, res[0].Err
}

// lockMember keeps other verbs from a member, and says for which it waits.
func (c *common) lockMember(ctx context.Context, team, name, verb string) (release func(), err error) {
	return c.panes.LockMember(ctx, team, name, verb, c.limits.lockWait(), func(holder string) { c.say(name, "waits for "+holder) })
}

// say tells what is done to a teammate by a verb that answers only in the end.
func (c *common) say(name, what string) {
	if c.progress != nil {
		c.progress(name, what)
	}
}

// originOf returns the profile that a teammate was started by.
func (c *common) originOf(rec panes.LaunchRecord) (profiles.Profile, error) {
	if rec.Origin != nil {
		return *rec.Origin, nil
	}
	return c.profiles.Get(rec.Profile)
}

// keptVariables returns the variables that came with the spawn of a teammate, or from
// its profile, as its host still has them.
func (rs *restarter) keptVariables(ctx context.Context, m store.Member, seen api.Member, rec panes.LaunchRecord) []string {
	names := slices.Clone(rec.Asked)
	if rec.Origin != nil {
		names = append(names, rec.Origin.Env...)
	}
	if seen.Live() && len(names) > 0 {
		var env []string
		h, err := rs.panes.Client(ctx, m.Name, panes.HostRecord{Socket: rec.Socket})
		if err == nil {
			env, err = h.Variables(ctx, names)
		}
		if err == nil {
			return env
		}
		rs.log.Warn("ask a host for its variables", "teammate", m.Name, "error", err)
	}
	known := namesOf(rs.profiles[rec.Profile].Env)
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(known, name) && !slices.Contains(rec.Asked, name) })
	if len(names) > 0 {
		rs.notice(fmt.Sprintf("the values of variables that %s was started with are not known any more, since they are in its host alone: %s", m.Name, strings.Join(names, " ")))
	}
	return nil
}
