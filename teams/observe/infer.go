package observe

import (
	"bytes"
	"encoding/json"
)

// Some results say by themselves what was done. So a result counts also when its use
// was not in the stream: it began in the middle, or its beginning was compacted away.

// tellingMarks are parts of structured results that say what was done. The scan looks
// for them, without decoding.
var tellingMarks = [][]byte{
	[]byte(`teammate_spawned`), []byte(`team_file_path`), []byte(`statusChange`), []byte(`Cleaned up`), []byte(`"subject"`),
}

// maxTelling is the longest line that is looked at: such results are short.
const maxTelling = 64 << 10

// mayTell tells whether a user's line could hold such a result.
func mayTell(line []byte) bool {
	if len(line) > maxTelling || !bytes.Contains(line, []byte("tool_result")) {
		return false
	}
	for _, mark := range tellingMarks {
		if bytes.Contains(line, mark) {
			return true
		}
	}
	return false
}

// infer returns the use that a result without one must have answered. It is not ok if
// the result does not say.
func infer(l Line, r Result) (c Correlated, ok bool) {
	if _, refused := r.refused(); refused || r.ToolUseID == "" {
		return c, false
	}
	task, change := r.object("task"), r.object("statusChange")
	tool, category, input := "", StateChange, map[string]json.RawMessage{}
	switch {
	case r.field("status") == "teammate_spawned":
		tool = "Agent"
	case r.field("team_name") != "" && r.field("team_file_path", "lead_agent_id") != "":
		tool = "TeamCreate"
	case r.field("team_name") != "" && bytes.HasPrefix([]byte(r.field("message")), []byte("Cleaned up")):
		tool = "TeamDelete"
	case scalar(task["id"]) != "" && scalar(task["subject"]) != "" && task["status"] == nil:
		tool, category, input["subject"] = "TaskCreate", TaskUpdate, task["subject"]
	case r.field("taskId") != "" && scalar(change["to"]) != "":
		tool, category, input["taskId"], input["status"] = "TaskUpdate", TaskUpdate, r.Fields["taskId"], change["to"]
	default:
		return c, false
	}
	data, err := json.Marshal(input)
	if err != nil {
		return c, false
	}
	use := ToolUse{ToolName: tool, ToolUseID: r.ToolUseID, Category: category, Input: data, ParentID: l.ParentID, Agent: l.AgentName}
	return Correlated{ToolUse: use, Result: r}, true
}
