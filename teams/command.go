package teams

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// buildCommand makes the command lines of a member: that which starts it, and that which
// goes on with its conversation.
func (n *resolvedMember) buildCommand(t store.Team, color string) (err error) {
	if r := n.spec.again; r != nil {
		n.argv, n.resume = r.Argv, r.Resume
		return nil
	}
	n.argv, n.resume, err = n.profile.Argv(profiles.Ask{
		Command: n.spec.Command, Agent: n.spec.Name, Team: t.Name, Color: color, Kind: n.kind, Type: n.spec.AgentType,
		Model: n.spec.Model, Parent: leadSession(t), Session: n.profile.BeginSession(n.kind, n.host), Mode: n.mode, Plan: n.spec.PlanMode, Settings: n.settings,
	})
	return err
}

// leadSession is the id of the session that leads a team: that of Claude Code, or
// for a team of ours one that stays the same as long as the team is there.
func leadSession(t store.Team) string {
	if t.LeadSessionID != "" {
		return t.LeadSessionID
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("leadlight:"+t.Name+"@"+strconv.FormatInt(t.CreatedAt.UnixMilli(), 10))).String()
}

// protocol is how the agent is spoken to, and what its screen says: for those who
// have a conversation.
func (n resolvedMember) protocol() *profiles.PromptProtocol {
	switch {
	case n.spec.again != nil:
		return n.spec.again.PromptProtocol
	case n.kind == profiles.Interactive || n.kind == profiles.Native:
		return new(n.profile.PromptProtocol.WithDefaults())
	}
	return nil
}

// namesOf lists the names of variables.
func namesOf(env []string) []string {
	var names []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return names
}

// variables are those of the profile, and over them those that were asked for.
func (n resolvedMember) variables() []string { return slices.Concat(n.profile.Env, n.spec.Env) }
