package interop_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// A format is how one vendor's model is asked, and answers. Their published references
// are the sources: docs.anthropic.com/en/api/messages, platform.openai.com/docs/api-reference
// (responses and chat), ai.google.dev/api/generate-content.
type format struct {
	suffix string // of the path
	read   func(data []byte, r *request) error
	write  func(w http.ResponseWriter, r *request, blocks []block)
}

var formats = []format{
	{"/messages", func(data []byte, r *request) error { return json.Unmarshal(data, r) }, writeMessages},
	{"/responses", readResponses, writeResponses},
	{"/chat/completions", readChat, writeChat},
	{":generateContent", readGemini, writeGemini},
	{":streamGenerateContent", func(data []byte, r *request) error { r.Stream = true; return readGemini(data, r) }, writeGemini},
}

// Roles of messages.
const (
	user      = "user"
	assistant = "assistant"
	result    = "tool" // of a tool
)

// refusal is a block that makes the server refuse the request.
const refusal = "refusal"

// offered is a tool as OpenAI's formats offer it.
type offered struct {
	Type, Name string
	Parameters json.RawMessage
	Function   *offered  // of a chat
	Custom     *offered  // of a chat: one that takes text
	Tools      []offered // of a namespace
}

// add adds tools to those that the agent offers.
func (r *request) add(namespace string, tools []offered) {
	for _, o := range tools {
		switch {
		case o.Function != nil:
			r.add("", []offered{*o.Function})
		case o.Custom != nil:
			o.Custom.Type = "custom"
			r.add("", []offered{*o.Custom})
		case o.Type == "namespace":
			r.add(o.Name, o.Tools)
		default:
			t := tool{Name: cmp.Or(o.Name, o.Type), namespace: namespace, custom: o.Type == "custom"}
			_ = json.Unmarshal(o.Parameters, &t.Schema)
			r.Tools = append(r.Tools, t)
		}
	}
}

// isAside tells what an agent asks for itself, such as a title.
func (r *request) isAside() bool { return len(r.Tools) == 0 }

func readResponses(data []byte, r *request) error {
	var in struct {
		Model  string
		Stream bool
		Tools  []offered
		Input  []struct {
			Type, Role string
			Content    content
			Output     content
			Tools      []offered
		}
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	r.Model, r.Stream = in.Model, in.Stream
	r.add("", in.Tools)
	for _, m := range in.Input {
		switch {
		case m.Type == "additional_tools":
			r.add("", m.Tools)
		case strings.HasSuffix(m.Type, "_output"):
			r.Messages = append(r.Messages, message{result, m.Output})
		case strings.HasSuffix(m.Type, "_call"):
			r.Messages = append(r.Messages, message{assistant, nil})
		case m.Role != "":
			r.Messages = append(r.Messages, message{m.Role, m.Content})
		}
	}
	return nil
}

func writeResponses(w http.ResponseWriter, r *request, blocks []block) {
	response := object{"id": "resp_" + uuid.NewString(), "object": "response", "created_at": 1, "model": r.Model, "status": "in_progress", "output": []object{}}
	emit := func(string, object) {}
	if r.Stream {
		emit = sender(w)
	}
	emit("response.created", object{"response": response})
	var output []object
	for i, b := range blocks {
		item := object{"type": "message", "id": "msg_" + b.ID, "role": assistant, "status": "completed",
			"content": []object{{"type": "output_text", "text": b.Text, "annotations": []string{}}}}
		if b.Type == toolUse {
			input, _ := json.Marshal(b.Input)
			item = object{"type": "function_call", "id": "fc_" + b.ID, "call_id": b.ID, "name": b.Name, "arguments": string(input), "status": "completed"}
			if b.raw != "" {
				item = object{"type": "custom_tool_call", "id": "ctc_" + b.ID, "call_id": b.ID, "name": b.Name, "input": b.raw, "status": "completed"}
			}
			if b.namespace != "" && b.namespace != "functions" {
				item["namespace"] = b.namespace
			}
		}
		emit("response.output_item.added", object{"output_index": i, "item": item})
		if b.Type != toolUse {
			emit("response.output_text.delta", object{"output_index": i, "content_index": 0, "item_id": item["id"], "delta": b.Text})
		}
		emit("response.output_item.done", object{"output_index": i, "item": item})
		output = append(output, item)
	}
	response["status"], response["output"] = "completed", output
	response["usage"] = object{"input_tokens": tokensIn, "input_tokens_details": object{"cached_tokens": 0},
		"output_tokens": tokensOut, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": tokensIn + tokensOut}
	emit("response.completed", object{"response": response})
	if !r.Stream {
		writeJSON(w, response)
	}
}

func readChat(data []byte, r *request) error {
	var in struct {
		Model    string
		Stream   bool
		Messages []message
		Tools    []offered
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	r.Model, r.Stream, r.Messages = in.Model, in.Stream, in.Messages
	r.add("", in.Tools)
	return nil
}

func writeChat(w http.ResponseWriter, r *request, blocks []block) {
	message := object{"role": assistant}
	finish := "stop"
	for i, b := range blocks {
		if b.Type != toolUse {
			message["content"] = b.Text
			continue
		}
		input, _ := json.Marshal(b.Input)
		finish = "tool_calls"
		call := object{"index": i, "id": b.ID, "type": "function", "function": object{"name": b.Name, "arguments": string(input)}}
		if b.raw != "" {
			call = object{"index": i, "id": b.ID, "type": "custom", "custom": object{"name": b.Name, "input": b.raw}}
		}
		message["tool_calls"] = []object{call}
	}
	reply := func(kind, part string, delta object, finish any) object {
		return object{"id": "chatcmpl-1", "object": kind, "created": 1, "model": r.Model,
			"choices": []object{{"index": 0, part: delta, "finish_reason": finish}},
			"usage":   object{"prompt_tokens": tokensIn, "completion_tokens": tokensOut, "total_tokens": tokensIn + tokensOut}}
	}
	if !r.Stream {
		writeJSON(w, reply("chat.completion", "message", message, finish))
		return
	}
	for _, chunk := range []object{reply("chat.completion.chunk", "delta", message, nil), reply("chat.completion.chunk", "delta", object{}, finish)} {
		data, _ := json.Marshal(chunk)
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

func readGemini(data []byte, r *request) error {
	var in struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse struct{ Response json.RawMessage }
			}
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name                             string
				Parameters, ParametersJSONSchema json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	r.Model = "gemini"
	for _, m := range in.Contents {
		role, texts := user, content{}
		if m.Role == "model" {
			role = assistant
		}
		for _, p := range m.Parts {
			if p.FunctionResponse.Response != nil {
				role, p.Text = result, string(p.FunctionResponse.Response)
			}
			texts = append(texts, p.Text)
		}
		r.Messages = append(r.Messages, message{role, texts})
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			schema := f.ParametersJSONSchema
			if schema == nil {
				schema = f.Parameters
			}
			r.add("", []offered{{Name: f.Name, Parameters: schema}})
		}
	}
	return nil
}

func writeGemini(w http.ResponseWriter, r *request, blocks []block) {
	var parts []object
	for _, b := range blocks {
		if b.Type == toolUse {
			parts = append(parts, object{"functionCall": object{"id": b.ID, "name": b.Name, "args": b.Input}})
			continue
		}
		parts = append(parts, object{"text": b.Text})
	}
	reply := object{
		"candidates":    []object{{"index": 0, "content": object{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": tokensIn, "candidatesTokenCount": tokensOut, "totalTokenCount": tokensIn + tokensOut},
		"modelVersion":  r.Model, "responseId": "r1",
	}
	if !r.Stream {
		writeJSON(w, reply)
		return
	}
	data, _ := json.Marshal(reply)
	_, _ = fmt.Fprintf(w, "data: %s\r\n\r\n", data)
}
