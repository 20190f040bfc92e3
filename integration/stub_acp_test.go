package integration_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// stubACP is DIR: an agent that speaks the Agent Client Protocol. It notes in DIR/heard what
// it is told, asks before it makes a file (touch FILE, write FILE), and knows its conversation
// again.
func stubACP(args []string) {
	a := &acpStub{dir: args[0], in: bufio.NewScanner(os.Stdin)}
	a.in.Buffer(nil, 16<<20)
	fmt.Fprintln(os.Stderr, "a word on standard error")
	fmt.Println("a line that is no message")
	for a.in.Scan() {
		m := a.decode()
		switch m.Method {
		case "initialize":
			a.send(map[string]any{"id": m.ID, "result": map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{"loadSession": true}}})
		case "session/new":
			a.note("new session")
			a.send(map[string]any{"id": m.ID, "result": map[string]any{"sessionId": "s-1"}})
		case "session/load":
			a.note("load " + m.Params.SessionID)
			a.send(map[string]any{"id": m.ID, "result": nil})
		case "session/prompt":
			a.prompt(m)
		}
	}
}

type acpStub struct {
	dir string
	in  *bufio.Scanner
}

// acpMessage is what a client says, as far as the stub looks.
type acpMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		SessionID string
		Prompt    []struct{ Text string }
	}
	Result struct{ Outcome struct{ OptionID string } }
}

func (a *acpStub) decode() (m acpMessage) {
	_ = json.Unmarshal(a.in.Bytes(), &m)
	return m
}

func (a *acpStub) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	data, _ := json.Marshal(m)
	fmt.Println(string(data))
}

func (a *acpStub) note(line string) {
	f, err := os.OpenFile(a.dir+"/heard", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		_, _ = fmt.Fprintf(f, "%q\n", line)
		_ = f.Close()
	}
}

func (a *acpStub) update(kind string, more map[string]any) {
	more["sessionUpdate"] = kind
	a.send(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": "s-1", "update": more}})
}

func (a *acpStub) prompt(m acpMessage) {
	text := m.Params.Prompt[0].Text
	a.note(text)
	a.update("agent_message_chunk", map[string]any{"content": map[string]any{"type": "text", "text": "I have heard \x1b[31mit"}})
	for word, kind := range map[string]string{"touch ": "execute", "write ": "edit"} {
		if _, file, ok := strings.Cut(text, word); ok {
			a.ask(kind, strings.TrimSpace(file))
		}
	}
	if strings.Contains(text, "fail") {
		a.send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32603, "message": "the model refuses"}})
		return
	}
	a.send(map[string]any{"id": m.ID, "result": map[string]any{"stopReason": "end_turn"}})
}

func (a *acpStub) ask(kind, file string) {
	call := map[string]any{"toolCallId": "c-1", "title": "touch " + file, "kind": kind, "rawInput": map[string]any{"command": "touch " + file}}
	a.update("tool_call", map[string]any{"toolCallId": "c-1", "title": "touch " + file, "kind": kind, "status": "pending", "content": []any{}})
	a.send(map[string]any{"id": "q-1", "method": "session/request_permission", "params": map[string]any{"sessionId": "s-1", "toolCall": call, "options": []map[string]any{
		{"optionId": "always", "name": "Always", "kind": "allow_always"}, {"optionId": "once", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}}}})
	if a.in.Scan() && a.decode().Result.Outcome.OptionID == "once" {
		_ = os.WriteFile(a.dir+"/"+file, nil, 0o600)
	}
}
