package observe

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode"
)

// Category is the type of the supplementary message a team tool leads to.
type Category string

// The categories.
const (
	StateChange Category = "team_state_change"
	TaskUpdate  Category = "team_task_update"
	TeamMessage Category = "team_message"
)

// ToolUse is a recognised use of a team tool, its required input present.
type ToolUse struct {
	ToolName  string          `json:"toolName"`
	ToolUseID string          `json:"toolUseId"`
	Category  Category        `json:"category"`
	Input     json.RawMessage `json:"input"`
	ParentID  string          `json:"parentToolUseId,omitempty"` // see Line.ParentID
	Agent     string          `json:"agent,omitempty"`           // see Line.AgentName
	Sidechain bool            `json:"sidechain,omitempty"`       // see Line.Sidechain
}

// Warning is something about the stream a person may want to know. Debug ones
// are for those who look after the protocol.
type Warning struct {
	Level slog.Level
	Text  string
	Tool  string // the name of a tool that is not known
}

// tool says how one tool is recognised.
type tool struct {
	category Category
	required []string                                   // input fields that must be there, not empty
	spawn    func(in map[string]json.RawMessage) bool   // nil: always a team tool
	check    func(in map[string]json.RawMessage) string // more about the input: what is missing, or ""
}

// toolOf lists the team tools of both generations. Task (older) starts a teammate
// only with both team_name and name, Agent (newer, where the team is implied)
// with name; without them they start plain subagents.
func toolOf(name string) (t tool, ok bool) {
	switch name {
	case "TeamCreate":
		return tool{category: StateChange, required: []string{"team_name"}}, true
	case "TeamDelete":
		return tool{category: StateChange}, true
	case "Task":
		return tool{category: StateChange, spawn: hasText("team_name", "name")}, true
	case "Agent":
		return tool{category: StateChange, spawn: hasText("name")}, true
	case "TaskCreate":
		return tool{category: TaskUpdate, required: []string{"subject"}}, true
	case "TaskUpdate", "TaskGet":
		return tool{category: TaskUpdate, required: []string{"taskId"}}, true
	case "TaskList":
		return tool{category: TaskUpdate}, true
	case "SendMessage":
		return tool{category: TeamMessage, check: checkMessage}, true
	}
	return tool{}, false
}

func hasText(names ...string) func(map[string]json.RawMessage) bool {
	return func(in map[string]json.RawMessage) bool {
		for _, name := range names {
			if raw := in[name]; len(raw) == 0 || raw[0] != '"' || scalar(raw) == "" {
				return false
			}
		}
		return true
	}
}

// checkMessage accepts both shapes: {type, …} and {to, message}.
func checkMessage(in map[string]json.RawMessage) string {
	if scalar(in["type"]) != "" || (scalar(in["to"]) != "" && len(in["message"]) > 0) {
		return ""
	}
	return "type, or to and message"
}

// Recognize returns the uses of team tools in a line, in order, and what was
// wrong with others. Only lines of assistants use tools. It is pure.
func Recognize(l Line) ([]ToolUse, []Warning) {
	if l.Type != "assistant" {
		return nil, nil
	}
	var uses []ToolUse
	var warnings []Warning
	for _, u := range l.Uses {
		t, ok := toolOf(u.Name)
		if !ok {
			if looksLikeTeam(u.Name) {
				warnings = append(warnings, Warning{slog.LevelDebug, fmt.Sprintf("unknown tool %s (%s): a newer protocol?", u.Name, u.ID), u.Name})
			}
			continue
		}
		in := fields(u.Input)
		if t.spawn != nil && !t.spawn(in) {
			continue
		}
		if missing := t.missing(u, in); missing != "" {
			warnings = append(warnings, Warning{Level: slog.LevelWarn, Text: fmt.Sprintf("%s %s has no %s; skipped", u.Name, u.ID, missing)})
			continue
		}
		input := u.Input
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		uses = append(uses, ToolUse{
			ToolName: u.Name, ToolUseID: u.ID, Category: t.category, Input: input, ParentID: l.ParentID, Agent: l.AgentName, Sidechain: l.Sidechain,
		})
	}
	return uses, warnings
}

func (t tool) missing(u Use, in map[string]json.RawMessage) string {
	if u.ID == "" {
		return "id"
	}
	for _, name := range t.required {
		if scalar(in[name]) == "" {
			return name
		}
	}
	if t.check != nil {
		return t.check(in)
	}
	return ""
}

// maxStrange bounds the names of unknown tools that are remembered.
const maxStrange = 64

// firstOfEach makes the first warning about each unknown tool one for everybody.
func (t *Tracker) firstOfEach(warnings []Warning) []Warning {
	for i := range warnings {
		if w := &warnings[i]; w.Tool != "" && !slices.Contains(t.strange, w.Tool) && len(t.strange) < maxStrange {
			t.strange, w.Level = append(t.strange, w.Tool), slog.LevelWarn
		}
	}
	return warnings
}

// looksLikeTeam tells names such as TeamRename or TaskArchive from Teams… words, and from
// the client's tools for what runs in the background.
func looksLikeTeam(name string) bool {
	if name == "TaskOutput" || name == "TaskStop" {
		return false
	}
	for _, prefix := range []string{"Team", "Task"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && unicode.IsUpper([]rune(rest)[0]) {
			return true
		}
	}
	return false
}

// input returns the fields of the use's input.
func (u ToolUse) input() map[string]json.RawMessage { return fields(u.Input) }
