package teammate

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// What each agent prints, recorded from its own program: a task that it does, and one
// that its model's server refuses.
func TestReplyRecorded(t *testing.T) {
	const works, refused = "The result is 42.", "the script refuses this"
	for name, tc := range map[string]struct {
		lines int // of the first task
		fails string
		usage api.Usage
	}{
		"codex":    {lines: 4, fails: refused, usage: api.Usage{InputTokens: 100, OutputTokens: 20}},
		"gemini":   {lines: 4, fails: refused, usage: api.Usage{InputTokens: 100, OutputTokens: 20}},
		"qwen":     {lines: 2, fails: "[API Error: 400 " + refused + "]", usage: api.Usage{InputTokens: 200, OutputTokens: 40}},
		"opencode": {lines: 3, fails: refused, usage: api.Usage{InputTokens: 100, OutputTokens: 20}},
		"copilot":  {lines: 5, fails: "400 " + refused},
		"claude":   {lines: 2, fails: "API Error: 400 " + refused, usage: api.Usage{InputTokens: 100, OutputTokens: 20, CostUSD: 0.0008}},
	} {
		data, err := os.ReadFile(filepath.Join("testdata/replies", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		done, failed := &reply{}, &reply{}
		_, _ = done.Write(bytes.Join(lines[:tc.lines], nil))
		_, _ = failed.Write(bytes.Join(lines[tc.lines:], nil))
		if !done.found || done.bad || done.text != works || done.usage != tc.usage {
			t.Errorf("%s: %+v", name, done)
		}
		if !failed.bad || failed.text != tc.fails {
			t.Errorf("%s fails with %q, %v", name, failed.text, failed.bad)
		}
	}
}
