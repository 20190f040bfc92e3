package changes

import (
	"maps"
	"slices"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/store"
)

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

// sent tells a new message: a structured one by what it means, unless it names two requests:
// then it answers neither, and is words alone.
func (d *diff) sent(owner string, m api.Message) {
	f, _ := store.ParseFrame(m.Text)
	if len(f.Requests()) > 1 {
		f.Type = ""
	}
	switch f.Type {
	case store.ShutdownRequest:
		d.add(events.ShutdownRequested, events.KindShutdownAsk, owner, &events.ShutdownAsk{From: m.From, To: owner, RequestID: f.RequestID, Reason: f.Reason})
	case store.ShutdownApproved, store.ShutdownRejected:
		d.add(events.ShutdownResponse, events.KindShutdownAnswer, m.From, &events.ShutdownAnswer{From: m.From, Member: m.From, RequestID: f.RequestID, Approved: f.Type == store.ShutdownApproved, Reason: f.Reason})
	case store.PlanRequest:
		d.add(events.PlanRequested, events.KindPlanAsk, m.From, &events.PlanAsk{From: m.From, To: owner, RequestID: f.RequestID, Plan: f.PlanContent})
	case store.PlanResponse:
		d.add(events.PlanResolved, events.KindPlanAnswer, owner, &events.PlanAnswer{From: m.From, To: owner, RequestID: f.RequestID, Approved: f.Approved != nil && *f.Approved, Feedback: f.Feedback})
	default:
		d.add(events.MessageSent, events.KindMessage, m.From, &events.Message{From: m.From, To: owner, Content: m.Text, Summary: m.Summary})
	}
}
