package changes

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
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

// frame is what events need of a structured message.
type frame struct {
	Type      string
	RequestID string // in each spelling that is in use
	Reason    string
	Plan      string
	Feedback  string
	yes       bool // an answer agrees: it says so, and says no nowhere
}

// parse reads a structured message. One that names two requests answers neither, and is
// words alone.
func parse(m api.Message) (frame, bool) {
	if m.Text == "" || m.Text[0] != '{' {
		return frame{}, false
	}
	o, err := rawjson.ParseObject([]byte(m.Text))
	if err != nil {
		return frame{}, false
	}
	ids := o.Texts(rawjson.RequestKeys()...)
	f := frame{RequestID: strings.Join(ids, "")}
	for key, to := range map[string]*string{"type": &f.Type, "reason": &f.Reason, "planContent": &f.Plan, "feedback": &f.Feedback} {
		raw, _ := o.Get(key)
		*to, _ = rawjson.String(raw)
	}
	if plan, _ := o.Get("plan"); f.Plan == "" {
		f.Plan, _ = rawjson.String(plan)
	}
	said := o.All("approved", "approve")
	no := slices.ContainsFunc(said, func(word json.RawMessage) bool { return !rawjson.Yes(word) })
	f.yes = !no && f.Type != shutdownRejected && (len(said) > 0 || f.Type == shutdownApproved)
	return f, len(ids) < 2
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
	d.add(events.MessageReceived, events.KindMessage, owner, &events.Message{From: m.From, To: owner, Content: m.Text, Summary: m.Summary})
}

// sent tells a new message: one of the structured ones by what it means.
func (d *diff) sent(owner string, m api.Message) {
	f, structured := parse(m)
	if !structured {
		f.Type = ""
	}
	switch f.Type {
	case shutdownRequest:
		d.add(events.ShutdownRequested, events.KindShutdownAsk, owner, &events.ShutdownAsk{From: m.From, To: owner, RequestID: f.RequestID, Reason: f.Reason})
	case shutdownApproved, shutdownRejected, shutdownResponse:
		d.add(events.ShutdownResponse, events.KindShutdownAnswer, m.From, &events.ShutdownAnswer{From: m.From, Member: m.From, RequestID: f.RequestID, Approved: f.yes, Reason: f.Reason})
	case planRequest:
		d.add(events.PlanRequested, events.KindPlanAsk, m.From, &events.PlanAsk{From: m.From, To: owner, RequestID: f.RequestID, Plan: f.Plan})
	case planResponse:
		d.add(events.PlanResolved, events.KindPlanAnswer, owner, &events.PlanAnswer{From: m.From, To: owner, RequestID: f.RequestID, Approved: f.yes, Feedback: f.Feedback})
	default:
		d.add(events.MessageSent, events.KindMessage, m.From, &events.Message{From: m.From, To: owner, Content: m.Text, Summary: m.Summary})
	}
}
