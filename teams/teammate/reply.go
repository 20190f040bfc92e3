package teammate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// maxReplyLine bounds a line that is looked at, in bytes; what is longer is no reply
// that anybody reads.
const maxReplyLine = 1 << 20

// repliesInEvents tells whether a command's output is a line of JSON for each event,
// among which its reply is to be found: its line asks for that.
func repliesInEvents(argv []string) bool {
	return speaksStream(argv) || slices.Contains(argv, "--json") || slices.Contains(argv, "json")
}

// reply looks in such a stream for what the agent says in the end, and what that has
// cost. Sources: the result message of Claude Code's stream-json
// (code.claude.com/docs/en/headless), which Qwen Code and Gemini CLI have taken over; of
// codex the items and turns of its events (developers.openai.com/codex/noninteractive); of
// OpenCode and Copilot what they print, recorded in testdata/replies. Not for use by
// several goroutines.
type reply struct {
	line  []byte
	long  bool // the line at hand is too long, and passed over
	found bool
	bad   bool // the agent says that it has failed
	text  string
	part  bool // text is a part of a message that goes on
	usage api.Usage
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

// event is a line of any of the agents, as far as it is looked at.
type event struct {
	Type, Subtype, Status, Role string
	Result                      text
	IsError                     bool `json:"is_error"`
	Delta                       bool
	Content, Message, Error     text
	Item                        struct{ Type, Text string }
	Part                        struct {
		Text   string
		Cost   float64
		Tokens struct{ Input, Output int64 }
	}
	Data struct {
		Content, Message text
		OutputTokens     int64
	}
	Usage, Stats tokens
	Cost         float64 `json:"total_cost_usd"`
}

type tokens struct {
	In  int64 `json:"input_tokens"`
	Out int64 `json:"output_tokens"`
}

// text is a text, or what an object says as its message. Anything else is none.
type text string

// UnmarshalJSON implements json.Unmarshaler. It never fails: no odd field may cost the
// rest of the line.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*t = text(s)
		return nil
	}
	var o struct {
		Message text
		Data    struct{ Message text }
		Error   *text
	}
	if json.Unmarshal(data, &o) == nil {
		if *t = cmp.Or(o.Message, o.Data.Message); *t == "" && o.Error != nil {
			*t = *o.Error
		}
	}
	return nil
}

// cause is what a text says that quotes the error of a model's server, as JSON.
func (t text) cause() string {
	begin, end := strings.Index(string(t), "{"), strings.LastIndex(string(t), "}")
	if begin >= 0 && end > begin {
		var inner text
		if _ = json.Unmarshal([]byte(t[begin:end+1]), &inner); inner != "" {
			return string(inner)
		}
	}
	return string(t)
}

// readers says, by the type of an event, what is read from it.
func readers() map[string]func(*reply, event) {
	return map[string]func(*reply, event){
		"result": func(r *reply, e event) { // Claude Code, Qwen Code, Gemini CLI
			r.add(cmp.Or(e.Usage, e.Stats), e.Cost)
			if e.IsError || e.Status == "error" {
				r.fail(cmp.Or(e.Result, e.Error, text(e.Subtype)))
			} else if e.Result != "" || !r.found {
				r.say(string(cmp.Or(e.Result, e.Error, text(e.Subtype))))
			}
		},
		"message": func(r *reply, e event) { // Gemini CLI
			if e.Role == "assistant" && r.part && e.Delta {
				r.text += string(e.Content)
			} else if e.Role == "assistant" {
				r.say(string(e.Content))
				r.part = e.Delta
			}
		},
		"tool_use": func(r *reply, _ event) { r.part = false },
		"item.completed": func(r *reply, e event) { // codex
			if e.Item.Type == "agent_message" {
				r.say(e.Item.Text)
			}
		},
		"turn.completed": func(r *reply, e event) { r.add(e.Usage, 0) },
		"turn.failed":    func(r *reply, e event) { r.fail(e.Error) },
		"text":           func(r *reply, e event) { r.say(e.Part.Text) }, // OpenCode
		"step_finish":    func(r *reply, e event) { r.add(tokens{e.Part.Tokens.Input, e.Part.Tokens.Output}, e.Part.Cost) },
		"error":          func(r *reply, e event) { r.fail(cmp.Or(e.Error, e.Message)) },
		"assistant.message": func(r *reply, e event) { // Copilot
			r.add(tokens{Out: e.Data.OutputTokens}, 0)
			if e.Data.Content != "" {
				r.say(string(e.Data.Content))
			}
		},
		"session.error": func(r *reply, e event) { r.fail(e.Data.Message) },
	}
}

func (r *reply) say(s string)  { r.found, r.bad, r.part, r.text = true, false, false, s }
func (r *reply) fail(why text) { r.found, r.bad, r.part, r.text = true, true, false, why.cause() }

func (r *reply) add(t tokens, cost float64) {
	r.usage = r.usage.Plus(api.Usage{InputTokens: t.In, OutputTokens: t.Out, CostUSD: cost})
}

func (r *reply) parse(line []byte) {
	if len(line) == 0 || line[0] != '{' {
		return
	}
	var e event
	if json.Unmarshal(line, &e) != nil {
		return
	}
	if read := readers()[e.Type]; read != nil {
		read(r, e)
	}
}
