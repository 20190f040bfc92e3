package interop_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestModel asks the script server what a client would ask.
func TestModel(t *testing.T) {
	m := newModel(t)
	m.play("work", makeTeam("alpha"), send("bob", "hello"), text("Done."))
	newTools := `[{"name":"SendMessage","input_schema":{"properties":{"to":{},"message":{}}}}]`
	oldTools := `[{"name":"TeamCreate"},{"name":"SendMessage","input_schema":{"properties":{"recipient":{}}}}]`
	said := `{"role":"assistant","content":"…"}`
	for _, tc := range []struct {
		name, tools, messages string
		want                  []string
	}{
		{"without tools", `[]`, `{"role":"user","content":"PLAY:work"}`, []string{"end_turn", "isNewTopic"}},
		{"the first move", oldTools, `{"role":"user","content":"PLAY:work"}`, []string{"tool_use", "TeamCreate", "alpha"}},
		{"a move that this client does not need", newTools, `{"role":"user","content":[{"type":"text","text":"PLAY:work"}]}`, []string{"SendMessage", `\"to\":\"bob\"`}},
		{"the old form of mail", oldTools, `{"role":"user","content":"PLAY:work"},` + said + `,{"role":"user","content":"…"}`, []string{`\"recipient\":\"bob\"`}},
		{"the last move", newTools, `{"role":"user","content":"PLAY:work"},` + said, []string{"end_turn", "Done."}},
		{"after the last", newTools, `{"role":"user","content":"PLAY:work"},` + said + `,` + said, []string{"That was all."}},
		{"a message that comes again", newTools, `{"role":"user","content":"PLAY:work"},` + said + `,{"role":"user","content":"PLAY:work"}`, []string{"That was said before."}},
		{"no such play", newTools, `{"role":"user","content":"PLAY:nothing"}`, []string{"no play nothing"}},
		{"asked to stop", newTools, `{"role":"user","content":"PLAY:work"},` + said + `,{"role":"user","content":"{\"type\":\"shutdown_request\",\"requestId\":\"shutdown-1@a\"}"}`, []string{`\"request_id\":\"shutdown-1@a\"`, `\"approve\":true`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, form := range []string{"true", "false"} {
				body := ask(t, m, `{"model":"x","stream":`+form+`,"tools":`+tc.tools+`,"messages":[`+tc.messages+`]}`)
				if form == "false" {
					body = unescaped(t, body)
				}
				for _, want := range tc.want {
					if !strings.Contains(body, want) {
						t.Errorf("stream %s: no %s in\n%s", form, want, body)
					}
				}
			}
		})
	}
	if n := strings.Count(m.lines(), "\n") + 1; n != 18 {
		t.Errorf("%d lines of log for 18 requests", n)
	}
}

// unescaped puts the inputs of a whole reply into the form they have in a stream.
func unescaped(t *testing.T, body string) string {
	t.Helper()
	var reply struct {
		Content []struct{ Input json.RawMessage }
	}
	if err := json.Unmarshal([]byte(body), &reply); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, b := range reply.Content {
		quoted, _ := json.Marshal(string(b.Input))
		body += string(quoted)
	}
	return body
}

func ask(t *testing.T, m *model, body string) string {
	t.Helper()
	res, err := http.Post(m.URL+"/v1/messages?beta=true", "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res.Status, err, string(data))
	}
	return string(data)
}
