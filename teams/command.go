package teams

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// buildCommand makes the command lines of a launch record: that which starts the agent, and
// that which goes on with its conversation.
func buildCommand(rec *panes.LaunchRecord, p profiles.Profile, agentType, model, parent string) (err error) {
	rec.Argv, rec.Resume, err = p.Argv(profiles.Ask{
		Command: rec.Given, Agent: rec.Agent, Team: rec.Team, Color: rec.Color, Kind: rec.Kind, Type: agentType,
		Model: model, Parent: parent, Session: rec.Session, Mode: rec.Mode, Plan: rec.Plan, Settings: rec.Settings,
	})
	return err
}

// command makes the command lines of a member, unless they are as recorded.
func (n *resolvedMember) command(t store.Team, color string) error {
	if n.record.Color = color; n.spec.again != nil {
		return nil
	}
	return buildCommand(&n.record, n.profile, n.spec.AgentType, n.spec.Model, leadSession(t))
}

// leadSession is the id of the session that leads a team: that of Claude Code, or
// for a team of ours one that stays the same as long as the team is there.
func leadSession(t store.Team) string {
	if t.LeadSessionID != "" {
		return t.LeadSessionID
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("leadlight:"+t.Name+"@"+strconv.FormatInt(t.CreatedAt.UnixMilli(), 10))).String()
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
