package teams

import (
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// leadMode is the permission mode that new teammates inherit: the one that the
// lead's own entry tells, else the one that the Claude Code session was started in
// below which we run. It is "" for a lead without a mode, such as a person at a
// shell: then the agent's own settings count.
func (c *common) leadMode(t store.Team) string {
	modes := []string{}
	if lead := t.Member(leadName(t)); lead != nil {
		modes = append(modes, lead.Mode)
	}
	// What Claude Code runs for its model has this variable; a server of tools that it
	// starts has not, and is a session.
	if c.caller.Session || variable(c.environ, "CLAUDECODE") != "" {
		for _, p := range signals.Ancestors() {
			if mode, is := profiles.ModeOf(p.Argv); is {
				modes = append(modes, mode)
				break // its own ancestors are not the lead
			}
		}
	}
	for _, mode := range modes {
		if slices.Contains(PermissionModes(), mode) {
			return mode
		}
	}
	return ""
}

// buildModeCommand makes the command lines of a launch record for another permission mode:
// fault.Unsupported where the profile has no way into it, or none to go on in it with
// the conversation there is.
func (st *starter) buildModeCommand(t store.Team, m store.Member, rec panes.LaunchRecord, mode string) (panes.LaunchRecord, error) {
	p, err := st.originOf(rec)
	switch {
	case err != nil:
		return rec, err
	case rec.Kind == profiles.ACP && mode == profiles.ModePlan:
		return rec, noModes(m, "an agent that speaks the Agent Client Protocol has no plan mode here")
	case rec.Kind != profiles.ACP && !p.CheckMode(mode):
		return rec, noModes(m, "its profile "+p.Name+" has no arguments for "+mode)
	case rec.Kind != profiles.ACP && rec.Kind != profiles.Worker && !p.Resumes():
		return rec, noModes(m, "its client takes no such request, and its profile has no way to go on after a restart")
	}
	return modeCommand(t, m, rec, p, mode)
}

// outOfPlan is the launch record of who carries its plan out in a mode, or in what is the
// agent's default where its profile does not know that.
func outOfPlan(t store.Team, m store.Member, rec panes.LaunchRecord, p profiles.Profile, mode string) (panes.LaunchRecord, error) {
	if mode == profiles.ModePlan || !p.CheckMode(mode) { // whoever approves may say anything
		mode = profiles.ModeDefault
	}
	return modeCommand(t, m, rec, p, mode)
}

// modeCommand is a launch record with the command lines for a permission mode. An agent that
// cannot go on with its conversation begins another one.
func modeCommand(t store.Team, m store.Member, rec panes.LaunchRecord, p profiles.Profile, mode string) (panes.LaunchRecord, error) {
	rec.Mode, rec.Plan = mode, mode == profiles.ModePlan
	model := m.Model
	if p.CheckModel(model) != nil {
		model = "" // another lead knows the models of its own agent only
	}
	err := buildCommand(&rec, p, m.AgentType, model, leadSession(t))
	return rec, err
}

func noModes(m store.Member, why string) error {
	return fault.New(fault.Unsupported, "the permission mode of %s cannot be changed: %s", m.Name, why).
		WithHint("stop it and spawn it again in the mode it is to have")
}
