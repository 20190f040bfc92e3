package maildir

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// letter is the file of a message.
type letter struct {
	ID        string `json:"id"`
	From      string `json:"from"`
	To        string `json:"to"`
	Type      string `json:"type"`
	Content   string `json:"content"`
	Timestamp string `json:"timestamp"`
	Summary   string `json:"summary,omitempty"`
	Color     string `json:"color,omitempty"`
}

// letterID is the id that ends the name of a message's file, "" for any other file.
func letterID(file string) string {
	id, whole := strings.CutSuffix(file, ".json")
	id, letter := strings.CutPrefix(id, "msg-")
	if !whole || !letter {
		return ""
	}
	return id
}

// Types of messages that are no frames.
const (
	direct    = "direct"
	broadcast = "broadcast"
)

// typeOnDisk is the type that the file of a message gets.
func typeOnDisk(msg store.Message) string {
	switch kind := msg.Kind(); kind {
	case "message":
		if msg.Type == broadcast {
			return broadcast
		}
		return direct
	case store.ShutdownApproved, store.ShutdownRejected:
		return "shutdown_response"
	default:
		return kind
	}
}

// parse reads one message, in our form or that of other programs with this
// layout.
func parse(raw []byte, name, owner string) (store.Message, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return store.Message{}, err
	}
	msg := store.Message{To: owner, Unknown: map[string]json.RawMessage{}}
	text := func(into *string) func(json.RawMessage) {
		return func(raw json.RawMessage) { *into, _ = rawjson.String(raw) }
	}
	words := func(raw json.RawMessage) { // also what is no text
		if s, ok := rawjson.String(raw); ok {
			msg.Text = s
		} else if string(raw) != "null" {
			msg.Text = string(raw)
		}
	}
	fields := map[string]func(json.RawMessage){
		"id": text(&msg.ID), "from": text(&msg.From), "to": func(json.RawMessage) {}, "type": text(&msg.Type),
		"content": words, "text": words, "summary": text(&msg.Summary), "color": text(&msg.Color),
		"timestamp": func(raw json.RawMessage) {
			msg.Timestamp = store.ParseTime(raw)
			if s, ok := rawjson.String(raw); !ok || s != store.FormatTime(msg.Timestamp) {
				msg.Stamp = s
			}
		},
	}
	for _, key := range o.Keys() {
		value, _ := o.Get(key)
		if load, ok := fields[key]; ok {
			load(value)
		} else {
			msg.Unknown[key] = value
		}
	}
	msg.ID = cmp.Or(msg.ID, letterID(name))
	settle(&msg, raw)
	if len(msg.Unknown) == 0 {
		msg.Unknown = nil
	}
	return msg, nil
}

// settle makes a frame of a message whose file says in its type what it is.
func settle(msg *store.Message, raw []byte) {
	switch msg.Type {
	case direct, broadcast, "":
		msg.Type = "message"
	case store.ShutdownRequest, "shutdown":
		// Other programs say in the type alone what the message is.
		if _, ok := store.ParseFrame(msg.Text); !ok {
			msg.Text = store.Frame{Type: store.ShutdownRequest, RequestID: msg.ID, From: msg.From, Reason: msg.Text, Timestamp: store.FormatTime(msg.Timestamp)}.Text()
		}
	default:
		if _, ok := store.ParseFrame(msg.Text); !ok {
			msg.Text = framed(raw, msg.Text)
		}
	}
}

// framed returns the text of a message whose file itself says which request it makes or
// answers, and how; words, which are part of it, where the file says neither.
func framed(raw []byte, words string) string {
	f, ok := store.ParseFrame(string(raw))
	into, known := map[string]*string{
		store.ShutdownApproved: &f.Reason, store.ShutdownRejected: &f.Reason,
		store.PlanRequest: &f.PlanContent, store.PlanResponse: &f.Feedback,
		store.PermissionRequest: &f.Description, store.PermissionResponse: &f.Error,
		store.SandboxRequest: &f.Description, store.SandboxResponse: &f.Reason,
	}[f.Type]
	switch {
	case !ok || !known || len(f.Requests()) == 0 && f.Approved == nil:
		return words
	case len(f.Requests()) > 1: // as it stands: a frame that is written anew names one
		return string(bytes.TrimPrefix(raw, []byte("\ufeff")))
	}
	*into = cmp.Or(*into, words)
	return f.Text()
}
