package interop_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestLeadlightClaude lets leadlight claude start the lead. Whatever the settings say,
// its teammates run in our hosts: one is Claude Code, two are other agents, the first
// by the name of its type and the second by a rule. All get mail, answer, and end when
// that lead asks them to; it, and nobody else, takes their panes and entries away.
func TestLeadlightClaude(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.home(object{"teammateMode": "in-process", "permissions": object{"defaultMode": "default"}})
		r.stub("codex", strings.ReplaceAll(repl, "printf '› '", `printf '› \n\n  GPT · /work\n'`)) // its footer belongs to its prompt
		r.stub("look", repl)
		r.write("home/leadlight/config.yaml", "profiles: {look: {kind: interactive, command: [look], ready: '^› ', quit: /quit, agentTypes: [checker]}}\n")
		r.play("begin", makeTeam("alpha"), spawn("alpha", "amy", "general-purpose", "PLAY:amy"),
			spawn("alpha", "cora", "codex", "ping"), spawn("alpha", "lou", "checker", "ping"), text("The team is there."))
		r.play("amy", send("team-lead", "amy is here"), text("Amy has begun."))
		r.play("again", send("cora", "ping again"), text("Sent."))

		// The key is the lead's alone: neither the client nor the terminal hands it on.
		r.tmux.Run("set-environment", "-g", "-u", "ANTHROPIC_API_KEY")
		lead := r.lead("env", r.variable("ANTHROPIC_API_KEY"), r.bin, "claude", "--model", "haiku")
		r.shell = lead
		r.say(lead, "PLAY:begin")
		for _, name := range []string{"amy is here", "pong from cora", "pong from lou"} {
			r.eventually("the lead hears: "+name, func() bool { return r.wasTold(name) })
		}
		team := r.theTeam()
		for name, want := range map[string]string{"amy": "native claude", "cora": "interactive codex", "lou": "interactive look"} {
			r.eventually(name+" is idle", func() bool { m, _ := r.member(team, name); return m.State == api.StateIdle })
			if m, _ := r.member(team, name); m.Kind+" "+m.Profile != want || !strings.HasPrefix(m.TmuxPaneID, "%") {
				t.Errorf("%s is %+v, want %s", name, m, want)
			}
		}
		r.eventually("amy shows what she has said", func() bool { // her client may call itself idle before
			return strings.Contains(r.must("leadlight", "capture", "amy", "--team", team), "Amy has begun")
		})
		r.say(lead, "PLAY:again")
		r.eventually("cora has got a second message", func() bool { return r.wasTold("pong again from cora") })

		for _, verb := range []string{"stop", "restart"} {
			if _, errs, exit := r.run("leadlight", verb, "amy", "--team", team); exit != 4 || !strings.Contains(errs, "NOT_LEAD") {
				t.Errorf("%s: %d %s", verb, exit, errs)
			}
		}
		r.must("leadlight", "doctor")
		r.must("leadlight", "gc")
		if n := len(r.tmux.Panes()); n != 5 {
			t.Errorf("%d panes after gc", n)
		}

		for _, name := range []string{"amy", "cora", "lou"} { // one by one: of entries that go at once the client may write some back
			r.play("stop"+name, askToStop(name), text(name+" is asked."))
			r.say(lead, "PLAY:stop"+name)
			r.eventually(name+" is gone from the roster", func() bool { _, there := r.member(team, name); return !there })
		}
		r.eventually("their panes are closed", func() bool { return len(r.tmux.Panes()) == 2 })
		r.leave(lead)
	})
}

// TestLeadlightClaudeDelegates refuses the lead, and only the lead, the tools of work.
func TestLeadlightClaudeDelegates(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.home(object{"permissions": object{"defaultMode": "default", "allow": []string{"Bash(touch:*)"}}})
		touch := func(name string) move { return use("Bash", object{"command": "touch " + name, "description": "touch"}) }
		r.play("begin", makeTeam("alpha"), touch("lead"), spawn("alpha", "amy", "general-purpose", "PLAY:amy"), text("The team is there."))
		r.play("amy", touch("amy"), send("team-lead", "amy has worked"), text("Amy has begun."))
		r.play("again", touch("again"), askToStop("amy"), text("It is done."))

		lead := r.lead(r.bin, "claude", "--delegate")
		r.shell = lead
		r.say(lead, "PLAY:begin")
		r.eventually("amy has worked", func() bool { return r.wasTold("amy has worked") })
		if !r.wasTold("delegate mode: the lead does not use Bash itself") {
			t.Error("the lead was not refused")
		}
		if r.there("lead") || !r.there("amy") {
			t.Errorf("the lead touched its file: %v, amy hers: %v", r.there("lead"), r.there("amy"))
		}
		r.must("leadlight", "team", "delegate", "off", "--team", r.theTeam())
		r.say(lead, "PLAY:again")
		r.eventually("the lead may work itself", func() bool { return r.there("again") })
		r.eventually("amy's pane is closed", func() bool { return len(r.tmux.Panes()) == 2 })
		r.leave(lead)
	})
}

// repl is an agent at a prompt.
const repl = `printf '› '
while read -r line; do
	case "$line" in
	/quit) exit ;;
	*"ping again") leadlight send team-lead "pong again from $LEADLIGHT_AGENT" ;;
	*ping) leadlight send team-lead "pong from $LEADLIGHT_AGENT" ;;
	esac
	printf '› '
done`

// stub puts a program of a name, which is a script for sh, on the PATH.
func (r *rig) stub(name, script string) {
	r.t.Helper()
	r.write("stubs/"+name, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(r.path("stubs", name), 0o700); err != nil {
		r.t.Fatal(err)
	}
}

// there tells whether the project holds a file.
func (r *rig) there(name string) bool {
	_, err := os.Stat(r.path("project", name))
	return err == nil
}

// leave makes a lead exit, and waits until its pane is closed.
func (r *rig) leave(lead string) {
	r.t.Helper()
	r.say(lead, "/exit")
	submitted := time.Now()
	r.eventually("the lead is gone", func() bool {
		if time.Since(submitted) > 5*time.Second { // it may have been taken for the choice of a completion
			submitted = time.Now()
			_, _ = r.tmux.Try("send-keys", "-t", lead, "Enter")
		}
		return r.screen(lead) == ""
	})
}
