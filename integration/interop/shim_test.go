package interop_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClaudeLeadsWithTheShim lets a lead outside tmux, with the shim first on its PATH,
// put two teammates into panes without a terminal, work with them and end them.
func TestClaudeLeadsWithTheShim(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.play("begin", makeTeam("alpha"), spawn("alpha", "amy", "general-purpose", "PLAY:amy"), spawn("alpha", "bob", "general-purpose", "PLAY:bob"),
			text("The team is there."))
		r.play("amy", send("team-lead", "amy is at work"), text("Amy has begun."))
		r.play("bob", send("team-lead", "bob is at work"), text("Bob has begun."))
		r.play("stop", askToStop("amy"), askToStop("bob"), text("They are asked."))

		if err := os.Mkdir(r.path("shim"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(r.bin, r.path("shim", "tmux")); err != nil {
			t.Fatal(err)
		}
		path := strings.Replace(r.variable("PATH"), "=", "="+r.path("shim")+":", 1)
		lead := r.lead("env", "-u", "TMUX", "-u", "TMUX_PANE", "LEADLIGHT_BACKEND=headless", path, "claude")
		r.say(lead, "PLAY:begin")
		r.eventually("both have told the lead of themselves", func() bool { return r.wasTold("amy is at work") && r.wasTold("bob is at work") })

		team := r.theTeam()
		for name, pane := range map[string]string{"amy": "%0", "bob": "%1"} {
			if m, _ := r.member(team, name); m.BackendType != "tmux" || m.TmuxPaneID != pane {
				t.Errorf("%s is in %s %s", name, m.BackendType, m.TmuxPaneID)
			}
		}
		if found := r.headlessPanes(); len(found) != 2 || len(r.tmux.Panes()) != 2 {
			t.Errorf("without a terminal are %v, in tmux %v", found, r.tmux.Panes())
		}

		r.eventually("both rest", func() bool { // the lead may overwrite what one of them has written into the roster
			data, err := os.ReadFile(r.path("home/.claude/teams", team, "config.json"))
			return err == nil && strings.Count(string(data), `"isActive": false`) == 2 || r.wasTold("Amy has begun.") && r.wasTold("Bob has begun.")
		})
		r.say(lead, "PLAY:stop")
		for _, name := range []string{"amy", "bob"} {
			r.eventually(name+" is gone from the roster", func() bool { _, there := r.member(team, name); return !there })
		}
		r.eventually("no pane is left", func() bool { return len(r.headlessPanes()) == 0 })
		r.eventually("nothing of the shim is left", func() bool {
			left, err := os.ReadDir(r.path("run/leadlight"))
			return err != nil || len(left) == 0
		})
	})
}

// headlessPanes are those on record.
func (r *rig) headlessPanes() []string {
	r.t.Helper()
	found, err := filepath.Glob(r.path("run/leadlight/headless/*.json"))
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}
