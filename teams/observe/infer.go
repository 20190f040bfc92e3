package observe

import (
	"encoding/json"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// Some results say by themselves what was done. So a result counts also when its use
// was not in the stream: it began in the middle, or its beginning was compacted away.

// tellingMark is a part of results that say what was done.
type tellingMark struct {
	text string
	at   int // where in it the letter stands by which it is found
}

// tellingMarks are those parts, by a letter of theirs that is rare in what agents print:
// the scan looks for all of them at once, without decoding.
var tellingMarks = [256][]tellingMark{
	'_': {{"teammate_spawned", 8}, {"team_file_path", 4}},
	'C': {{"statusChange", 6}, {"Cleaned up", 0}},
	'j': {{`"subject`, 4}},
	'g': {{`"routing`, 7}},
	'q': {{`"request`, 3}},
	'y': {{"created successfully: ", 19}},
	'S': {{"Spawned successfully.", 0}},
}

// telling are those letters: to ask a table of one byte each is what keeps the scan fast.
var telling = [256]bool{'_': true, 'C': true, 'j': true, 'g': true, 'q': true, 'y': true, 'S': true}

// maxTelling is the longest line that is looked at: such results are short.
const maxTelling = 64 << 10

// mayTell tells whether a user's line could hold such a result.
func mayTell(line []byte) bool {
	if len(line) > maxTelling {
		return false
	}
	for i, c := range line {
		if !telling[c] {
			continue
		}
		for _, m := range tellingMarks[c] {
			from := i - m.at
			if from >= 0 && len(line)-from >= len(m.text) && string(line[from:from+len(m.text)]) == m.text {
				return true
			}
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
	task, change, sent := r.object("task"), r.object("statusChange"), r.sent()
	tool, category, input := "", StateChange, map[string]json.RawMessage{}
	switch {
	case sent != nil:
		tool, category, input = "SendMessage", TeamMessage, sent
	case r.field("status") == "teammate_spawned", strings.HasPrefix(r.Text, "Spawned successfully.") && r.line("agent_id") != "":
		tool = "Agent"
	case r.field("team_name") != "" && r.field("team_file_path", "lead_agent_id") != "":
		tool = "TeamCreate"
	case r.field("team_name") != "" && strings.HasPrefix(r.field("message"), "Cleaned up"):
		tool = "TeamDelete"
	case scalar(task["id"]) != "" && scalar(task["subject"]) != "" && task["status"] == nil:
		tool, category, input["subject"] = "TaskCreate", TaskUpdate, task["subject"]
	case r.created() != "":
		tool, category, input["subject"] = "TaskCreate", TaskUpdate, rawjson.Quote(r.created())
	case r.field("taskId") != "" && scalar(change["to"]) != "":
		tool, category, input["taskId"], input["status"] = "TaskUpdate", TaskUpdate, r.Fields["taskId"], change["to"]
	default:
		return c, false
	}
	data, err := json.Marshal(input)
	if err != nil {
		return c, false
	}
	use := ToolUse{ToolName: tool, ToolUseID: r.ToolUseID, Category: category, Input: data, ParentID: l.ParentID, Agent: l.AgentName, Sidechain: l.Sidechain}
	return Correlated{ToolUse: use, Result: r}, true
}

// created is the subject of the task that a result in words says was made, or "".
func (r Result) created() string {
	rest, ok := strings.CutPrefix(r.Text, "Task #")
	subject, is := strings.CutPrefix(rest, digits(rest)+" created successfully: ")
	if !ok || !is || digits(rest) == "" || r.Structured != nil {
		return ""
	}
	return strings.TrimSpace(subject)
}

// sent is the input of the SendMessage that a result answers, nil if it answers none.
func (r Result) sent() map[string]json.RawMessage {
	text := func(s string) json.RawMessage { return rawjson.Quote(s) }
	message := r.field("message")
	if to := scalar(r.object("routing")["target"]); to != "" {
		if to == "@team" {
			to = "*"
		}
		in := map[string]json.RawMessage{"type": text("message"), "recipient": text(strings.TrimPrefix(to, "@"))}
		for _, name := range []string{"content", "summary"} {
			in[name] = text(scalar(r.object("routing")[name]))
		}
		return in
	}
	if to := r.field("target"); to != "" && strings.HasPrefix(message, "Shutdown request sent") {
		return map[string]json.RawMessage{"type": text("shutdown_request"), "recipient": text(to), "request_id": text(r.field(rawjson.RequestKeys()...))}
	}
	_, reason, refused := strings.Cut(message, `Shutdown rejected. Reason: "`)
	if id := r.field(rawjson.RequestKeys()...); id != "" && (refused || strings.HasPrefix(message, "Shutdown approved.")) {
		reason, _, _ = strings.Cut(reason, `". Continuing`)
		return map[string]json.RawMessage{"type": text("shutdown_response"), "request_id": text(id), "approve": rawjson.Encode(!refused), "reason": text(reason)}
	}
	return nil
}
