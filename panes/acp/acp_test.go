package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// told keeps what a handler was told.
type told struct {
	updates []Update
	noise   []string
	answer  string
	asked   chan Question
}

func (h *told) handler() Handler {
	return Handler{
		Update: func(u Update) { h.updates = append(h.updates, u) }, Noise: func(line string) { h.noise = append(h.noise, line) },
		Permit: func(_ context.Context, q Question) string {
			h.asked <- q
			return h.answer
		},
	}
}

// agent is the other end: it answers each message by the lines that answer returns, in which
// ID stands for the message's own id.
func agent(t *testing.T, h Handler, answer func(message) []string) *Client {
	t.Helper()
	in, out := io.Pipe()
	c := New(out, h)
	t.Cleanup(func() { c.Close(); _ = in.Close() })
	go func() {
		for lines := bufio.NewScanner(in); lines.Scan(); {
			var m message
			if json.Unmarshal(lines.Bytes(), &m) != nil {
				continue
			}
			for _, line := range answer(m) {
				_, _ = c.Write([]byte(strings.ReplaceAll(line, "ID", string(m.ID)) + "\n"))
			}
		}
	}()
	return c
}

const hello = `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`

func TestConversation(t *testing.T) {
	h := &told{answer: "yes", asked: make(chan Question, 1)}
	var replies []string
	c := agent(t, h.handler(), func(m message) []string {
		switch m.Method {
		case "initialize":
			return []string{"starting up", hello}
		case "session/new":
			return []string{`{"id":ID,"result":{"sessionId":"s-1"}}`}
		case "session/load":
			return []string{`{"id":ID,"error":{"code":-32603,"message":"Internal error","data":{"details":"no such session"}}}`}
		case "session/prompt":
			return []string{
				`{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}`,
				`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","content":[]}}}`,
				`{"id":"q","method":"session/request_permission","params":{"toolCall":{"title":"touch x","kind":"execute"},"options":[{"optionId":"no","kind":"reject_once"},{"optionId":"yes","kind":"allow_once"}]}}`,
				`{"id":9,"method":"fs/read_text_file","params":{}}`, `{"method":"some/notice"}`, `{"id":"7","result":{}}`, `{"id":99,"result":{}}`,
				`{"id":ID,"result":{"stopReason":"end_turn"}}`,
			}
		case "":
			data, _ := json.Marshal(m)
			replies = append(replies, string(data))
			if len(replies) == 2 {
				close(h.asked)
			}
		}
		return nil
	})
	id, lost, err := c.Open(t.Context(), "/", "s-0")
	if id != "s-1" || lost == nil || !strings.Contains(lost.Error(), "Internal error: no such session") || err != nil {
		t.Fatalf("open: %q, %v, %v", id, lost, err)
	}
	if stopped, err := c.Prompt(t.Context(), "hello"); stopped != EndTurn || err != nil {
		t.Errorf("prompt: %q, %v", stopped, err)
	}
	q := <-h.asked
	if q.Tool.Title != "touch x" || q.Answer(true) != "yes" || q.Answer(false) != "no" {
		t.Errorf("asked: %+v", q)
	}
	<-h.asked // until both are answered
	all := strings.Join(replies, "\n")
	if !strings.Contains(all, `"optionId":"yes"`) || !strings.Contains(all, `"code":-32601`) {
		t.Errorf("answered: %s", all)
	}
	if len(h.updates) != 2 || h.updates[0].Text != "hi" || h.updates[1].Status != Failed || len(h.noise) != 1 {
		t.Errorf("told: %+v", h)
	}
}

func TestOpenRefuses(t *testing.T) {
	c := agent(t, (&told{}).handler(), func(message) []string { return []string{`{"id":ID,"result":{"protocolVersion":9}}`} })
	if _, _, err := c.Open(t.Context(), "/", ""); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("another version: %v", err)
	}
	var gone *Client
	gone = agent(t, (&told{}).handler(), func(message) []string { gone.Close(); return nil })
	for range 2 { // while it waits, and afterwards
		if _, _, err := gone.Open(t.Context(), "/", ""); !errors.Is(err, ErrEnded) {
			t.Errorf("an agent that ends: %v", err)
		}
	}
}

// Whatever an agent prints, and in whatever pieces, the same is understood.
func FuzzOutput(f *testing.F) {
	f.Add([]byte(hello+"\n"), 3)
	f.Add([]byte(`{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"x"}}}}`+"\nnoise\n{\n"), 40)
	f.Fuzz(func(t *testing.T, out []byte, cut int) {
		cut = min(max(cut, 0), len(out))
		whole, parts := &told{asked: make(chan Question, len(out))}, &told{asked: make(chan Question, len(out))}
		a, b := New(io.Discard, whole.handler()), New(io.Discard, parts.handler())
		_, _ = a.Write(out)
		_, _ = b.Write(out[:cut])
		_, _ = b.Write(out[cut:])
		a.Close()
		b.Close()
		if len(whole.updates) != len(parts.updates) || strings.Join(whole.noise, "\n") != strings.Join(parts.noise, "\n") {
			t.Errorf("%+v and %+v", whole, parts)
		}
	})
}
