package interop_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// A model stands in for the models that the agents ask, in the formats of formats. What
// the agents say and do is written in plays: a prompt or a message that holds PLAY:name begins the play of
// that name, and each request from then on gets its next move. A teammate that is
// asked to shut down agrees.
type model struct {
	*httptest.Server

	mu    sync.Mutex // guards the rest
	plays map[string][]move
	log   []string // a line a request, for a test that fails
	heard []string // what the agents were told, in the requests
	whole []string // what the conversation holds of a person's words: the longest one that was sent, and the last of those
	long  int      // how many messages that has
	busy  int      // requests that are not answered yet
}

// A move is one reply, made for the tools of the client that asks. nil: this client
// does not need it.
type move func(r *request) []block

// block is one block of a reply.
type block struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Input any    `json:"input,omitempty"`

	namespace string // of a tool, where tools have one
	raw       string // in place of Input, for a tool that takes text
}

// request is the part of a request that the plays look at.
type request struct {
	Model    string    `json:"model"`
	Stream   bool      `json:"stream"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type tool struct {
	Name   string `json:"name"`
	Schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	} `json:"input_schema"`

	namespace string
	custom    bool // it takes text
}

// content is a string or a list of blocks; the texts of it are kept, those of
// results too.
type content []string

func (c *content) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*c = content{one}
		return nil
	}
	var list []struct {
		Type, Text string
		Content    content // of a result
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	for _, b := range list {
		switch b.Type {
		case "text", "input_text", "output_text", "":
			*c = append(*c, b.Text)
		case "tool_result":
			*c = append(*c, b.Content...)
		}
	}
	return nil
}

func newModel(t testing.TB) *model {
	m := &model{plays: map[string][]move{}}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// play writes the play of a name.
func (m *model) play(name string, moves ...move) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plays[name] = moves
}

// lines returns what was asked and answered, a line each.
func (m *model) lines() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.log, "\n")
}

func (m *model) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case strings.HasSuffix(req.URL.Path, "/count_tokens"):
		writeJSON(w, map[string]int{"input_tokens": 1000})
	case req.Method == http.MethodHead:
	case req.Method == http.MethodPost && m.talk(w, req):
	default:
		w.WriteHeader(http.StatusNotFound)
		writeJSON(w, map[string]string{})
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// talk answers a request in one of the formats; false: it is none.
func (m *model) talk(w http.ResponseWriter, req *http.Request) bool {
	i := slices.IndexFunc(formats, func(f format) bool { return strings.HasSuffix(req.URL.Path, f.suffix) })
	if i < 0 {
		return false
	}
	var r request
	data, err := io.ReadAll(req.Body)
	if err == nil {
		err = formats[i].read(data, &r)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return true
	}
	m.count(1)
	defer m.count(-1)
	blocks := m.answer(&r)
	m.note(&r, blocks)
	if blocks[0].Type == refusal {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		writeJSON(w, object{"error": object{"message": blocks[0].Text, "type": "invalid_request_error", "code": 400, "status": "INVALID_ARGUMENT"}})
		return true
	}
	if r.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	formats[i].write(w, &r, blocks)
	return true
}

func (m *model) count(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy += n
}

// isAsked tells whether a request waits for its answer.
func (m *model) isAsked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.busy > 0
}

// conversation is what the conversation of the agent holds of a person's words. An agent asks
// its model other things in between, in shorter ones.
func (m *model) conversation() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.whole)
}

// writeMessages writes a reply as Anthropic's messages.
func writeMessages(w http.ResponseWriter, r *request, blocks []block) {
	stop := "end_turn"
	if blocks[len(blocks)-1].Type == toolUse {
		stop = "tool_use"
	}
	whole := map[string]any{
		"id": "msg_" + uuid.NewString(), "type": "message", "role": assistant, "model": r.Model, "content": blocks,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage(tokensOut),
	}
	if !r.Stream {
		writeJSON(w, whole)
		return
	}
	whole["content"], whole["stop_reason"] = []block{}, nil
	stream(w, whole, blocks, stop)
}

// What each reply is said to cost.
const (
	tokensIn  = 100
	tokensOut = 20
)

// toolUse is the type of a block that calls a tool.
const toolUse = "tool_use"

func usage(out int) map[string]int {
	return map[string]int{"input_tokens": tokensIn, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": out}
}

// stream sends a reply as the events of a stream.
func stream(w http.ResponseWriter, start map[string]any, blocks []block, stop string) {
	send := sender(w)
	send("message_start", map[string]any{"message": start})
	for i, b := range blocks {
		begin := map[string]any{"type": "text", "text": ""}
		delta := map[string]any{"type": "text_delta", "text": b.Text}
		if b.Type == toolUse {
			input, _ := json.Marshal(b.Input)
			begin = map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": begin})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": tokensOut}})
	send("message_stop", nil)
}

// sender sends events of a stream.
func sender(w io.Writer) func(kind string, more object) {
	return func(kind string, more object) {
		event := object{"type": kind}
		maps.Copy(event, more)
		data, _ := json.Marshal(event)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
}

func (m *model) note(r *request, blocks []block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line := fmt.Sprintf("%d messages, %d tools →", len(r.Messages), len(r.Tools))
	for _, b := range blocks {
		input, _ := json.Marshal(b.Input)
		line += fmt.Sprintf(" %s %s%s", b.Type, b.Name, b.Text)
		if b.Type == toolUse {
			line += " " + string(input)
		}
	}
	m.log = append(m.log, line)
	var whole []string
	for _, msg := range r.Messages {
		if msg.Role == user || msg.Role == result {
			m.heard = append(m.heard, msg.Content...)
		}
		if msg.Role == user {
			whole = append(whole, msg.Content...)
		}
	}
	if len(r.Tools) > 0 && len(r.Messages) >= m.long {
		m.whole, m.long = whole, len(r.Messages)
	}
}

// wasTold tells whether an agent has been told some words.
func (m *model) wasTold(words string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.heard, func(s string) bool { return strings.Contains(s, words) })
}

// answer is the next move of the play that the conversation is in.
func (m *model) answer(r *request) []block {
	if r.isAside() {
		return text(`{"title":"t","isNewTopic":false}`)(r)
	}
	if id := r.asked(); id != "" {
		return agree(id)(r)
	}
	name, at := r.newestPlay()
	m.mu.Lock()
	moves, known := m.plays[name]
	m.mu.Unlock()
	switch {
	case name == "":
		return text("There is nothing to do.")(r)
	case !known:
		return text("There is no play " + name)(r)
	case r.repeats(name, at):
		return text("That was said before.")(r)
	}
	done := 0
	for _, msg := range r.Messages[at+1:] {
		if msg.Role == assistant {
			done++
		}
	}
	for _, move := range moves {
		blocks := move(r)
		if blocks == nil {
			continue
		}
		if done == 0 {
			return blocks
		}
		done--
	}
	return text("That was all.")(r)
}

var (
	playMark  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`PLAY:([a-z0-9-]+)`) })
	requestID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"requestId"\s*:\s*"([^"]+)"`) })
)

// newestPlay is the play that was asked for last, and in which message.
func (r *request) newestPlay() (name string, at int) {
	for i, msg := range r.Messages {
		if msg.Role == assistant {
			continue
		}
		for _, t := range msg.Content {
			if found := playMark().FindAllStringSubmatch(t, -1); len(found) > 0 {
				name, at = found[len(found)-1][1], i
			}
		}
	}
	return name, at
}

// repeats tells whether a play was begun by an earlier message. On a busy machine Claude
// Code 2.1.177 hands its model a message twice: it looks into its inbox each second, also
// while the message that it has read is not removed yet.
func (r *request) repeats(name string, at int) bool {
	begun := false
	for _, msg := range r.Messages[:at] {
		if begun && msg.Role == assistant {
			return true
		}
		for _, found := range playMark().FindAllStringSubmatch(strings.Join(msg.Content, "\n"), -1) {
			begun = begun || msg.Role == user && found[1] == name
		}
	}
	return false
}

// asked is the request to shut down that came since the last reply, if one did.
func (r *request) asked() string {
	last := -1
	for i, msg := range r.Messages {
		if msg.Role == assistant {
			last = i
		}
	}
	for _, msg := range r.Messages[last+1:] {
		for _, t := range msg.Content {
			if msg.Role == user && strings.Contains(t, `"shutdown_request"`) {
				if found := requestID().FindAllStringSubmatch(t, -1); len(found) > 0 {
					return found[len(found)-1][1]
				}
			}
		}
	}
	return ""
}

// tool returns the client's tool of one of the names.
func (r *request) tool(names ...string) (tool, bool) {
	i := slices.IndexFunc(r.Tools, func(t tool) bool { return slices.Contains(names, t.Name) })
	if i < 0 {
		return tool{}, false
	}
	return r.Tools[i], true
}
