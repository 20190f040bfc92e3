package teammate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
)

// maxReplyLine bounds a line that is looked at, in bytes; what is longer is no reply
// that anybody reads.
const maxReplyLine = 1 << 20

// repliesInEvents tells whether a command's output is a line of JSON for each event,
// among which its reply is to be found: Claude Code's stream-json, and codex exec --json.
func repliesInEvents(argv []string) bool {
	return speaksStream(argv) || slices.Contains(argv, "--json")
}

// reply looks in such a stream for what the agent says in the end. Sources: the result
// message of Claude Code's stream-json (code.claude.com/docs/en/headless), and of codex
// the items and turns of its events (developers.openai.com/codex/noninteractive). Not
// for use by several goroutines.
type reply struct {
	line  []byte
	long  bool // the line at hand is too long, and passed over
	found bool
	bad   bool // the agent says that it has failed
	text  string
}

// Write implements io.Writer. It never fails.
func (r *reply) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		if r.long = r.long || len(r.line)+len(part) > maxReplyLine; !r.long {
			r.line = append(r.line, part...)
		}
		if ended {
			r.end()
		}
		rest = after
	}
	return len(p), nil
}

// end takes a line that is complete, or the last one.
func (r *reply) end() {
	if !r.long {
		r.parse(bytes.TrimSpace(r.line))
	}
	r.line, r.long = r.line[:0], false
}

func (r *reply) parse(line []byte) {
	if len(line) == 0 || line[0] != '{' {
		return
	}
	var e struct {
		Type    string
		Subtype string
		IsError bool `json:"is_error"`
		Result  string
		Item    struct{ Type, Text string }
		Error   struct{ Message string }
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch {
	case e.Type == "result":
		r.found, r.bad, r.text = true, e.IsError, e.Result
		r.text = cmp.Or(r.text, e.Error.Message, e.Subtype)
	case e.Type == "item.completed" && e.Item.Type == "agent_message":
		r.found, r.bad, r.text = true, false, e.Item.Text
	case e.Type == "turn.failed":
		r.found, r.bad, r.text = true, true, e.Error.Message
	}
}
