package observe

import "encoding/json"

// Message is a supplementary message: what an original line said of the team, in
// a form of its own. The original is passed on unchanged; a consumer may read
// either.
type Message struct {
	Type            Category `json:"type"`
	Role            string   `json:"role"` // system
	SessionID       string   `json:"session_id,omitempty"`
	ParentToolUseID string   `json:"parent_tool_use_id,omitempty"`
	Metadata        Metadata `json:"metadata"`
}

// Metadata is what a Message tells. Result is absent in the message that follows
// the use, and there in the one that follows the result.
type Metadata struct {
	ToolName      string          `json:"toolName"`
	TeamToolUseID string          `json:"teamToolUseId"` // id of the original tool_use block
	Input         json.RawMessage `json:"input"`
	Result        json.RawMessage `json:"result,omitempty"`        // the original tool_result block
	ToolUseResult json.RawMessage `json:"toolUseResult,omitempty"` // the structured result, if there was one
	IsError       bool            `json:"isError,omitempty"`       // the tool was refused, with or without the error flag
}

// supplement makes the message for a use.
func supplement(l Line, u ToolUse) Message {
	return Message{
		Type: u.Category, Role: "system", SessionID: l.SessionID, ParentToolUseID: l.ParentID,
		Metadata: Metadata{ToolName: u.ToolName, TeamToolUseID: u.ToolUseID, Input: u.Input},
	}
}

// supplementResult makes the message for a use with its result.
func supplementResult(l Line, c Correlated) Message {
	m := supplement(l, c.ToolUse)
	m.Metadata.Result, m.Metadata.ToolUseResult = c.Result.Block, c.Result.Structured
	_, m.Metadata.IsError = c.Result.refused()
	return m
}
