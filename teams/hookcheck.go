package teams

import (
	"cmp"
	"context"
	"fmt"
	"os/user"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// objectionsKey is the metadata field that counts how often hooks objected to the
// completion of a task.
const objectionsKey = "objections"

// WithEnviron returns the same verbs for one who works in the folder cwd with the variables
// environ, which hooks inherit. Once leaving is closed, no answer of a hook is
// waited for any more: what it was asked about does not happen.
func (s *Service) WithEnviron(cwd string, environ []string, leaving <-chan struct{}) *Service {
	return s.with(func(c *common) { c.cwd, c.environ, c.leaving = cwd, environ, leaving })
}

// askable is ctx until the asker has to leave.
func (g *gate) askable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if g.leaving != nil {
		go func() {
			select {
			case <-g.leaving:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// KeepHooks stores the hooks of a team file.
func (rg *registry) KeepHooks(ctx context.Context, team string, all []hooks.Hook) error {
	if len(all) == 0 {
		return nil
	}
	if err := rg.leadOnly("give a team hooks"); err != nil {
		return err
	}
	err := hooksRecord().Edit(ctx, rg.panes.Records(), team, "keep hooks", func(kept *[]hooks.Hook) (bool, error) {
		*kept = all
		return true, nil
	})
	if err == nil {
		err = rg.roster.Update(ctx, team, func(t *store.Team) error {
			t.Ours.Hooks = true
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("keep the hooks of team %s: %w", team, err)
	}
	return nil
}

// keptHooks returns the hooks of a team's file. It is an error if the team has some and
// their record is lost: a gate that nobody knows any more is not open.
func (g *gate) keptHooks(ctx context.Context, t store.Team) ([]hooks.Hook, error) {
	all, err := hooksRecord().Read(ctx, g.panes.Records(), t.Name)
	if err == nil && len(all) == 0 && t.Ours.Hooks {
		err = fault.New(fault.CorruptFile, "the record of its hooks is gone").WithHint("leadlight up %s keeps them again", shell.Line(cmp.Or(t.Ours.File, "FILE")))
	}
	if err != nil {
		return nil, fmt.Errorf("read the hooks of team %s: %w", t.Name, err)
	}
	return all, nil
}

// hooksOf returns the hooks of an event: those of the team file, and those of
// Claude Code's settings, the user's and the ones of the lead's folder.
func (g *gate) hooksOf(ctx context.Context, t store.Team, event string) ([]hooks.Hook, error) {
	all, err := g.keptHooks(ctx, t)
	if err != nil {
		return nil, err
	}
	project := t.Ours.Cwd
	if lead := t.Member(leadName(t)); lead != nil && project == "" {
		project = lead.Cwd
	}
	named, err := hooks.ReadSettings(g.settings(project), event, g.trust)
	if err != nil {
		return nil, err
	}
	return hooks.Of(append(all, named...), event), nil
}

// settings are where Claude Code's settings are, for a project. A program that was started
// without HOME has the user's by the system.
func (c *common) settings(project string) hooks.Sources {
	getenv := func(name string) string { return variable(c.environ, name) }
	if c.environ != nil {
		getenv = hooks.WithHome(getenv, user.Current)
	}
	return hooks.Sources{Getenv: getenv, Project: project, Managed: hooks.ThisMachine(getenv)}
}

// askHooks asks the hooks of an event and fills in who acts where.
func (g *gate) askHooks(ctx context.Context, t store.Team, all []hooks.Hook, in hooks.Input) (hooks.Answer, hooks.Input, error) {
	in.SessionID, in.Cwd, in.TeamName = cmp.Or(in.SessionID, t.LeadSessionID), g.cwd, t.Name
	if m := t.Member(g.caller.Name); m != nil && !t.IsLead(*m) {
		in.Cwd = cmp.Or(m.Cwd, g.cwd)
		if in.AgentID == "" { // else a child of the agent acts, which is no teammate
			in.TeammateName, in.AgentType = m.Name, m.AgentType
		}
		if in.HookEventName == hooks.TeammateIdle {
			in.PermissionMode = cmp.Or(m.Mode, "default")
		}
	}
	ctx, cancel := g.askable(ctx)
	defer cancel()
	answer, err := hooks.Ask(ctx, all, in, g.environ)
	for _, f := range answer.Failures {
		g.log.Warn("a hook gave no answer", "hook", f.Hook.String(), "event", f.Hook.Event, "why", f.Why)
		g.notice(f.String())
	}
	return answer, in, err
}

func inputOf(event string, task store.Task) hooks.Input {
	return hooks.Input{HookEventName: event, TaskID: task.ID, TaskSubject: task.Subject, TaskDescription: task.Description}
}

// tellOfObjections tells the lead, unless it is the one who was refused.
func (g *gate) tellOfObjections(ctx context.Context, t store.Team, text, summary string) error {
	m := t.Member(g.caller.Name)
	if m == nil || t.IsLead(*m) {
		return nil
	}
	return g.tellLead(ctx, t, *m, text, summary)
}

// MayIdle asks the hooks whether the caller, a teammate with nothing to do, may go
// idle. It returns "" if it may, else the feedback with which it has to go on.
// before is how many objections in a row there were: after hooks.MaxObjections the
// lead is told, and the caller may.
func (g *gate) MayIdle(ctx context.Context, team string, before int) (feedback string, err error) {
	t, err := g.get(ctx, team)
	if err != nil {
		return "", err
	}
	all, err := g.hooksOf(ctx, t, hooks.TeammateIdle)
	if err != nil || len(all) == 0 {
		return "", err
	}
	answer, in, err := g.askHooks(ctx, t, all, hooks.Input{HookEventName: hooks.TeammateIdle})
	if err != nil || !answer.Objects() {
		return "", err
	}
	feedback = answer.Feedback(in)
	if before+1 < hooks.MaxObjections {
		return feedback, nil
	}
	text := fmt.Sprintf("%s was kept from going idle %d times and is idle now. %s", g.caller.Name, before+1, feedback)
	return "", g.tellOfObjections(ctx, t, text, "a hook does not let "+g.caller.Name+" rest")
}

// Objection is the cause of an error: a hook says no, and what to do.
type Objection struct{ Feedback string }

// Error is what the hook says.
func (o Objection) Error() string { return o.Feedback }
