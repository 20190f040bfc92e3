package observe

import "slices"

// An agent may start agents of its own that are no teammates. What such a child does it does
// for whoever started it, as the client has it: its messages carry the teammate's name.

// maxChildren bounds the agents that are remembered.
const maxChildren = 1024

// Child is an agent that was started, by the id of the use that started it.
type Child struct {
	ID       string `json:"toolUseId"`
	ParentID string `json:"parentToolUseId,omitempty"` // of whom started it; "" for the main agent
}

// children notes the agents that a line starts. Those that become teammates are found as
// such first.
func (t *Tracker) children(l Line) {
	for _, u := range l.Uses {
		known := slices.ContainsFunc(t.state.Children, func(c Child) bool { return c.ID == u.ID })
		if l.Type != "assistant" || l.Sidechain || known || u.ID == "" || u.Name != "Task" && u.Name != "Agent" {
			continue
		}
		list := append(slices.Clip(t.state.Children), Child{u.ID, l.ParentID})
		t.state.Children = list[max(len(list)-maxChildren, 0):]
		t.step.Dirty = true
	}
}

// root is the id of the spawn for which an agent acts that was started with the use id: its
// own if it is a teammate's or nothing is known of it, "" for the main agent.
func (s *State) root(id string) string {
	for range maxChildren {
		i := slices.IndexFunc(s.Children, func(c Child) bool { return c.ID == id })
		if id == "" || i < 0 || s.Team.spawnedBy(id) != nil {
			break
		}
		id = s.Children[i].ParentID
	}
	return id
}

// by is who speaks in a line, or is spoken to: "" if nothing is known of that agent.
func (t *Tracker) by(l Line) string {
	u := ToolUse{ParentID: t.state.root(l.ParentID), Agent: l.AgentName, Sidechain: l.Sidechain}
	return speaker(t.state.Team, u, first(t.state.Self, leadName))
}
