package interop_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// A model stands in for the Messages API. What the client's agents say and do is
// written in plays: a prompt or a message that holds PLAY:name begins the play of
// that name, and each request from then on gets its next move. A teammate that is
// asked to shut down agrees.
type model struct {
	*httptest.Server

	mu    sync.Mutex // guards the rest
	plays map[string][]move
	log   []string // a line a request, for a test that fails
	heard []string // what the agents were told, in the requests
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
		case "text":
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
	case strings.HasSuffix(req.URL.Path, "/v1/messages") && req.Method == http.MethodPost:
		m.messages(w, req)
	case req.Method == http.MethodHead:
	default:
		w.WriteHeader(http.StatusNotFound)
		writeJSON(w, map[string]string{})
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (m *model) messages(w http.ResponseWriter, req *http.Request) {
	var r request
	data, err := io.ReadAll(req.Body)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	blocks := m.answer(&r)
	m.note(&r, blocks)
	stop := "end_turn"
	if blocks[len(blocks)-1].Type == "tool_use" {
		stop = "tool_use"
	}
	whole := map[string]any{
		"id": "msg_" + uuid.NewString(), "type": "message", "role": "assistant", "model": r.Model, "content": blocks,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage(20),
	}
	if !r.Stream {
		writeJSON(w, whole)
		return
	}
	whole["content"], whole["stop_reason"] = []block{}, nil
	stream(w, whole, blocks, stop)
}

func usage(out int) map[string]int {
	return map[string]int{"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": out}
}

// stream sends a reply as the events of a stream.
func stream(w io.Writer, start map[string]any, blocks []block, stop string) {
	send := func(kind string, more map[string]any) {
		event := map[string]any{"type": kind}
		for k, v := range more {
			event[k] = v
		}
		data, _ := json.Marshal(event)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	if h, ok := w.(http.ResponseWriter); ok {
		h.Header().Set("Content-Type", "text/event-stream")
	}
	send("message_start", map[string]any{"message": start})
	for i, b := range blocks {
		begin := map[string]any{"type": "text", "text": ""}
		delta := map[string]any{"type": "text_delta", "text": b.Text}
		if b.Type == "tool_use" {
			input, _ := json.Marshal(b.Input)
			begin = map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": begin})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 20}})
	send("message_stop", nil)
}

func (m *model) note(r *request, blocks []block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line := fmt.Sprintf("%d messages, %d tools →", len(r.Messages), len(r.Tools))
	for _, b := range blocks {
		input, _ := json.Marshal(b.Input)
		line += fmt.Sprintf(" %s %s%s", b.Type, b.Name, b.Text)
		if b.Type == "tool_use" {
			line += " " + string(input)
		}
	}
	m.log = append(m.log, line)
	for _, msg := range r.Messages {
		if msg.Role == "user" {
			m.heard = append(m.heard, msg.Content...)
		}
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
	if len(r.Tools) == 0 {
		return text(`{"title":"t","isNewTopic":false}`)(r) // what a client asks for itself
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
	}
	done := 0
	for _, msg := range r.Messages[at+1:] {
		if msg.Role == "assistant" {
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
		if msg.Role == "assistant" {
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

// asked is the request to shut down that came since the last reply, if one did.
func (r *request) asked() string {
	last := -1
	for i, msg := range r.Messages {
		if msg.Role == "assistant" {
			last = i
		}
	}
	for _, msg := range r.Messages[last+1:] {
		for _, t := range msg.Content {
			if msg.Role == "user" && strings.Contains(t, `"shutdown_request"`) {
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

type object = map[string]any

func text(s string) move {
	return func(*request) []block { return []block{{Type: "text", Text: s}} }
}

// use calls a tool.
func use(name string, input object) move {
	return func(*request) []block {
		return []block{{Type: "tool_use", ID: "toolu_" + strings.ReplaceAll(uuid.NewString(), "-", ""), Name: name, Input: input}}
	}
}

// makeTeam creates a team, in clients whose teams are explicit.
func makeTeam(name string) move {
	return explicit("TeamCreate", object{"team_name": name, "description": "for a test"})
}

func explicit(name string, input object) move {
	return func(r *request) []block {
		if _, ok := r.tool(name); !ok {
			return nil
		}
		return use(name, input)(r)
	}
}

// spawn starts a teammate. team is for clients whose teams are explicit.
func spawn(team, name, agentType, prompt string) move {
	return func(r *request) []block {
		t, _ := r.tool("Agent", "Task")
		input := object{"description": "a teammate", "prompt": prompt, "subagent_type": agentType, "name": name}
		if _, ok := r.tool("TeamCreate"); ok {
			input["team_name"] = team
		}
		return use(t.Name, input)(r)
	}
}

// send sends a message in the form this client's tool takes.
func send(to, words string) move {
	return func(r *request) []block {
		input := object{"to": to, "message": words, "summary": "a message"}
		if r.oldMail() {
			input = object{"type": "message", "recipient": to, "content": words, "summary": "a message"}
		}
		return use("SendMessage", input)(r)
	}
}

// update gives a task a status.
func update(id, status string) move {
	return use("TaskUpdate", object{"taskId": id, "status": status})
}

// askToStop asks a teammate to shut down.
func askToStop(name string) move {
	return func(r *request) []block {
		input := object{"to": name, "message": object{"type": "shutdown_request", "reason": "the test is over"}}
		if r.oldMail() {
			input = object{"type": "shutdown_request", "recipient": name, "content": "the test is over"}
		}
		return use("SendMessage", input)(r)
	}
}

// agree agrees to a request to shut down.
func agree(id string) move {
	return func(r *request) []block {
		input := object{"to": "team-lead", "message": object{"type": "shutdown_response", "request_id": id, "approve": true}}
		if r.oldMail() {
			input = object{"type": "shutdown_response", "request_id": id, "approve": true}
		}
		return use("SendMessage", input)(r)
	}
}

// oldMail tells whether SendMessage takes its first form.
func (r *request) oldMail() bool {
	t, _ := r.tool("SendMessage")
	_, old := t.Schema.Properties["recipient"]
	return old
}
