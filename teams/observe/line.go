package observe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Line is one decoded line of a stream or a transcript, as far as teams are
// concerned. Both spellings are read: stream-json (session_id,
// parent_tool_use_id, tool_use_result) and the transcripts under projects/
// (sessionId, toolUseResult, teamName, agentName).
type Line struct {
	Type      string
	SessionID string
	ParentID  string // tool_use id of the spawn whose agent speaks here; "" for the main agent
	Sidechain bool   // transcripts: an agent speaks that the session has started, it is not said which
	UUID      string
	At        time.Time // zero: the stream has no time
	TeamName  string    // transcripts of teammates
	AgentName string
	Agents    []string // of system/init
	Texts     []string // plain text of the message
	Uses      []Use
	Results   []Result
}

// Use is a tool_use block as found.
type Use struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// Result is a tool_result block with the structured result beside it.
type Result struct {
	ToolUseID  string
	IsError    bool
	Text       string                     // all its text, joined
	Fields     map[string]json.RawMessage // of the structured result, completed from Text if that is a JSON object
	Block      json.RawMessage            // as found
	Structured json.RawMessage            // as found; nil if there is none
}

// errNotObject says that a line is something other than a JSON object.
var errNotObject = errors.New("not a JSON object")

// lax is a string where other types are taken as absent, numbers as their text:
// no odd field may cost the rest of the line.
type lax string

func (s *lax) UnmarshalJSON(b []byte) error {
	*s = lax(scalar(b))
	return nil
}

// scalar returns a JSON string's value or a number's text, else "".
func scalar(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
	case c == '-', '0' <= c && c <= '9':
		return string(raw)
	}
	return ""
}

type wireLine struct {
	Type            lax             `json:"type"`
	SessionID       lax             `json:"session_id"`
	SessionIDCamel  lax             `json:"sessionId"`
	ParentToolUseID lax             `json:"parent_tool_use_id"`
	Sidechain       json.RawMessage `json:"isSidechain"`
	UUID            lax             `json:"uuid"`
	Timestamp       lax             `json:"timestamp"`
	TeamName        lax             `json:"teamName"`
	AgentName       lax             `json:"agentName"`
	Agents          json.RawMessage `json:"agents"`
	Message         json.RawMessage `json:"message"`
	Structured      json.RawMessage `json:"tool_use_result"`
	StructuredCamel json.RawMessage `json:"toolUseResult"`
}

type wireBlock struct {
	Type      lax             `json:"type"`
	ID        lax             `json:"id"`
	Name      lax             `json:"name"`
	Text      lax             `json:"text"`
	Input     json.RawMessage `json:"input"`
	ToolUseID lax             `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   json.RawMessage `json:"is_error"`
}

// Decode reads one line, with or without its line end and byte order mark. It
// fails only if the line is no JSON object; whatever it does not know is left
// out. The result shares no memory with b.
func Decode(b []byte) (Line, error) {
	b = trim(b)
	if len(b) == 0 || b[0] != '{' {
		return Line{}, errNotObject
	}
	var w wireLine
	if err := json.Unmarshal(b, &w); err != nil {
		return Line{}, err
	}
	l := Line{
		Type: string(w.Type), SessionID: string(w.SessionID), ParentID: string(w.ParentToolUseID),
		Sidechain: yes(w.Sidechain), UUID: string(w.UUID), TeamName: string(w.TeamName), AgentName: string(w.AgentName), Agents: names(w.Agents),
	}
	l.SessionID = cmp.Or(l.SessionID, string(w.SessionIDCamel))
	if at, err := time.Parse(time.RFC3339Nano, string(w.Timestamp)); err == nil {
		l.At = at
	}
	structured := w.Structured
	if structured == nil {
		structured = w.StructuredCamel
	}
	var message struct {
		Content json.RawMessage `json:"content"`
	}
	if isObject(w.Message) && json.Unmarshal(w.Message, &message) == nil {
		l.content(message.Content, structured)
	}
	return l, nil
}

// content reads a message's content: a string, blocks, or null.
func (l *Line) content(raw, structured json.RawMessage) {
	if text := scalar(raw); text != "" {
		l.Texts = append(l.Texts, text)
		return
	}
	blocks := []json.RawMessage{raw} // one block may stand for itself
	if !isObject(raw) {
		blocks = items(raw)
	}
	for _, raw := range blocks {
		var b wireBlock
		if !isObject(raw) || json.Unmarshal(raw, &b) != nil {
			continue
		}
		switch b.Type {
		case "text":
			l.Texts = append(l.Texts, string(b.Text))
		case "tool_use":
			if text := json.RawMessage(scalar(b.Input)); fields(text) != nil { // an object, written as a text
				b.Input = text
			}
			l.Uses = append(l.Uses, Use{ID: string(b.ID), Name: string(b.Name), Input: b.Input})
		case "tool_result":
			l.Results = append(l.Results, Result{
				ToolUseID: string(b.ToolUseID), IsError: flagged(b.IsError), Text: flatten(b.Content, deepest), Block: raw,
			})
		}
	}
	l.structure(structured)
}

// structure gives each result its structured part. One line has one such part:
// with several results it belongs to none of them, unless it is a list of them.
func (l *Line) structure(raw json.RawMessage) {
	parts := []json.RawMessage{raw}
	if len(l.Results) > 1 {
		parts = items(raw)
	}
	for i := range l.Results {
		r := &l.Results[i]
		if len(parts) == len(l.Results) {
			r.Structured = parts[i]
		}
		if r.Fields = fields(r.Structured); r.Fields == nil && r.Text == "" {
			r.Text = flatten(r.Structured, deepest)
		}
		for name, value := range fields(json.RawMessage(r.Text)) {
			if r.Fields == nil {
				r.Fields = map[string]json.RawMessage{}
			}
			if _, ok := r.Fields[name]; !ok {
				r.Fields[name] = value
			}
		}
	}
}

// deepest is how far flatten looks into a value.
const deepest = 4

// flatten returns all text of a tool_result's content: a text, a block, or a list of such.
func flatten(raw json.RawMessage, depth int) string {
	if text := scalar(raw); text != "" || depth == 0 {
		return text
	}
	if f := fields(raw); f != nil {
		return cmp.Or(scalar(f["text"]), flatten(f["content"], depth-1))
	}
	var texts []string
	for _, item := range items(raw) {
		if text := flatten(item, depth-1); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// flagged reads an error flag: what a program would take for true.
func flagged(raw json.RawMessage) bool {
	switch strings.ToLower(cmp.Or(scalar(raw), string(raw))) {
	case "", "null", "false", "0", `""`:
		return false
	}
	return true
}

// items returns the elements of a JSON array, or nil for anything else.
func items(raw json.RawMessage) (list []json.RawMessage) {
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// fields returns the members of a JSON object, or nil for anything else.
func fields(raw json.RawMessage) map[string]json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if !isObject(raw) {
		return nil
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// names reads a list of names, or of objects that have one.
func names(raw json.RawMessage) []string {
	list := items(raw)
	if list == nil {
		return nil
	}
	out := []string{}
	for _, item := range list {
		if name := cmp.Or(scalar(item), scalar(fields(item)["name"])); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// trim takes off the byte order mark and white space around a line.
func trim(b []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(b, bom))
}

var bom = []byte("\xef\xbb\xbf")
