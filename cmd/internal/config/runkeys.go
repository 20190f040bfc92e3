package config

import (
	"fmt"

	"github.com/leadlight-dev/leadlight/teams/store"
)

// NotForRuns lists the keys of the file that a run of its team does not take, each with its
// place: what they say counts for up, or is the daemon's in its own settings.
func (f *TeamFile) NotForRuns() []string {
	var out []string
	add := func(key string, said interface{ place() (Pos, bool) }) {
		if pos, set := said.place(); set {
			out = append(out, fmt.Sprintf("%s (line %d)", key, pos.Line))
		}
	}
	s := &f.settings
	add("mailbox", s.mailbox)
	if s.engine.V != store.InFiles {
		add("engine", s.engine)
	}
	l, c := &s.layout, &s.lifecycle
	add("layout.placement", l.placement)
	add("layout.arrange", l.arrange)
	add("layout.main", l.main)
	add("layout.min", l.cols)
	add("layout.maxPanes", l.maxPanes)
	add("defaults.environment", s.defaults.environment)
	add("lifecycle.onLeadExit", c.onLeadExit)
	add("lifecycle.onLoss", c.onLoss)
	add("lifecycle.silent", c.silent)
	add("lifecycle.ask", c.ask)
	add("lifecycle.term", c.term)
	add("lifecycle.kill", c.kill)
	add("lifecycle.ready", c.ready)
	add("lifecycle.keep", c.keep)
	add("lifecycle.assign", c.assign)
	add("lifecycle.maxTeammates", c.maxTeammates)
	for _, m := range s.members {
		add("machine of "+m.name.V, m.machine)
		add("restart of "+m.name.V, m.restart)
		add("readyTimeout of "+m.name.V, m.ready)
	}
	for i, t := range s.tasks {
		add(fmt.Sprintf("activeForm of task %d", i+1), t.activeForm)
		add(fmt.Sprintf("metadata of task %d", i+1), scalar[bool]{Pos: t.pos, Set: len(t.metadata) > 0})
	}
	return out
}
