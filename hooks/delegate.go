package hooks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// delegateTools are the tools that a lead in delegate mode keeps: those with which
// it leads, under the names of both generations of Claude Code.
func delegateTools() []string {
	return []string{
		"TeamCreate", "TeamDelete", "SendMessage", "TodoWrite", "AskUserQuestion", "Config", "ExitPlanMode",
		"SpawnTeammate", "ShutdownTeammate", "Broadcast", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "CleanupTeam",
	}
}

// ownTools is how the names of leadlight's own MCP tools begin, as Claude Code calls
// them: those of a server that a person has named, and those of the plugin's.
func ownTools() []string { return []string{"mcp__leadlight__", "mcp__plugin_leadlight_leadlight__"} }

// DelegateAllows tells whether a lead in delegate mode may use a tool, called with
// input, and if not, why. Task and Agent start a teammate or a subagent; only a
// teammate, which has a name, is one that the lead leads. What is not known to be
// coordination is work, and refused.
func DelegateAllows(tool string, input json.RawMessage) (bool, string) {
	own := func(prefix string) bool { return len(tool) > len(prefix) && strings.HasPrefix(tool, prefix) }
	if slices.Contains(delegateTools(), tool) || slices.ContainsFunc(ownTools(), own) {
		return true, ""
	}
	if tool == "Task" || tool == "Agent" {
		var spawn struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(input, &spawn) == nil && strings.TrimSpace(spawn.Name) != "" {
			return true, ""
		}
		return false, fmt.Sprintf("delegate mode: %s without a name starts a subagent, which does the lead's own work; give it the name of a teammate", tool)
	}
	return false, fmt.Sprintf("delegate mode: the lead does not use %s itself; give the work to a teammate (a task, or a message)", tool)
}
