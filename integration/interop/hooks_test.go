package interop_test

import (
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestClaudeAsksTheHooks puts hooks into a team file whose one teammate is native: its
// client asks them, stays at work with their feedback, and cannot complete a task until
// they agree.
func TestClaudeAsksTheHooks(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.home(object{"teammateMode": "tmux", "permissions": object{"defaultMode": "default", "allow": []string{"Bash(touch:*)"}}})
		r.write("project/leadlight.yaml", `team: alpha
members: [{name: amy, agent: claude, model: haiku, prompt: "PLAY:amy"}]
tasks: [{subject: count, owner: amy}]
hooks:
  TaskCompleted: [{type: command, command: 'cat >>asked; [ -e counted ] || { echo nothing is counted >&2; exit 2; }'}]
  TeammateIdle: [{type: command, command: '[ -e rested ] || { touch rested; echo look once more >&2; exit 2; }'}]
`)
		done := update("1", "completed")
		r.play("amy", update("1", "in_progress"), done, use("Bash", object{"command": "touch counted", "description": "count"}), done, text("Counted."))
		r.must("leadlight", "up", "--detach", "leadlight.yaml")
		r.eventually("amy is told that nothing is counted", func() bool { return r.wasTold("nothing is counted") })
		if task := into[api.Task](r, "task", "show", "1", "--json"); task.Status == "completed" {
			t.Errorf("task %+v", task)
		}
		r.eventually("the task is completed", func() bool { return into[api.Task](r, "task", "show", "1", "--json").Status == "completed" })
		r.eventually("amy looks once more", func() bool { return r.wasTold("look once more") })
		r.eventually("amy is idle", func() bool { return r.mailed("amy", "idle_notification") })
		if out := r.must("cat", "asked"); !strings.Contains(out, `"task_subject":"count"`) || !strings.Contains(out, `"teammate_name":"amy"`) {
			t.Errorf("the hook was told %s", out)
		}
		r.must("leadlight", "down", "alpha", "--timeout", "30s")
	})
}
