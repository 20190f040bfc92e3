package interop_test

import (
	"regexp"
	"sync"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestClaudeAsks lets leadlight answer what a native teammate asks: its plan, which is
// rejected, handed in again and approved, and then the use of two tools, of which one
// is denied.
func TestClaudeAsks(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		touch := func(name string) move { return use("Bash", object{"command": "touch " + name, "description": "touch"}) }
		plan := use("ExitPlanMode", object{"plan": planText})
		r.play("amy", plan, writePlan, plan, text("The plan is handed in."))
		r.play("again", writePlan, plan, text("The plan is handed in again."))
		r.play("go", touch("one"), touch("two"), text("It is done."))

		r.must("leadlight", "team", "create", "alpha", "--description", "for a test")
		r.must("leadlight", "spawn", "amy", "--model", "haiku", "--plan-mode", "--prompt", "PLAY:amy")
		asks := func() (p api.Plan) {
			t.Helper()
			r.eventually("amy has handed a plan in", func() bool {
				open := into[[]api.Plan](r, "plan", "ls", "--json")
				if len(open) == 1 {
					p = open[0]
				}
				return len(open) == 1
			})
			return p
		}
		if p := asks(); p.From != "amy" || p.Plan != planText {
			t.Errorf("plan %+v", p)
		}
		if m, _ := r.member("alpha", "amy"); m.State != api.StateWaiting {
			t.Errorf("amy is %s: %s", m.State, m.Reason)
		}
		r.must("leadlight", "plan", "reject", asks().ID, "--feedback", "Look closer. PLAY:again")
		r.must("leadlight", "plan", "approve", asks().ID, "--feedback", "PLAY:go")
		for _, allow := range []bool{true, false} {
			var open []api.Permission
			r.eventually("amy asks to use a tool", func() bool {
				open = into[[]api.Permission](r, "permission", "ls", "--json")
				return len(open) == 1
			})
			if p := open[0]; p.Tool != "Bash" || p.From != "amy" {
				t.Errorf("asks %+v", p)
			}
			if allow {
				r.must("leadlight", "permission", "allow", open[0].ID)
			} else {
				r.must("leadlight", "permission", "deny", open[0].ID, "--reason", "one is enough")
			}
		}
		r.eventually("amy has read why not", func() bool { return r.wasTold("one is enough") })
		if !r.there("one") || r.there("two") {
			t.Errorf("touched: one %v, two %v", r.there("one"), r.there("two"))
		}
		ended := into[api.Endings](r, "stop", "amy", "--timeout", "30s", "--json")
		if len(ended.Members) != 1 || ended.Members[0].Outcome != api.Approved {
			t.Errorf("stop: %+v", ended)
		}
	})
}

const planText = "# Plan\nTouch two files"

var planFile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/\S+/plans/[a-z0-9-]+\.md`) })

// writePlan puts the plan where the client, which was asked for it too early, says that
// it is to be.
func writePlan(r *request) []block {
	for _, msg := range r.Messages {
		for _, t := range msg.Content {
			if file := planFile().FindString(t); file != "" {
				return use("Write", object{"file_path": file, "content": planText})(r)
			}
		}
	}
	return nil
}
