package interop_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestClaudeAsks lets leadlight answer what a native teammate asks: its plan, which is
// rejected, handed in again and approved, and then the use of tools, of which one is
// denied. The first after a plan the client may use unasked.
func TestClaudeAsks(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		touch := func(name string) move { return use("Bash", object{"command": "touch " + name, "description": "touch"}) }
		plan := use("ExitPlanMode", object{"plan": planText})
		r.play("amy", plan, writePlan, plan, text("The plan is handed in."))
		r.play("again", writePlan, plan, text("The plan is handed in again."))
		r.play("go", touch("zero"), touch("one"), touch("two"), text("It is done."))

		r.must("leadlight", "team", "create", "alpha", "--description", "for a test")
		r.must("leadlight", "spawn", "amy", "--model", "haiku", "--plan-mode", "--prompt", "PLAY:amy")
		asks := func() (p openRequest) {
			t.Helper()
			r.eventually("amy has handed a plan in, and rests", func() bool { // in the middle of a turn she would not begin by an answer
				open := r.open()
				if len(open) == 1 {
					p = open[0]
				}
				return len(open) == 1 && p.Kind == "plan" && r.lastIsIdle("amy")
			})
			return p
		}
		if p := asks(); p.From != "amy" || p.Text != planText {
			t.Errorf("plan %+v", p)
		}
		if m, _ := r.member("alpha", "amy"); m.State != api.StateWaiting {
			t.Errorf("amy is %s: %s", m.State, m.Reason)
		}
		r.must("leadlight", "deny", asks().ID, "--reason", "Look closer. PLAY:again")
		r.must("leadlight", "approve", asks().ID)
		// The client may drop the words of an approval, and those that come with it.
		r.eventually("amy has left the plan mode, and emptied her box", func() bool {
			data, err := os.ReadFile(r.path("home/.claude/teams/alpha/config.json"))
			return err == nil && strings.Contains(string(data), `"mode": "default"`) && len(into[[]api.Message](r, "inbox", "amy", "--unread", "--json")) == 0
		})
		r.must("leadlight", "send", "amy", "PLAY:go")
		allowed := 0
		for denied := false; !denied; {
			var open []openRequest
			r.eventually("amy asks to use a tool", func() bool {
				open = r.open()
				return len(open) == 1
			})
			if p := open[0]; p.Kind != "permission" || !strings.HasPrefix(p.Text, "Bash") || p.From != "amy" {
				t.Errorf("asks %+v", p)
			}
			if denied = strings.Contains(open[0].Text, "touch two"); denied {
				r.must("leadlight", "deny", open[0].ID, "--reason", "two are enough")
			} else {
				r.must("leadlight", "approve", open[0].ID)
				allowed++
			}
		}
		r.eventually("amy has read why not", func() bool { return r.wasTold("two are enough") })
		if allowed == 0 || !r.there("one") || r.there("two") {
			t.Errorf("allowed %d times; touched: one %v, two %v", allowed, r.there("one"), r.there("two"))
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

// open are the open requests. The client writes its files in place: a look in between
// finds one damaged, and is no look.
func (r *rig) open() (list []openRequest) {
	r.t.Helper()
	out, errs, exit := r.run("leadlight", "requests", "--json")
	if exit == 0 && json.Unmarshal([]byte(out), &list) == nil || strings.Contains(errs+out, string(fault.CorruptFile)) {
		return list
	}
	r.t.Fatalf("requests: exit %d\n%s%s", exit, out, errs)
	return nil
}

// openRequest is what requests says of one that waits.
type openRequest struct{ ID, Kind, From, Text string }
