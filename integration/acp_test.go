package integration_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestAgentClientProtocol lets an agent be spoken to by messages: prompts, its questions,
// and its end. Nothing is typed, and nothing is read from its pane.
func TestAgentClientProtocol(t *testing.T) {
	t.Parallel()
	r := newRig(t, "120x40")
	r.team("alpha")
	r.spawn("ann", []string{"--kind", "acp", "--prompt", "begin"}, r.stub("acp", r.path("work"))...)
	heard := func(words ...string) bool {
		data, _ := os.ReadFile(r.path("work/heard"))
		return !slices.ContainsFunc(words, func(w string) bool { return strings.Count(string(data), w) != 1 })
	}
	rests := func() bool {
		m := r.member("ann")
		return m.State == api.StateIdle && (m.Unread == nil || *m.Unread == 0)
	}
	long := "two\nlines " + strings.Repeat("x", 64<<10) + " end"
	r.must("send", "ann", long)
	r.must("send", "ann", "please fail")
	r.eventually("ann has heard it all once, and rests", func() bool { return heard(`"new session"`, "begin", " end", "please fail") && rests() })
	r.eventually("its pane shows it", func() bool {
		out := r.must("capture", "ann")
		return strings.Contains(out, "I have heard [31mit") && strings.Contains(out, "the model refuses")
	})

	asks := func(file string) api.Permission {
		t.Helper()
		r.must("send", "ann", "touch "+file)
		var open []api.Permission
		r.eventually("ann asks", func() bool {
			m := r.member("ann")
			return json.Unmarshal([]byte(r.must("requests", "--json")), &open) == nil && len(open) == 1 && m.State == api.StateWaiting && m.Reason == "touch "+file
		})
		return open[0]
	}
	there := func(file string) bool { _, err := os.Stat(r.path("work", file)); return err == nil }
	r.must("approve", asks("one").ID)
	r.eventually("the file is made", func() bool { return there("one") && rests() })
	r.must("deny", asks("two").ID, "--reason", "one is enough")
	r.eventually("ann rests", rests)
	asks("three")
	r.must("keys", "ann", "y", "enter") // a person at the pane
	r.eventually("the third file is made", func() bool { return there("three") && rests() })
	if there("two") {
		t.Error("what was denied was done")
	}

	r.must("restart", "ann")
	r.must("send", "ann", "go on")
	r.eventually("ann goes on with its conversation", func() bool { return heard(`"load s-1"`, "go on", `"new session"`) && rests() })

	r.must("stop", "ann")
	r.must("task", "add", "for whoever comes")
	r.must("restart", "ann") // nobody else offers it
	r.eventually("ann is offered the task", func() bool { return heard("for whoever comes") && rests() })
	r.must("task", "rm", "1")

	objects := `{"hooks": {"TeammateIdle": [{"hooks": [{"type": "command", "command": "test -e looked || { : >looked; echo look once more >&2; exit 2; }"}]}]}}`
	if err := errors.Join(os.Mkdir(r.path("home/.claude"), 0o700), os.WriteFile(r.path("home/.claude/settings.json"), []byte(objects), 0o600)); err != nil {
		t.Fatal(err)
	}
	r.must("send", "ann", "have a rest")
	r.eventually("a hook keeps ann at work, once", func() bool { return heard("have a rest", "not finished yet: ") && rests() })

	for _, tc := range []struct { // what is answered without a question
		mode, text, file string
		made             bool
	}{{"acceptEdits", "write", "four", true}, {"dontAsk", "touch", "five", false}, {"bypassPermissions", "touch", "six", true}} {
		r.must("set", "ann", "--permission-mode", tc.mode)
		r.must("send", "ann", tc.text+" "+tc.file)
		r.eventually("ann rests, in the mode "+tc.mode, func() bool { return heard(tc.text+" "+tc.file) && rests() })
		if there(tc.file) != tc.made || r.member("ann").PermissionMode != tc.mode {
			t.Errorf("%s: the file is there: %v; ann's mode is %s", tc.mode, there(tc.file), r.member("ann").PermissionMode)
		}
	}
	var ended api.Endings
	if err := json.Unmarshal([]byte(r.must("stop", "ann", "--json")), &ended); err != nil || len(ended.Members) != 1 || ended.Members[0].Outcome != api.Approved {
		t.Errorf("stop: %+v, %v", ended, err)
	}
}
