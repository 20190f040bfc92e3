package acp

import (
	"encoding/json"
	"slices"
)

// Kinds of an Update.
const (
	Said    = "agent_message_chunk"
	Thought = "agent_thought_chunk"
	Called  = "tool_call"
	Changed = "tool_call_update"
)

// EndTurn is why a prompt stopped whose agent has done what it asks.
const EndTurn = "end_turn"

// Failed is the status of a call that has.
const Failed = "failed"

// Update is what the agent does while it works.
type Update struct {
	Kind   string
	Text   string // of what is said
	Tool   Tool   // of a call
	Status string // of a call: pending, in_progress, completed, failed
}

// Tool is a use of a tool.
type Tool struct {
	ID    string          `json:"toolCallId"`
	Title string          `json:"title"`
	Kind  string          `json:"kind"` // read, edit, delete, move, search, execute, think, fetch, other
	Input json.RawMessage `json:"rawInput,omitempty"`
}

// Question is a request for permission to use a tool.
type Question struct {
	Tool    Tool     `json:"toolCall"`
	Options []Option `json:"options"`
}

// Option is one answer to a question.
type Option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"` // allow_once, allow_always, reject_once, reject_always
}

// Answer is the option that allows, or that refuses, this one use; "" if there is none.
func (q Question) Answer(allow bool) string {
	kinds := []string{"reject_once", "reject_always"}
	if allow {
		kinds = []string{"allow_once", "allow_always"}
	}
	for _, kind := range kinds {
		if i := slices.IndexFunc(q.Options, func(o Option) bool { return o.Kind == kind }); i >= 0 {
			return q.Options[i].ID
		}
	}
	return ""
}

func parseUpdate(params json.RawMessage) (Update, bool) {
	var in struct {
		Update struct {
			SessionUpdate string
			Status        string
			Content       json.RawMessage // a block, or with a call a list of them
			Tool
		}
	}
	if json.Unmarshal(params, &in) != nil || in.Update.SessionUpdate == "" {
		return Update{}, false
	}
	u := Update{Kind: in.Update.SessionUpdate, Tool: in.Update.Tool, Status: in.Update.Status}
	var block struct{ Text string }
	if json.Unmarshal(in.Update.Content, &block) == nil {
		u.Text = block.Text
	}
	return u, true
}
