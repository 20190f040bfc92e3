package hooks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/hooks"
)

func TestR06_M14_DelegateTable(t *testing.T) {
	for _, tc := range []struct {
		tool, input string
		want        bool
	}{
		{"TeamCreate", `{}`, true}, {"SendMessage", `{"to":"bob"}`, true}, {"TeamDelete", ``, true}, {"TodoWrite", ``, true},
		{"AskUserQuestion", ``, true}, {"Config", ``, true}, {"ExitPlanMode", ``, true}, {"SpawnTeammate", ``, true},
		{"ShutdownTeammate", ``, true}, {"Broadcast", ``, true}, {"TaskCreate", ``, true}, {"TaskUpdate", ``, true},
		{"TaskList", ``, true}, {"TaskGet", ``, true}, {"CleanupTeam", ``, true},
		{"Agent", `{"name":"bob","prompt":"x"}`, true}, {"Task", `{"name":"bob","team_name":"alpha"}`, true},
		{"mcp__leadlight__task_create", `{}`, true}, {"mcp__plugin_leadlight_leadlight__TaskCreate", `{}`, true},

		{"Agent", `{"prompt":"x"}`, false}, {"Task", `{"name":" "}`, false}, {"Task", `{"name":7}`, false}, {"Agent", ``, false},
		{"Bash", `{"command":"ls"}`, false}, {"Edit", ``, false}, {"Read", ``, false}, {"", ``, false}, {"taskget", ``, false},
		{"mcp__leadlight__", ``, false}, {"mcp__leadlighter__run", ``, false}, {"mcp__other__leadlight__x", ``, false},
	} {
		ok, why := hooks.DelegateAllows(tc.tool, json.RawMessage(tc.input))
		if ok != tc.want {
			t.Errorf("%s %s: allowed %v, want %v", tc.tool, tc.input, ok, tc.want)
		}
		if (why == "") != ok || (!ok && !strings.Contains(why, "delegate mode")) {
			t.Errorf("%s %s: the reason is %q", tc.tool, tc.input, why)
		}
	}
}
