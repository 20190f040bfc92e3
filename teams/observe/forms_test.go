package observe

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// each rewrites the lines of a stream.
func each(stream []byte, change func(i int, line []byte) []byte) []byte {
	var out []byte
	i := 0
	for line := range bytes.Lines(stream) {
		out = append(out, change(i, bytes.TrimRight(line, "\n"))...)
		i++
	}
	return out
}

// TestOB03_WhatStandsAroundAnObject: what a terminal does not show, what is behind an
// object, and whether a line end is between two of them make no difference.
func TestOB03_WhatStandsAroundAnObject(t *testing.T) {
	_, plain := archive(t, "s01-lifecycle")
	want, _ := observed(t, plain, EmitEvents)
	around := func(before, behind string) func(int, []byte) []byte {
		return func(_ int, line []byte) []byte { return []byte(before + string(line) + behind) }
	}
	for name, change := range map[string]func(i int, line []byte) []byte{
		"colours before":         around("\x1b[33;1m", "\n"),
		"a title before":         around("\x1b]0;claude\x07\x1b]2;x\x1b\\", "\n"),
		"colours behind":         around("", "\x1b[0m\n"),
		"NUL before":             around("\x00", "\n"),
		"NUL behind":             around("", "\x00\n"),
		"record separators":      around("\x1e", "\n"),
		"a progress bar":         around("10%\r20%\r", "\n"),
		"commas behind":          around("", ",\n"),
		"nothing between":        around("", ""),
		"blanks between":         around("", " "),
		"carriage returns only":  around("", "\r"),
		"two a line":             func(i int, line []byte) []byte { return append(line[:len(line):len(line)], "\n"[:i%2]...) },
		"a string with braces":   around("", ` {"type":"assistant","message":{"content":[{"type":"text","text":"}{"}]}}`+"\n"),
		"one cut, then the next": func(i int, line []byte) []byte { return []byte(string(line[:9*len(line)/10]) + string(line) + "\n") },
		"objects over many lines": func(_ int, line []byte) []byte {
			var b bytes.Buffer
			if err := json.Indent(&b, line, "", "  "); err != nil {
				t.Fatal(err)
			}
			return append(b.Bytes(), "\r\n"...)
		},
	} {
		if got, _ := observed(t, each(plain, change), EmitEvents); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	noise := []byte("{\n  runtime: 'v22' }\n")
	if got, _ := observed(t, append(noise, plain...), EmitEvents); got != want {
		t.Errorf("a brace at the beginning: %s", got)
	}
	cut := []byte("{\n  \"version\": 1\n}\n{\"type\":\"assistant\",\"message\":{\"content\":[{\"te\n")
	if got, _ := observed(t, append(cut, plain...), EmitEvents); got != want {
		t.Errorf("a message that is cut behind an object over many lines: %s", got)
	}
	many := bytes.Repeat([]byte(`{"type":"assistant","a":"Task"} `), 3*mostObjects)
	if got, _ := observed(t, append(append(many, '\n'), plain...), EmitEvents); got != want {
		t.Errorf("many objects in a line: %s", got)
	}
}

// TestOB07_RefusalsInEveryShape: what a result says of a failure counts, in whatever part
// and form; and what only sounds so does not.
func TestOB07_RefusalsInEveryShape(t *testing.T) {
	for _, c := range []struct {
		content, structured any
		refused             bool
	}{
		{"", "Error: Task not found", true},
		{nil, "Error: Task not found", true},
		{"", object{"success": "False"}, true},
		{"", object{"success": 0}, true},
		{"Error: nope", object{"success": nil}, true},
		{"", object{"ok": false}, true},
		{"", object{"status": "error", "message": "x"}, true},
		{"", object{"error": "boom"}, true},
		{"", object{"type": "error", "error": object{"message": "boom"}}, true},
		{"InputValidationError: TaskUpdate failed", nil, true},
		{"The user doesn't want to proceed with this tool use.", nil, true},
		{"[Request interrupted by user for tool use]", nil, true},
		{"Claude requested permissions to use TaskUpdate, but you haven't granted it yet.", nil, true},
		{"Permission to use TaskUpdate has been denied.", nil, true},
		{"TaskUpdate operation blocked by hook: no", nil, true},
		{"PreToolUse:TaskUpdate hook error: no", nil, true},
		{"tmux: no space for new pane", nil, true},
		{"Updated task #1 status", nil, false},
		{"Only the first test fails.", object{"status": "completed"}, false},
		{"Updated task #1: no longer blocked by hook", nil, false},
		{"", object{"success": true, "error": nil}, false},
		{"", object{"success": true, "error": "a part of it"}, false},
		{"", "Error-free string", false},
		{"", object{"error": 0}, false},
		{nil, nil, false},
	} {
		w := seen(join(create("c", "a"), task("k", "1"))...)
		w.feed(use("u", "TaskUpdate", object{"taskId": "1", "status": "completed"}), shaped("u", c.content, c.structured))
		if got := w.state.Team.Task("1").Status == pending; got != c.refused {
			t.Errorf("%v, %v: refused %v", c.content, c.structured, got)
		}
	}
	for _, words := range []string{"Only the team lead can delete the team", "Team still has active members: ann", `{"error":"busy"}`} {
		w := seen(create("c", "a")...)
		w.feed(use("d", "TeamDelete", object{}), shaped("d", words, nil)).is(t, "a/lead")
	}
	for flag, refused := range map[string]bool{`true`: true, `"True"`: true, `1`: true, `false`: false, `null`: false, `0`: false, `"false"`: false, `""`: false} {
		if flagged(json.RawMessage(flag)) != refused {
			t.Errorf("the error flag %s", flag)
		}
	}
}

// TestOB06_WhatASuccessfulUpdateSays: it names the fields that were other before, so one that
// it does not name is as asked already, by somebody whose stream is another one.
func TestOB06_WhatASuccessfulUpdateSays(t *testing.T) {
	for _, c := range []struct {
		said object
		want string
	}{
		{object{"success": true}, "a/lead #1:completed@ann>2 #2:pending<1"},
		{object{"success": true, "taskId": "1", "updatedFields": []any{"owner", "status", "blocks"}}, "a/lead #1:completed@ann>2 #2:pending<1"},
		{object{"success": true, "taskId": "1", "updatedFields": []any{"owner"}}, "a/lead #1:completed@ann>2 #2:pending<1"},
		{object{"success": true, "taskId": "1", "updatedFields": []any{"status"}, "statusChange": object{"from": "pending", "to": "in_progress"}}, "a/lead #1:in_progress@ann>2 #2:pending<1"},
		{object{"success": true, "taskId": "1", "updatedFields": []any{}}, "a/lead #1:completed@ann>2 #2:pending<1"},
		{object{"success": true, "taskId": "2", "updatedFields": []any{"status"}}, "a/lead #1:pending #2:pending"},
	} {
		w := seen(join(create("c", "a"), task("k", "1"), task("l", "2"))...)
		w.feed(use("u", "TaskUpdate", object{"taskId": "1", "status": "completed", "owner": "ann", "addBlocks": []any{"2"}}), shaped("u", "", c.said)).is(t, c.want)
	}
}

// shaped is a result of any shape.
func shaped(id string, content, structured any) string {
	block := object{"type": "tool_result", "tool_use_id": id, "content": content}
	return encode(object{"type": "user", "session_id": "S1", "tool_use_result": structured, "message": object{"role": "user", "content": []any{block}}})
}

// TestOB13_AnInputThatIsAText: an object that was written as a text is that object.
func TestOB13_AnInputThatIsAText(t *testing.T) {
	w := seen(join(create("c", "a"), task("k", "1"))...)
	w.feed(use("u", "TaskUpdate", `{"taskId":"1","status":"completed"}`), shaped("u", "Updated task #1", nil)).is(t, "a/lead #1:completed")
}

// TestOB13_TextInEveryShape: the text of a result may be a text, a block, or a list, in
// either of its two parts.
func TestOB13_TextInEveryShape(t *testing.T) {
	const words = "Task #2 created successfully: B"
	block := object{"type": "text", "text": words}
	for name, line := range map[string]string{
		"a text":             shaped("k2", words, nil),
		"a list of texts":    shaped("k2", []any{words}, nil),
		"a block":            shaped("k2", block, nil),
		"a list in a list":   shaped("k2", []any{[]any{block}}, nil),
		"behind a picture":   shaped("k2", []any{object{"type": "image"}, block}, nil),
		"structured text":    shaped("k2", "", words),
		"structured block":   shaped("k2", nil, []any{block}),
		"structured JSON":    shaped("k2", nil, `{"task":{"id":"2"}}`),
		"another's number":   shaped("k2", "Made of issue #77: task #2", nil),
		"one block, no list": strings.Replace(strings.Replace(shaped("k2", words, nil), `"content":[`, `"content":`, 1), `}],`, `},`, 1),
	} {
		w := seen(create("c", "a")...)
		w.feed(use("k2", "TaskCreate", object{"subject": "B"}), line)
		if w.state.Team.Task("2") == nil {
			t.Errorf("%s: %s", name, line)
		}
	}
}
