package observe

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func recognized(t *testing.T, line string) ([]ToolUse, []Warning) {
	t.Helper()
	l, err := Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return Recognize(l)
}

func TestO01_Recognised(t *testing.T) {
	for _, c := range []struct {
		name  string
		tool  string
		input object
		want  Category // "": not a team tool
	}{
		{"create", "TeamCreate", object{"team_name": "a"}, StateChange},
		{"delete", "TeamDelete", object{}, StateChange},
		{"older spawn", "Task", object{"team_name": "a", "name": "b", "prompt": "p"}, StateChange},
		{"older spawn by the newer tool", "Agent", object{"team_name": "a", "name": "b"}, StateChange},
		{"newer spawn", "Agent", object{"name": "b", "prompt": "p"}, StateChange},
		{"task create", "TaskCreate", object{"subject": "s"}, TaskUpdate},
		{"task update", "TaskUpdate", object{"taskId": "1"}, TaskUpdate},
		{"task list", "TaskList", object{}, TaskUpdate},
		{"task get", "TaskGet", object{"taskId": "1"}, TaskUpdate},
		{"older mail", "SendMessage", object{"type": "message", "recipient": "b", "content": "c"}, TeamMessage},
		{"newer mail", "SendMessage", object{"to": "b", "message": "c"}, TeamMessage},
		{"newer frame", "SendMessage", object{"to": "b", "message": object{"type": "shutdown_request"}}, TeamMessage},
		{"subagent", "Task", object{"description": "d", "prompt": "p"}, ""},
		{"subagent with a team", "Task", object{"team_name": "a"}, ""},
		{"subagent with a name", "Task", object{"name": "b"}, ""},
		{"subagent with odd types", "Task", object{"team_name": 1, "name": 2}, ""},
		{"newer subagent", "Agent", object{"description": "d", "prompt": "p"}, ""},
		{"newer subagent, empty name", "Agent", object{"name": ""}, ""},
		{"another tool", "Bash", object{"team_name": "a", "name": "b"}, ""},
		{"another tool", "Read", object{"file_path": "TeamCreate"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := recognized(t, use("tu_1", c.tool, c.input))
			if len(warnings) > 0 {
				t.Errorf("warnings: %v", warnings)
			}
			if c.want == "" {
				if len(got) > 0 {
					t.Fatalf("recognised as %+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Category != c.want || got[0].ToolName != c.tool || got[0].ToolUseID != "tu_1" {
				t.Fatalf("got %+v", got)
			}
			if string(got[0].Input) != encode(c.input) {
				t.Errorf("input %s, want %s", got[0].Input, encode(c.input))
			}
		})
	}
}

func TestO01_OnlyAssistantsUseTools(t *testing.T) {
	line := strings.Replace(use("tu_1", "TeamCreate", object{"team_name": "a"}), `"type":"assistant"`, `"type":"user"`, 1)
	if got, _ := recognized(t, line); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	if got := seen(line, result("tu_1", "", object{"team_name": "a"})); got.state.Team != nil {
		t.Errorf("team %+v", got.state.Team)
	}
}

func TestO02_RequiredInput(t *testing.T) {
	for _, c := range []struct {
		tool    string
		input   any
		missing string
	}{
		{"TeamCreate", object{"description": "d"}, "team_name"},
		{"TeamCreate", object{"team_name": ""}, "team_name"},
		{"TeamCreate", nil, "team_name"},
		{"TeamCreate", []int{1}, "team_name"},
		{"TaskCreate", object{"description": "d"}, "subject"},
		{"TaskUpdate", object{"status": "completed"}, "taskId"},
		{"TaskGet", object{}, "taskId"},
		{"SendMessage", object{"recipient": "b"}, "type"},
		{"SendMessage", object{"to": "b"}, "message"},
	} {
		got, warnings := recognized(t, use("tu_1", c.tool, c.input))
		if len(got) != 0 {
			t.Errorf("%s %v: recognised", c.tool, c.input)
		}
		if len(warnings) != 1 || warnings[0].Level != slog.LevelWarn || !strings.Contains(warnings[0].Text, c.missing) {
			t.Errorf("%s %v: warnings %v", c.tool, c.input, warnings)
		}
	}
	if got, warnings := recognized(t, use("", "TeamDelete", object{})); len(got) != 0 || len(warnings) != 1 {
		t.Errorf("use without an id: %v %v", got, warnings)
	}
	if got, _ := recognized(t, use("tu_1", "TaskGet", object{"taskId": 7})); len(got) != 1 {
		t.Error("a number is a good id of a task")
	}
	l := Line{Type: "assistant", Uses: []Use{{ID: "tu_1", Name: "TaskList"}}}
	if got, _ := Recognize(l); len(got) != 1 || string(got[0].Input) != "{}" {
		t.Errorf("no input at all: %+v", got)
	}
}

func TestO03_UnknownNames(t *testing.T) {
	for name, warns := range map[string]bool{
		"TeamRename": true, "TaskArchive": true, "TaskOutput": false, "Teamwork": false, "Tasks": false, "Team": false, "Bash": false,
	} {
		_, warnings := recognized(t, use("tu_1", name, object{}))
		if warns != (len(warnings) == 1) {
			t.Errorf("%s: warnings %v", name, warnings)
		}
		for _, w := range warnings {
			if w.Level != slog.LevelDebug || !strings.Contains(w.Text, name) {
				t.Errorf("%s: %+v", name, w)
			}
		}
	}
	seen(use("tu_1", "TeamRename", object{})).warned(t, "TeamRename") // the scan lets it through
}

func TestO04_SeveralBlocks(t *testing.T) {
	line := uses(
		object{"type": "text", "text": "plan"},
		block("tu_1", "TeamCreate", object{"team_name": "a"}),
		block("tu_x", "Bash", object{"command": "ls"}),
		block("tu_2", "TaskCreate", object{"subject": "one"}),
		block("tu_3", "TaskCreate", object{}),
		block("tu_4", "SendMessage", object{"to": "b", "message": "hi"}),
	)
	got, warnings := recognized(t, line)
	var order []string
	for _, u := range got {
		order = append(order, u.ToolUseID)
	}
	if strings.Join(order, " ") != "tu_1 tu_2 tu_4" || len(warnings) != 1 {
		t.Errorf("got %v, warnings %v", order, warnings)
	}
	w := seen(line, encode(object{"type": "user", "message": object{"content": []any{
		answer("tu_1", `{"team_name":"a"}`), answer("tu_x", "files"), answer("tu_2", "Task #4 created successfully: one")}}}))
	w.is(t, "a/lead #4:pending")
}

// Several results share one structured part only if it is a list of as many.
func TestO04_SeveralResults(t *testing.T) {
	results := func(structured any) string {
		return encode(object{"type": "user", "tool_use_result": structured, "message": object{"content": []any{
			answer("tu_1", ""), answer("tu_2", "")}}})
	}
	both := uses(block("tu_1", "TaskCreate", object{"subject": "one"}), block("tu_2", "TaskCreate", object{"subject": "two"}))
	one := object{"task": object{"id": "1"}}
	seen(both, results(one)).is(t, "none")
	seen(both, results([]any{one, object{"task": object{"id": "2"}}})).is(t, "/teammate #1:pending #2:pending")
}

func TestDecodeShapes(t *testing.T) {
	for _, line := range []string{
		`{}`, `{"type":null}`, `{"type":7,"message":"text"}`, `{"type":"user","message":null}`, `{"type":"user","message":{"content":null}}`,
		`{"type":"user","message":{"content":7}}`, `{"type":"user","message":{"content":[null,7,"x",[],{"type":"tool_use"}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","content":{"odd":1}}]},"tool_use_result":[1]}`,
		"\xef\xbb\xbf {\"type\":\"user\"} \r\n", `{"type":"system","agents":[{"name":"a"},"b",7,{}],"timestamp":"yesterday"}`,
	} {
		if _, err := Decode([]byte(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, line := range []string{"", "[1]", "text", `{"type":`, `{"a":1}x`} {
		if _, err := Decode([]byte(line)); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
	l, _ := Decode([]byte(`{"type":"system","subtype":"init","agents":[{"name":"a"},"b",7,{}]}`))
	if encode(l.Agents) != `["a","b","7"]` {
		t.Errorf("agents %v", l.Agents)
	}
	if scalar(json.RawMessage(`"\ud800"`)) == "" {
		t.Error("half a character")
	}
}

// TestTellingMarks: each mark is found by its letter, wherever it stands in a line, and
// nothing else is taken for one.
func TestTellingMarks(t *testing.T) {
	const head = `{"type":"user","message":{"content":[{'type':'tool_result'`
	for c, marks := range tellingMarks {
		if telling[c] != (len(marks) > 0) {
			t.Errorf("%q: looked for %v, %d marks", rune(c), telling[c], len(marks))
		}
		for _, m := range marks {
			if int(m.text[m.at]) != c {
				t.Errorf("%q does not have %q at %d", m.text, rune(c), m.at)
			}
			for _, line := range []string{m.text + head, head + m.text, head + m.text + "}"} {
				if !mayTell([]byte(line)) {
					t.Errorf("%s: not found", line)
				}
			}
			if mayTell([]byte(head+m.text[:len(m.text)-1])) || mayTell([]byte(m.text[1:]+head)) {
				t.Errorf("a part of %q is taken for it", m.text)
			}
		}
	}
}
