package teammate

import (
	"strings"
	"testing"
)

func TestReply(t *testing.T) {
	for _, tc := range []struct {
		name, out, text string
		found, bad      bool
	}{
		{"claude", `{"type":"system","subtype":"init"}` + "\nnoise\n" + `{"type":"result","subtype":"success","is_error":false,"result":"all\ndone","usage":{}}` + "\n", "all\ndone", true, false},
		{"claude, no line break", `{"type":"result","subtype":"success","result":"x"}`, "x", true, false},
		{"claude failed", `{"type":"result","subtype":"error_max_turns","is_error":true}` + "\n", "error_max_turns", true, true},
		{"qwen failed", `{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"no quota"}}` + "\n", "no quota", true, true},
		{"codex", `{"type":"thread.started","thread_id":"1"}` + "\n" + `{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"first"}}` + "\n" +
			`{"type":"item.completed","item":{"type":"command_execution","text":"no"}}` + "\n" + `{"type":"item.completed","item":{"type":"agent_message","text":"last"}}` + "\n" + `{"type":"turn.completed"}`, "last", true, false},
		{"codex failed", `{"type":"turn.failed","error":{"message":"no quota"}}` + "\n", "no quota", true, true},
		{"nothing of it", "hello\n[1]\n{\n{\"type\":5}\n", "", false, false},
		{"a line too long", `{"type":"result","result":"` + strings.Repeat("x", maxReplyLine) + `"}` + "\n" + `{"type":"result","result":"y"}`, "y", true, false},
	} {
		for _, size := range []int{1 << 20, 7} { // in one piece, and in many
			r := &reply{}
			for rest := tc.out; len(rest) > 0; rest = rest[min(size, len(rest)):] {
				_, _ = r.Write([]byte(rest[:min(size, len(rest))]))
			}
			r.end()
			if r.text != tc.text || r.found != tc.found || r.bad != tc.bad {
				t.Errorf("%s: %q, found %v, bad %v", tc.name, r.text, r.found, r.bad)
			}
		}
	}
	if !repliesInEvents([]string{"claude", "-p", "--output-format", "stream-json"}) || !repliesInEvents([]string{"codex", "exec", "--json", "-"}) ||
		repliesInEvents([]string{"codex", "exec", "-"}) {
		t.Error("whose reply is among events is told wrong")
	}
}

func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"type":"result","result":"x"}`+"\n"), 3)
	f.Fuzz(func(t *testing.T, out []byte, cut int) {
		cut = min(max(cut, 0), len(out))
		whole, parts := &reply{}, &reply{}
		_, _ = whole.Write(out)
		_, _ = parts.Write(out[:cut])
		_, _ = parts.Write(out[cut:])
		whole.end()
		parts.end()
		if whole.text != parts.text || whole.bad != parts.bad {
			t.Errorf("%q and %q", whole.text, parts.text)
		}
	})
}
