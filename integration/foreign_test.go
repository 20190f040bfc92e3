package integration_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// bridge is a team with a member in a terminal that nobody here knows.
const bridge = `{
  "name": "alpha", "description": "sample", "createdAt": 1790000000000, "leadAgentId": "team-lead@alpha",
  "leadSessionId": "11111111-2222-4333-8444-555555555555",
  "members": [
    {"agentId": "team-lead@alpha", "name": "team-lead", "agentType": "team-lead", "joinedAt": 1790000000000, "tmuxPaneId": "", "cwd": "/srv", "subscriptions": []},
    {"agentId": "bridge@alpha", "name": "bridge", "agentType": "general-purpose", "prompt": "Look after it.", "color": "blue", "joinedAt": 1790000001000,
     "tmuxPaneId": "%0", "cwd": "/srv", "subscriptions": [], "backendType": "ssh-bridge", "isActive": true, "bridge": {"host": "far", "n": [1, 2]}}
  ]
}`

// https://github.com/cs50victor/claude-code-teams-mcp (spawner.py)
// A member in a terminal that leadlight has no program for is kept as it is written, not
// ended and not typed into: even where its pane's id is that of a pane in tmux.
func TestIT07_ForeignBackendIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, "200x50")
	dir := r.path("base", "teams", "alpha")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(bridge), 0o600); err != nil {
		t.Fatal(err)
	}
	entry := func() string {
		var team struct{ Members []map[string]any }
		data, err := os.ReadFile(filepath.Join(dir, "config.json"))
		if err == nil {
			err = json.Unmarshal(data, &team)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range team.Members {
			if m["name"] == "bridge" {
				text, _ := json.Marshal(m)
				return string(text)
			}
		}
		return "gone"
	}
	shown := func() string { return r.tmux.Run("capture-pane", "-p", "-t", r.lead) }
	before, screen := entry(), shown()
	if m := r.member("bridge"); m.State != api.StateUnknown || m.BackendType != "ssh-bridge" || !strings.Contains(m.Reason, "ssh-bridge") {
		t.Errorf("it is %s: %s", m.State, m.Reason)
	}
	for _, line := range [][]string{
		{"stop", "bridge", "--timeout", "100ms"}, {"stop", "bridge", "--timeout", "100ms", "--force"}, {"attach", "bridge"}, {"capture", "bridge"}, {"gc"}, {"doctor"},
		{"team", "delete", "alpha"}, {"spawn", "bob", "--backend", "headless", "--", "sleep", "1000"},
		{"send", "bridge", "are you there?", "--as", "bob"}, {"stop", "bob"},
	} {
		res := r.run(line...)
		if line[0] == "stop" && line[1] == "bridge" && res.exit != 4 {
			t.Errorf("%v: exit %d, %s%s", line, res.exit, res.out, res.err)
		}
		if after := entry(); after != before {
			t.Fatalf("after %v it is written\n%s, not\n%s", line, after, before)
		}
	}
	if left := r.run("gc", "--dry-run"); strings.Contains(left.out, "bob") {
		t.Errorf("a usual stop in another lead's team leaves %s", left.out)
	}
	if after := shown(); after != screen {
		t.Errorf("in the pane stands %q, not %q", after, screen)
	}
	if panes := r.tmux.Run("list-panes", "-a", "-F", "#{pane_id}"); strings.TrimSpace(panes) != r.lead {
		t.Errorf("the panes are %q", panes)
	}
}
