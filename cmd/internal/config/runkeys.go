package config

import (
	"fmt"

	"github.com/leadlight-dev/leadlight/teams/store"
)

// NotForRuns lists the keys of the file that a run of its team does not take, each with its
// place: what they say counts for up, or is the daemon's in its own settings.
func (f *TeamFile) NotForRuns() []string {
	var out []string
	add := func(set bool, pos Pos, format string, args ...any) {
		if set {
			out = append(out, fmt.Sprintf("%s (line %d)", fmt.Sprintf(format, args...), pos.Line))
		}
	}
	s := &f.settings
	add(s.mailbox.Set, s.mailbox.Pos, "mailbox")
	add(s.engine.Set && s.engine.V != store.InFiles, s.engine.Pos, "engine")
	l, c := &s.layout, &s.lifecycle
	for _, k := range []struct {
		name string
		set  bool
		pos  Pos
	}{
		{"layout.placement", l.placement.Set, l.placement.Pos}, {"layout.arrange", l.arrange.Set, l.arrange.Pos}, {"layout.main", l.main.Set, l.main.Pos},
		{"layout.min", l.cols.Set, l.cols.Pos}, {"layout.maxPanes", l.maxPanes.Set, l.maxPanes.Pos}, {"defaults.environment", s.defaults.environment.Set, s.defaults.environment.Pos},
		{"lifecycle.onLeadExit", c.onLeadExit.Set, c.onLeadExit.Pos}, {"lifecycle.onLoss", c.onLoss.Set, c.onLoss.Pos},
		{"lifecycle.silent", c.silent.Set, c.silent.Pos},
		{"lifecycle.ask", c.ask.Set, c.ask.Pos}, {"lifecycle.term", c.term.Set, c.term.Pos}, {"lifecycle.kill", c.kill.Set, c.kill.Pos},
		{"lifecycle.ready", c.ready.Set, c.ready.Pos}, {"lifecycle.keep", c.keep.Set, c.keep.Pos}, {"lifecycle.assign", c.assign.Set, c.assign.Pos},
		{"lifecycle.maxTeammates", c.maxTeammates.Set, c.maxTeammates.Pos},
	} {
		add(k.set, k.pos, "%s", k.name)
	}
	for _, m := range s.members {
		add(m.machine.Set, m.machine.Pos, "machine of %s", m.name.V)
		add(m.restart.Set, m.restart.Pos, "restart of %s", m.name.V)
		add(m.ready.Set, m.ready.Pos, "readyTimeout of %s", m.name.V)
	}
	for i, t := range s.tasks {
		add(t.activeForm.Set, t.activeForm.Pos, "activeForm of task %d", i+1)
		add(len(t.metadata) > 0, t.pos, "metadata of task %d", i+1)
	}
	return out
}
