package interop_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestClaudeGoesOn changes the permission mode of a native teammate whose client takes
// no request for it: it is started again in the new mode, goes on with its
// conversation, reads its mail, and agrees to shut down.
func TestClaudeGoesOn(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.play("amy", text("Amy has begun."))
		r.play("ping", send("team-lead", "pong from amy"), text("Answered."))

		r.must("leadlight", "team", "create", "alpha", "--description", "for a test")
		r.must("leadlight", "spawn", "amy", "--model", "haiku", "--prompt", "PLAY:amy")
		r.eventually("amy has begun", func() bool { return r.mailed("amy", "idle_notification") })
		changed := into[struct{ How string }](r, "set", "amy", "--permission-mode", "acceptEdits", "--json")
		if changed.How != "restarted" {
			t.Errorf("the mode is changed: %+v", changed)
		}
		r.eventually("amy shows her conversation, and the mode", func() bool {
			out := r.must("leadlight", "capture", "amy")
			return strings.Contains(out, "Amy has begun") && strings.Contains(out, "accept edits on")
		})
		r.must("leadlight", "send", "amy", "PLAY:ping")
		r.eventually("amy has answered", func() bool { return r.mailed("amy", "pong from amy") })
		if r.mailed("amy", "starts a new conversation") {
			t.Error("amy did not go on")
		}
		if found, err := filepath.Glob(r.path("home/.claude/teams/*")); err != nil || len(found) != 1 {
			t.Errorf("teams: %v %v", found, err)
		}
		ended := into[api.Endings](r, "stop", "amy", "--timeout", "30s", "--json")
		if len(ended.Members) != 1 || ended.Members[0].Outcome != api.Approved || len(ended.Members[0].Leftovers) > 0 {
			t.Errorf("stop: %+v", ended)
		}
	})
}
