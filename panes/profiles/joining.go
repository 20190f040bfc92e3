package profiles

import (
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// ParseJoining reads what Claude Code, as a lead, asks for a teammate on the command line
// that starts it. Flags that it does not know are the client's business. Without a name
// and a team it is fault.InvalidArgument.
func ParseJoining(args []string) (Ask, error) {
	var j Ask
	var id string
	texts := map[string]*string{
		"--agent-id": &id, "--agent-name": &j.Agent, "--team-name": &j.Team, "--agent-color": &j.Color, "--parent-session-id": &j.Parent,
		"--agent-type": &j.Type, "--model": &j.Model, "--permission-mode": &j.Mode,
	}
	for i := 0; i < len(args); i++ {
		name, value, whole := strings.Cut(args[i], "=")
		switch to := texts[name]; {
		case name == "--plan-mode-required":
			j.Plan = true
		case name == "--dangerously-skip-permissions":
			j.Mode = ModeBypass
		case to == nil:
		case whole:
			*to = value
		case i+1 == len(args):
			return j, fault.New(fault.InvalidArgument, "%s has no value", name)
		default:
			i++
			*to = args[i]
		}
	}
	if j.Agent == "" || j.Team == "" {
		return j, fault.New(fault.InvalidArgument, "the command line names no teammate: it takes --agent-name and --team-name").
			WithHint("Claude Code starts this, as the lead of a team; leadlight claude makes it do so")
	}
	if id != "" && id != j.Agent+"@"+j.Team {
		return j, fault.New(fault.InvalidArgument, "--agent-id %q is not %s of %s", id, j.Agent, j.Team)
	}
	return j, nil
}

// WithoutFlag returns args without a flag that has that very value.
func WithoutFlag(args []string, flag, value string) []string {
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == flag && i+1 < len(args) && args[i+1] == value:
			i++
		case args[i] == flag+"="+value:
		default:
			out = append(out, args[i])
		}
	}
	return out
}

// ForType returns the profile that stands for a type of agent where Claude Code asks
// for it: one that names the type among its agentTypes, else one of that name. ok is
// false where Claude Code itself is meant. A profile without a command stands for
// nothing: nobody could say here what it runs.
func (s Set) ForType(agentType string) (p Profile, ok bool) {
	for _, name := range s.Names() {
		for _, t := range s[name].standsFor() {
			if t == agentType && agentType != "" {
				return s[name], true
			}
		}
	}
	p, ok = s[agentType]
	return p, ok && p.isOther()
}

// Types lists the types of agent that stand for another agent than Claude Code, each
// with its profile. Those of a worker are not among them unless it names them itself:
// it has no conversation, and takes nothing but tasks.
func (s Set) Types() map[string]Profile {
	out := map[string]Profile{}
	for name, p := range s {
		if p.Kind == Interactive && p.isOther() {
			out[name] = p
		}
	}
	for _, name := range s.Names() {
		for _, t := range s[name].standsFor() {
			if _, taken := out[t]; !taken || t != name {
				out[t] = s[name]
			}
		}
	}
	return out
}

// standsFor lists the types that a profile names and can be run for.
func (p Profile) standsFor() []string {
	if len(p.Command) == 0 {
		return nil
	}
	return p.AgentTypes
}

// isOther tells whether a profile is that of an agent other than Claude Code:
// one that brings its own command.
func (p Profile) isOther() bool {
	return len(p.Command) > 0 && p.Command[0] != claudeProgram
}
