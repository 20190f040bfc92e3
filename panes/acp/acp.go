// Package acp speaks the Agent Client Protocol with an agent, on its standard input and
// output: JSON-RPC 2.0, a message a line. It is the client's half of version 1, as far as a
// teammate needs it: a session, prompts, what the agent does meanwhile, and its questions.
// The schema is that of agentclientprotocol.com.
package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// version is the version of the protocol that is spoken.
const version = 1

// maxLine bounds a message, in bytes; what is longer is passed over.
const maxLine = 32 << 20

// Handler is told what the agent says between a prompt and its end, by one call after the
// other, but for Permit.
type Handler struct {
	Update func(Update)
	// Permit answers a question: the id of one of its options, "" if nobody answers. It is
	// called on a goroutine of its own, and ctx ends with the connection.
	Permit func(ctx context.Context, q Question) (option string)
	// Noise is a line that is no message.
	Noise func(line string)
}

// Client is one connection. What the agent prints is written to it.
type Client struct {
	handler Handler
	cancel  context.CancelFunc
	ctx     context.Context //nolint:containedctx // it is the life of the connection

	sending sync.Mutex // one message after the other
	to      io.Writer

	line []byte // of the output, until it is whole
	long bool   // it is too long, and passed over

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan<- message
	session string
	closed  error
}

// ErrEnded says that the connection is closed.
var ErrEnded = errors.New("the agent has ended")

// New makes a client that writes to the agent's input.
func New(to io.Writer, h Handler) *Client {
	ctx, cancel := context.WithCancel(context.Background())
	return &Client{handler: h, ctx: ctx, cancel: cancel, to: to, waiting: map[int64]chan<- message{}}
}

// message is any of JSON-RPC's messages.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// noMethod is JSON-RPC's code for a method that is not there.
const noMethod = -32601

func (e *rpcError) Error() string {
	var more struct{ Details, Message string }
	if _ = json.Unmarshal(e.Data, &more); more.Details+more.Message != "" && more.Details+more.Message != e.Message {
		return e.Message + ": " + more.Details + more.Message
	}
	return e.Message
}

// Open begins to speak, and begins a session in a folder, or goes on with one. It returns
// the session's id, and where that is another one, why the agent could not go on.
func (c *Client) Open(ctx context.Context, dir, session string) (id string, lost, err error) {
	var hello struct {
		ProtocolVersion   int
		AgentCapabilities struct{ LoadSession bool }
	}
	err = c.call(ctx, "initialize", object{
		"protocolVersion": version, "clientInfo": object{"name": "leadlight", "title": "leadlight", "version": "1"},
		"clientCapabilities": object{"fs": object{"readTextFile": false, "writeTextFile": false}, "terminal": false},
	}, &hello)
	if err != nil {
		return "", nil, err
	}
	if hello.ProtocolVersion != version {
		return "", nil, fault.New(fault.Unsupported, "the agent speaks version %d of the Agent Client Protocol, not %d", hello.ProtocolVersion, version)
	}
	params := object{"cwd": dir, "mcpServers": []any{}}
	if session != "" && !hello.AgentCapabilities.LoadSession {
		lost = errors.New("it loads no sessions")
	} else if session != "" {
		params["sessionId"] = session
		if lost = c.call(ctx, "session/load", params, nil); lost == nil {
			c.setSession(session)
			return session, nil, nil
		}
		delete(params, "sessionId")
	}
	var opened struct{ SessionID string }
	if err := c.call(ctx, "session/new", params, &opened); err != nil {
		return "", nil, err
	}
	c.setSession(opened.SessionID)
	return opened.SessionID, lost, nil
}

type object = map[string]any

func (c *Client) setSession(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = id
}

// Prompt gives the agent a text, and waits until it has done what that asks. The result is
// why it stopped: end_turn, cancelled, refusal and others.
func (c *Client) Prompt(ctx context.Context, text string) (stopped string, err error) {
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	var out struct{ StopReason string }
	err = c.call(ctx, "session/prompt", object{"sessionId": session, "prompt": []object{{"type": "text", "text": text}}}, &out)
	return out.StopReason, err
}

// Cancel asks the agent to leave what it does.
func (c *Client) Cancel() error {
	c.mu.Lock()
	params, _ := json.Marshal(object{"sessionId": c.session})
	c.mu.Unlock()
	return c.send(message{Method: "session/cancel", Params: params})
}

// Close ends the connection: whoever waits for an answer gets an error.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed == nil {
		c.closed = ErrEnded
		c.cancel()
		for id, answer := range c.waiting {
			close(answer)
			delete(c.waiting, id)
		}
	}
}

// call sends a request and waits for its answer.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	if c.closed != nil {
		c.mu.Unlock()
		return c.closed
	}
	c.last++
	id := c.last
	c.waiting[id] = answer
	c.mu.Unlock()
	if err := c.send(message{ID: fmt.Append(nil, id), Method: method, Params: data}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: %w", method, ErrEnded)
		case m.Error != nil:
			return fmt.Errorf("%s: %w", method, m.Error)
		case result != nil && json.Unmarshal(m.Result, result) != nil:
			return fmt.Errorf("%s: the answer is not understood: %.200s", method, m.Result)
		}
		return nil
	}
}

func (c *Client) send(m message) error {
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	_, err = c.to.Write(append(data, '\n'))
	return err
}

// Write implements io.Writer: it takes what the agent prints. It never fails.
func (c *Client) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		if c.long = c.long || len(c.line)+len(part) > maxLine; !c.long {
			c.line = append(c.line, part...)
		}
		if ended {
			if c.long {
				c.handler.Noise(fmt.Sprintf("a line of more than %d bytes was passed over", maxLine))
			} else {
				c.take(bytes.TrimSpace(c.line))
			}
			c.line, c.long = c.line[:0], false
		}
		rest = after
	}
	return len(p), nil
}

// take obeys a line.
func (c *Client) take(line []byte) {
	if len(line) == 0 {
		return
	}
	var m message
	if line[0] != '{' || json.Unmarshal(line, &m) != nil {
		c.handler.Noise(string(line))
		return
	}
	switch {
	case m.Method == "":
		c.answered(m)
	case m.Method == "session/update":
		if u, ok := parseUpdate(m.Params); ok {
			c.handler.Update(u)
		}
	case len(m.ID) == 0: // a notice that we do not know
	case m.Method == "session/request_permission":
		var q Question
		_ = json.Unmarshal(m.Params, &q) // what is not understood is asked without its words
		go func() { c.reply(message{ID: m.ID, Result: outcome(c.handler.Permit(c.ctx, q))}) }()
	default:
		go c.reply(message{ID: m.ID, Error: &rpcError{Code: noMethod, Message: "this client has no " + m.Method}})
	}
}

// answered gives an answer to who waits for it.
func (c *Client) answered(m message) {
	var id int64
	if json.Unmarshal(m.ID, &id) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer := c.waiting[id]; answer != nil {
		answer <- m
		delete(c.waiting, id)
	}
}

func (c *Client) reply(m message) { _ = c.send(m) } // an agent that is gone needs no answer

func outcome(option string) json.RawMessage {
	said := object{"outcome": "cancelled"}
	if option != "" {
		said = object{"outcome": "selected", "optionId": option}
	}
	result, _ := json.Marshal(object{"outcome": said}) // of texts
	return result
}
