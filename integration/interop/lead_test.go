package interop_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestClaudeLeads lets Claude Code lead a team of its own, with a teammate of
// its own, to which leadlight adds two that are no Claude: they get mail, claim
// tasks, answer, and end when that lead asks them to. The verbs that look and tidy
// up work on it, and its panes stay as they are.
func TestClaudeLeads(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.play("begin", makeTeam("alpha"), spawn("alpha", "amy", "general-purpose", "PLAY:amy"), text("The team is there."))
		r.play("amy", text("Amy has begun."))
		r.play("work", use("TaskCreate", object{"subject": "count", "description": "count the files"}),
			send("pat", "ping from the lead"), text("The work is given out."))
		r.play("stop", askToStop("wes"), askToStop("pat"), text("They are asked."))
		r.play("stop-amy", askToStop("amy"), text("Amy is asked."))

		lead := r.lead("claude")
		r.shell = lead // the lead's own Bash tool would run leadlight there
		r.say(lead, "PLAY:begin")
		r.eventually("amy is idle", func() bool {
			return strings.Contains(r.screen(lead), "The team is there") && r.wasTold("idle_notification")
		})
		team := r.theTeam()
		amy, _ := r.member(team, "amy")
		if amy.State != api.StateIdle && amy.State != api.StateActive {
			t.Errorf("amy is %s: %s", amy.State, amy.Reason)
		}
		if out := r.must("leadlight", "capture", "amy", "--team", team); !strings.Contains(out, "Amy has begun") {
			t.Errorf("amy shows %s", out)
		}

		r.must("leadlight", "spawn", "wes", "--team", team, "--kind", "worker", "--", "sh", "-c", "echo 42 files")
		r.must("leadlight", "spawn", "pat", "--team", team, "--", "sh", "-c", pat)
		r.say(lead, "PLAY:work")
		r.eventually("pat has answered the lead", func() bool { return r.wasTold("pong from pat") })
		r.eventually("wes has done the task", func() bool {
			tasks := into[[]api.Task](r, "task", "ls", "--team", team, "--json")
			return len(tasks) == 1 && tasks[0].Status == "completed" && tasks[0].Owner == "wes" && strings.Contains(tasks[0].Result, "42 files")
		})

		r.must("leadlight", "doctor")
		r.must("leadlight", "gc")
		r.checkUntouched(lead, amy.TmuxPaneID)

		r.say(lead, "PLAY:stop")
		for _, name := range []string{"wes", "pat"} {
			r.eventually(name+" is gone from the roster", func() bool { _, there := r.member(team, name); return !there })
		}
		r.eventually("their panes are closed", func() bool { return len(r.tmux.Panes()) == 3 })
		r.checkUntouched(lead, amy.TmuxPaneID)
		r.say(lead, "PLAY:stop-amy")
		r.eventually("amy is gone", func() bool { _, there := r.member(team, "amy"); return !there && len(r.tmux.Panes()) == 2 })
	})
}

// pat is a teammate that is no agent: it answers what the lead writes, once, and
// agrees to the first request to shut down.
const pat = `while sleep 0.1; do
	case "$(leadlight inbox --unread --json)" in
	*shutdown_request*) leadlight approve && exit ;;
	*ping*) [ "$answered" ] || leadlight send team-lead "pong from pat" && answered=yes ;;
	esac
done`

// theTeam is the name of the one team there is.
func (r *rig) theTeam() string {
	r.t.Helper()
	found, err := filepath.Glob(r.path("home/.claude/teams/*/config.json"))
	if err != nil || len(found) != 1 {
		r.t.Fatalf("teams: %v %v", found, err)
	}
	return filepath.Base(filepath.Dir(found[0]))
}

// checkUntouched checks that the client's panes run the client, and are its own.
func (r *rig) checkUntouched(panes ...string) {
	r.t.Helper()
	for _, pane := range panes {
		if got := r.tmux.Format(pane, "#{pane_dead} #{pane_in_mode} #{@leadlight}"); strings.TrimSpace(got) != "0 0" {
			r.t.Errorf("pane %s: %s", pane, got)
		}
		if s := r.screen(pane); !strings.Contains(s, "Claude Code") {
			r.t.Errorf("pane %s shows %s", pane, s)
		}
	}
}
