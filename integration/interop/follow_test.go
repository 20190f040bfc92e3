package interop_test

import (
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestClaudeFollows lets leadlight lead, with Claude Code as a native teammate: it
// reads its inbox, does the task that it is given, answers, goes idle, and agrees to
// shut down, after which nothing of it is left.
func TestClaudeFollows(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.play("amy", text("Amy has begun."))
		r.play("count", update("1", "in_progress"), update("1", "completed"), send("team-lead", "42 files"), text("Counted."))
		r.play("ping", send("team-lead", "pong from amy"), text("Answered."))

		r.must("leadlight", "team", "create", "alpha", "--description", "for a test")
		amy := into[api.Member](r, "spawn", "amy", "--model", "haiku", "--prompt", "PLAY:amy", "--json")
		if amy.Kind != "native" || amy.Profile != "claude" || !strings.HasPrefix(amy.TmuxPaneID, "%") {
			t.Errorf("spawned %+v", amy)
		}
		r.eventually("amy has read her first message", func() bool {
			return strings.Contains(r.must("leadlight", "capture", "amy"), "Amy has begun")
		})
		r.eventually("amy is idle", func() bool { m, _ := r.member("alpha", "amy"); return m.State == api.StateIdle })

		r.must("leadlight", "task", "add", "count", "-d", "PLAY:count the files", "--owner", "amy")
		r.eventually("amy has told what she counted", func() bool { return r.mailed("amy", "42 files") })
		if task := into[api.Task](r, "task", "show", "1", "--json"); task.Status != "completed" || task.Owner != "amy" {
			t.Errorf("task %+v", task)
		}
		r.must("leadlight", "send", "amy", "PLAY:ping")
		r.eventually("amy has answered", func() bool { return r.mailed("amy", "pong from amy") })
		r.eventually("amy has said that she is idle", func() bool { return r.mailed("amy", "idle_notification") })

		ended := into[api.Endings](r, "stop", "amy", "--timeout", "30s", "--json")
		if len(ended.Members) != 1 || ended.Members[0].Outcome != api.Approved || len(ended.Members[0].Leftovers) > 0 {
			t.Errorf("stop: %+v", ended)
		}
		if m, _ := r.member("alpha", "amy"); m.State != api.StateStopped {
			t.Errorf("amy is %s: %s", m.State, m.Reason)
		}
		r.eventually("her pane is closed", func() bool { return len(r.tmux.Panes()) == 1 })
		r.must("leadlight", "team", "delete", "alpha")
	})
}

// mailed tells whether the lead's box holds a message of a teammate with some words.
func (r *rig) mailed(from, words string) bool { return r.mails(from, words) > 0 }

// mails counts the messages to the lead, from somebody, that hold words.
func (r *rig) mails(from, words string) (n int) {
	r.t.Helper()
	for _, m := range into[[]api.Message](r, "inbox", "--from", from, "--json") {
		if strings.Contains(m.Text, words) {
			n++
		}
	}
	return n
}

// lastIsIdle tells whether a teammate's last word to the lead is that it rests.
func (r *rig) lastIsIdle(from string) bool {
	r.t.Helper()
	all := into[[]api.Message](r, "inbox", "--from", from, "--json")
	return len(all) > 0 && strings.Contains(all[len(all)-1].Text, "idle_notification")
}
