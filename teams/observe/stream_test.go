package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// object is a JSON object in a test.
type object = map[string]any

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// use is a line in which a tool is used.
func use(id, name string, input any) string {
	return encode(object{"type": "assistant", "session_id": "S1", "parent_tool_use_id": nil, "message": object{
		"role": "assistant", "content": []any{block(id, name, input)}}})
}

func block(id, name string, input any) object {
	return object{"type": "tool_use", "id": id, "name": name, "input": input}
}

// uses is a line with several blocks.
func uses(blocks ...any) string {
	return encode(object{"type": "assistant", "session_id": "S1", "message": object{"role": "assistant", "content": blocks}})
}

// by makes a line one of the agent whose spawn had that id.
func by(parent, line string) string {
	return strings.Replace(line, `"parent_tool_use_id":null`, `"parent_tool_use_id":`+encode(parent), 1)
}

// result is the line of a result: text, a structured part, or both.
func result(id, text string, structured any) string {
	line := object{"type": "user", "session_id": "S1", "message": object{"role": "user", "content": []any{answer(id, text)}}}
	if structured != nil {
		line["tool_use_result"] = structured
	}
	return encode(line)
}

func answer(id, text string) object {
	return object{"type": "tool_result", "tool_use_id": id, "content": text}
}

func failure(id, text string) string {
	b := answer(id, text)
	b["is_error"] = true
	return encode(object{"type": "user", "session_id": "S1", "message": object{"role": "user", "content": []any{b}}})
}

func create(id, team string) []string {
	return []string{use(id, "TeamCreate", object{"team_name": team}), result(id, "", object{"team_name": team})}
}

func disband(id, team string) []string {
	return []string{use(id, "TeamDelete", object{}), result(id, "", object{"success": true, "team_name": team})}
}

func spawn(id, team, name string) []string {
	return []string{
		use(id, "Task", object{"team_name": team, "name": name, "prompt": "go", "subagent_type": "general-purpose"}),
		result(id, "", object{"status": "teammate_spawned", "team_name": team, "name": name, "agent_id": name + "@" + team}),
	}
}

func task(id, number string) []string {
	return []string{
		use(id, "TaskCreate", object{"subject": "Piece " + number, "description": "d"}),
		result(id, "Task #"+number+" created successfully: Piece "+number, nil),
	}
}

func update(id, number string, with object) []string {
	with["taskId"] = number
	return []string{use(id, "TaskUpdate", with), result(id, "Updated task #"+number, nil)}
}

func send(id string, input object, structured any) []string {
	return []string{use(id, "SendMessage", input), result(id, "", structured)}
}

func said(text string) string {
	return uses(object{"type": "text", "text": text})
}

func mailed(uuid, from, text string) string {
	return encode(object{"type": "user", "session_id": "S1", "uuid": uuid, "message": object{"role": "user",
		"content": "<teammate-message teammate_id=" + encode(from) + ">\n" + text + "\n</teammate-message>"}})
}

func join(parts ...[]string) []string {
	var all []string
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// watch is a tracker and everything that came out of it.
type watch struct {
	*Tracker
	now      time.Time
	messages []Message
	events   []events.Event
	warnings []Warning
	changes  int
}

func watching(s State) *watch {
	w := &watch{now: time.Unix(1_800_000_000, 0)}
	w.Tracker = newTracker(s, func() time.Time { return w.now })
	return w
}

func (w *watch) take(s Step) *watch {
	w.messages = append(w.messages, s.Messages...)
	w.events = append(w.events, s.Events...)
	w.warnings = append(w.warnings, s.Warnings...)
	if s.Changed {
		w.changes++
	}
	return w
}

func (w *watch) feed(lines ...string) *watch {
	for _, l := range lines {
		w.take(w.Line([]byte(l)))
	}
	return w
}

func (w *watch) close() *watch { return w.take(w.Close()) }

func seen(lines ...string) *watch { return watching(State{}).feed(lines...) }

// names returns the names of the events, the members they are about behind them.
func (w *watch) names() string {
	var out []string
	for _, e := range w.events {
		name := strings.TrimPrefix(string(e.Type), "team:")
		if e.Member != "" {
			name += "(" + e.Member + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// short is a state in a line of text.
func short(t *Team) string {
	if t == nil {
		return "none"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s", t.Name, t.Role)
	for _, m := range t.Members {
		fmt.Fprintf(&b, " %s:%s", m.Name, m.Status)
		if m.Shutdown != "" {
			fmt.Fprintf(&b, "(%s)", m.Shutdown)
		}
	}
	for _, k := range t.Tasks {
		fmt.Fprintf(&b, " #%s:%s", k.ID, k.Status)
		if k.Owner != "" {
			fmt.Fprintf(&b, "@%s", k.Owner)
		}
		if len(k.BlockedBy) > 0 {
			fmt.Fprintf(&b, "<%s", strings.Join(k.BlockedBy, ","))
		}
		if len(k.Blocks) > 0 {
			fmt.Fprintf(&b, ">%s", strings.Join(k.Blocks, ","))
		}
	}
	return b.String()
}

func (w *watch) is(t *testing.T, want string) {
	t.Helper()
	if got := short(w.state.Team); got != want {
		t.Errorf("state\n got %s\nwant %s", got, want)
	}
}

func (w *watch) told(t *testing.T, want string) {
	t.Helper()
	if got := w.names(); got != want {
		t.Errorf("events\n got %s\nwant %s", got, want)
	}
}

func (w *watch) warned(t *testing.T, parts ...string) {
	t.Helper()
	var all bytes.Buffer
	for _, x := range w.warnings {
		fmt.Fprintln(&all, x.Level, x.Text)
	}
	for _, part := range parts {
		if !strings.Contains(all.String(), part) {
			t.Errorf("no warning with %q in\n%s", part, all.String())
		}
	}
	if len(parts) == 0 && all.Len() > 0 {
		t.Errorf("warnings: %s", all.String())
	}
}
