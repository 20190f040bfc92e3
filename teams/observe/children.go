package observe

import (
	"cmp"
	"slices"
)

// An agent may start agents of its own that are no teammates. What such a child does it does
// for whoever started it, as the client has it: its messages carry the teammate's name.

// maxChildren bounds the agents that are remembered.
const maxChildren = 1024

// Child is an agent that was started, by the id of the use that started it.
type Child struct {
	ID       string `json:"toolUseId"`
	ParentID string `json:"parentToolUseId,omitempty"` // of whom started it; "" for the main agent
	Teammate bool   `json:"teammate,omitempty"`        // it is to become one
	Name     string `json:"name,omitempty"`            // and is called so in the team of the stream
}

// children notes the agents that a line starts. Those that become teammates are found as
// such first.
func (t *Tracker) children(l Line) {
	for _, u := range l.Uses {
		known := slices.ContainsFunc(t.state.Children, func(c Child) bool { return c.ID == u.ID })
		if l.Type != "assistant" || l.Sidechain || known || u.ID == "" || u.Name != "Task" && u.Name != "Agent" {
			continue
		}
		c := Child{ID: u.ID, ParentID: l.ParentID}
		how, _ := toolOf(u.Name)
		if in := fields(u.Input); how.spawn(in) {
			c.Teammate = true
			if team := scalar(in["team_name"]); team == "" || !t.state.Team.known() || sameTeam(t.state.Team.Name, team) {
				c.Name = scalar(in["name"])
			}
		}
		list := append(slices.Clip(t.state.Children), c)
		t.state.Children = list[max(len(list)-maxChildren, 0):]
		t.step.Dirty = true
	}
}

// actsFor fills in for whom an agent acts that was started here: for itself if it is a
// teammate, or about to become one, or nothing is known of it; else for whoever started it.
func (s *State) actsFor(u *ToolUse) {
	for range maxChildren {
		i := slices.IndexFunc(s.Children, func(c Child) bool { return c.ID == u.ParentID })
		if u.ParentID == "" || i < 0 || s.Team.spawnedBy(u.ParentID) != nil {
			break
		}
		if c := s.Children[i]; c.Teammate { // its spawn has no result yet
			u.Agent = cmp.Or(u.Agent, c.Name)
			break
		}
		u.ParentID = s.Children[i].ParentID
	}
}

// by is who speaks in a line, or is spoken to: "" if nothing is known of that agent.
func (t *Tracker) by(l Line) string {
	u := ToolUse{ParentID: l.ParentID, Agent: l.AgentName, Sidechain: l.Sidechain}
	t.state.actsFor(&u)
	return speaker(t.state.Team, u, cmp.Or(t.state.Self, leadName))
}
