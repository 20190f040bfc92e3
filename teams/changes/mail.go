package changes

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// Types of the structured messages that are events of their own, as Claude Code
// writes them into the text.
const (
	shutdownRequest  = "shutdown_request"
	shutdownApproved = "shutdown_approved"
	shutdownRejected = "shutdown_rejected"
	shutdownResponse = "shutdown_response"
	planRequest      = "plan_approval_request"
	planResponse     = "plan_approval_response"
)

// frame is what events need of a structured message. Both spellings of the
// request's id are in use.
type frame struct {
	Type         string `json:"type"`
	RequestID    string `json:"requestId"`
	RequestSnake string `json:"request_id"`
	Reason       string `json:"reason"`
	Plan         string `json:"planContent"`
	PlanPlain    string `json:"plan"`
	Feedback     string `json:"feedback"`

	Approved json.RawMessage `json:"approved"` // a client may write it as a text
	Approve  json.RawMessage `json:"approve"`
}

func parse(m api.Message) (frame, bool) {
	var f frame
	if m.Text == "" || m.Text[0] != '{' || json.Unmarshal([]byte(m.Text), &f) != nil {
		return f, false
	}
	if f.RequestID == "" {
		f.RequestID = f.RequestSnake
	}
	if f.Plan == "" {
		f.Plan = f.PlanPlain
	}
	return f, true
}

// yes tells whether an answer agrees: it says so, and says no in no spelling.
func (f frame) yes() bool {
	said := f.Type == shutdownApproved
	for _, word := range []json.RawMessage{f.Approved, f.Approve} {
		switch strings.Trim(strings.ToLower(string(word)), `"`) {
		case "", "null":
		case "true":
			said = true
		default:
			return false
		}
	}
	return said && f.Type != shutdownRejected
}

// boxes compares the mail by the messages' ids.
func (d *diff) boxes(old, now Team) {
	for _, owner := range slices.Sorted(maps.Keys(now.Boxes)) {
		before := map[string]bool{}
		read := map[string]bool{}
		for _, m := range old.Boxes[owner] {
			before[m.ID], read[m.ID] = true, m.Read
		}
		for _, m := range now.Boxes[owner] {
			if !before[m.ID] {
				d.sent(owner, m)
			}
			if m.Read && !read[m.ID] {
				d.received(owner, m)
			}
		}
	}
}

func (d *diff) received(owner string, m api.Message) {
	d.add(events.MessageReceived, owner, &events.Message{Type: events.KindMessage, From: m.From, To: owner, Content: m.Text, Summary: m.Summary})
}

// sent tells a new message: one of the structured ones by what it means.
func (d *diff) sent(owner string, m api.Message) {
	f, structured := parse(m)
	if !structured {
		f.Type = ""
	}
	switch f.Type {
	case shutdownRequest:
		d.add(events.ShutdownRequested, owner, &events.ShutdownAsk{Type: events.KindShutdownAsk, From: m.From, To: owner, RequestID: f.RequestID, Reason: f.Reason})
	case shutdownApproved, shutdownRejected, shutdownResponse:
		d.add(events.ShutdownResponse, m.From, &events.ShutdownAnswer{
			Type: events.KindShutdownAnswer, From: m.From, Member: m.From, RequestID: f.RequestID, Approved: f.yes(), Reason: f.Reason})
	case planRequest:
		d.add(events.PlanRequested, m.From, &events.PlanAsk{Type: events.KindPlanAsk, From: m.From, To: owner, RequestID: f.RequestID, Plan: f.Plan})
	case planResponse:
		d.add(events.PlanResolved, owner, &events.PlanAnswer{
			Type: events.KindPlanAnswer, From: m.From, To: owner, RequestID: f.RequestID, Approved: f.yes(), Feedback: f.Feedback})
	default:
		d.add(events.MessageSent, m.From, &events.Message{Type: events.KindMessage, From: m.From, To: owner, Content: m.Text, Summary: m.Summary})
	}
}
