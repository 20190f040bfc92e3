package interop_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestClaudePlugin installs examples/claude-plugin as a person does: the client takes it,
// leads a team by its tools, and refuses the lead the tools of work while the team is in
// delegate mode.
func TestClaudePlugin(t *testing.T) {
	version, dir := installed(t, "claude")
	r := newRig(t, version, dir)
	r.home(object{"permissions": object{"defaultMode": "default", "allow": []string{"Bash(touch:*)", "mcp__plugin_leadlight_leadlight"}}})
	plugin, err := filepath.Abs("../../examples/claude-plugin")
	if err != nil {
		t.Fatal(err)
	}
	client := filepath.Join(dir, "claude")
	r.must(client, "plugin", "validate", plugin)
	r.must(client, "plugin", "marketplace", "add", plugin)
	r.must(client, "plugin", "install", "leadlight@leadlight")

	touch := func(name string) move { return use("Bash", object{"command": "touch " + name, "description": "touch"}) }
	tool := func(name string, input object) move { return use("mcp__plugin_leadlight_leadlight__"+name, input) }
	r.play("begin", touch("before"), tool("TeamCreate", object{"team_name": "alpha", "description": "x"}), text("The team is there."))
	r.play("work", tool("TaskCreate", object{"subject": "count", "description": "count the files"}), touch("lead"), text("It is tried."))
	r.play("again", touch("again"), text("It is done."))

	lead := r.lead("claude", "--model", "haiku")
	r.shell = lead
	r.say(lead, "PLAY:begin")
	r.eventually("the team is there", func() bool { return strings.Contains(r.screen(lead), "The team is there") })
	if !r.there("before") {
		t.Error("a session without a team was refused a tool")
	}
	r.must("leadlight", "team", "delegate", "on", "--team", "alpha")
	r.say(lead, "PLAY:work")
	r.eventually("the lead is refused", func() bool { return r.wasTold("delegate mode: the lead does not use Bash itself") })
	if out := r.must("leadlight", "task", "ls", "--team", "alpha"); !strings.Contains(out, "count") || r.there("lead") {
		t.Errorf("the lead touched its file: %v; tasks: %s", r.there("lead"), out)
	}
	r.must("leadlight", "team", "delegate", "off", "--team", "alpha")
	r.say(lead, "PLAY:again")
	r.eventually("the lead may work itself", func() bool { return r.there("again") })
	r.leave(lead)
	r.must("leadlight", "team", "delete", "alpha")
}
