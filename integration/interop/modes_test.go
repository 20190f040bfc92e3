package interop_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// none notes that an agent has none of the abilities whose names begin so.
func (tr *trial) none(begin string) {
	for _, ability := range abilities {
		if strings.HasPrefix(ability, begin) {
			tr.note(ability, none)
		}
	}
}

// asksFirst tells whether the agent, of which it is known, asks something at its start.
func (tr *trial) asksFirst() bool {
	return tr.vendor.first != nil && within(patience, func() bool { return tr.state() == api.StateWaiting })
}

func (tr *trial) answerFirst() {
	if tr.asksFirst() {
		tr.must(append([]string{"leadlight", "keys", "ann"}, tr.vendor.first...)...)
	}
}

// unasked brings the agent into a mode in which it asks for nothing: it goes on with its
// conversation, and runs a command.
func (tr *trial) unasked(ability string) {
	mode := profiles.ModeBypass
	if tr.vendor.name == "claude" { // it refuses to be root in that mode
		mode = profiles.ModeAcceptEdits
	}
	tr.play("free", shell("touch free", false), text("It is touched."))
	tr.must("leadlight", "set", "ann", "--permission-mode", mode)
	tr.must("leadlight", "send", "ann", "PLAY:free")
	tr.check(ability, within(2*patience, func() bool { return tr.there("free") }) && tr.rests() && tr.came(0) == 1, tr.state(), tr.there("free"), tr.came(0))
}

// hooked lets a hook keep the agent at work, once, when it comes to rest.
func (tr *trial) hooked() {
	objects := fmt.Sprintf("[ -e %[1]s ] || { touch %[1]s; echo look once more >&2; exit 2; }", tr.path("rested"))
	tr.home(object{"hooks": object{"TeammateIdle": []object{{"hooks": []object{{"type": "command", "command": objects}}}}}})
	tr.must("leadlight", "send", "ann", "Have a rest.")
	told := func() int {
		return strings.Count(strings.Join(tr.conversation(), "\n"), "[leadlight] not finished yet: ")
	}
	came := within(2*patience, func() bool { return told() > 0 }) && tr.rests() && tr.wasTold("look once more")
	tr.check("acp: kept at work by a hook", came && told() == 1, told(), tr.state())
}

// modes tries what is answered without a question over the Agent Client Protocol.
func (tr *trial) modes() {
	try := func(mode, play string, m move, made bool) bool {
		tr.play(play, m, text("It is over."))
		tr.must("leadlight", "set", "ann", "--permission-mode", mode)
		tr.must("leadlight", "send", "ann", "PLAY:"+play)
		came := within(2*patience, func() bool { return tr.wasTold("PLAY:" + play) })
		ok := came && tr.rests() && tr.there(play) == made
		tr.t.Logf("%s: %v; it came: %v, %s, the file is there: %v", mode, ok, came, tr.state(), tr.there(play))
		return ok
	}
	edits := try(profiles.ModeAcceptEdits, "edited", write(tr.path("project/edited")), true)
	refuses := try(profiles.ModeDontAsk, "refused", shell("touch refused", true), false)
	allows := try(profiles.ModeBypass, "allowed", shell("touch allowed", true), true)
	tr.check("acp: acceptEdits, dontAsk, bypassPermissions", edits && refuses && allows && tr.came(0) == 1, edits, refuses, allows, tr.came(0))
}

// inPlanMode lets the agent hand in its plan, and carry it out once that is approved.
func (tr *trial) inPlanMode() {
	tr.prepare()
	program := "leadlight"
	if tr.vendor.name == "codex" { // its login shell sets a PATH of its own
		program = tr.bin
	}
	tr.play("plan", shell(program+" plan submit 'touch planned'", true), text("The plan is handed in."))
	tr.play("go", shell("touch planned", true), text("It is done."))
	tr.must("leadlight", "spawn", "ann", "--agent", tr.vendor.profile, "--plan-mode", "--prompt", "PLAY:plan", "--ready-timeout", "60s")
	tr.answerFirst()
	var open []openRequest
	handed := tr.allowing(func() bool { open = tr.open(); return len(open) == 1 && open[0].Kind == "plan" })
	if !tr.check("plan mode: handed in by leadlight plan", handed && open[0].Text == "touch planned", open, tr.state()) {
		tr.note("plan mode: carried out once approved", no)
		return
	}
	tr.must("leadlight", "approve", open[0].ID)
	tr.must("leadlight", "send", "ann", "PLAY:go")
	done := tr.allowing(func() bool { return tr.there("planned") })
	tr.check("plan mode: carried out once approved", done && tr.rests(), tr.state())
}

// allowing waits for something, and allows what the agent asks for meanwhile.
func (tr *trial) allowing(ok func() bool) bool {
	answered := ""
	return within(2*patience, func() bool {
		if m, _ := tr.member("alpha", "ann"); m.State != api.StateWaiting {
			answered = ""
		} else if m.Reason != answered && tr.vendor.question.MatchString(m.Reason) {
			answered = m.Reason
			tr.t.Logf("asks: %s", m.Reason)
			allow := tr.vendor.allow
			if strings.HasSuffix(m.Reason, "| No | Yes]") {
				allow = []string{"down", "enter"}
			}
			tr.must(append([]string{"leadlight", "keys", "ann"}, allow...)...)
		}
		return ok()
	})
}

// firstStart starts the agent in a home in which it never was: what it asks is seen as a
// question, with its text, or it takes a prompt.
func (tr *trial) firstStart() {
	_ = os.Remove(tr.path("home/.claude.json"))
	if tr.vendor.name == "claude" { // before that it looks for its maker's server
		tr.write("home/.claude.json", `{"hasCompletedOnboarding": true}`)
	}
	tr.export(tr.vendor.env(tr.URL)...)
	tr.env = append(append(tr.env, tr.vendor.env(tr.URL)...), "LEADLIGHT_TEAM=alpha")
	tr.must("leadlight", "team", "create", "alpha", "--description", "for a test")
	tr.must("leadlight", "spawn", "ann", "--agent", tr.vendor.profile, "--ready-timeout", "60s")
	var m api.Member
	seen := within(2*patience, func() bool { // one that has drawn nothing yet is not recognized
		m, _ = tr.member("alpha", "ann")
		return m.State == api.StateWaiting && !strings.HasPrefix(m.Reason, "unknown screen") || m.State == api.StateIdle
	})
	const row = "a first start: what it asks is seen"
	tr.check(row, seen && (m.State == api.StateIdle || m.Reason != ""), m.State, m.Reason)
	tr.t.Logf("%s: %s", m.State, m.Reason)
	if m.State == api.StateIdle {
		tr.note(row, "asks nothing")
	}
}
