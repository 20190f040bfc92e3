package teams

import (
	"cmp"
	"context"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Types of message that are only sent: each is answered for by a verb of its own.
const (
	directMessage    = "direct"
	plainMessage     = "message"
	shutdownResponse = "shutdown_response" // becomes shutdown_approved or shutdown_rejected
)

// sendTypes are the types that send takes.
func sendTypes() []string {
	return []string{
		plainMessage, directMessage, store.ShutdownRequest, shutdownResponse, store.PlanRequest, store.PlanResponse,
		store.PermissionResponse, store.ModeSetRequest, store.IdleNotification,
	}
}

// answer reads the text of a response: which request, and what is answered. The names are
// those of Claude Code's SendMessage, in each spelling of its messages.
func (spec SendSpec) answer() (store.Frame, error) {
	var f store.Frame
	o, err := rawjson.ParseObject([]byte(spec.Text))
	if err == nil {
		o.Set("type", rawjson.Quote(spec.Type))
		f, _ = store.ParseFrame(string(o.Raw()))
	}
	if err != nil || f.Approved == nil || f.RequestID == "" {
		return f, fault.New(fault.InvalidArgument, "the text of a %s says which one request it answers, and how", spec.Type).
			WithHint(`such as {"request_id":"…","approve":true}`)
	}
	return f, nil
}

// typed sends what is more than text by the verb that stands for it. done is false
// for all other types.
func (ms *messenger) typed(ctx context.Context, t store.Team, to string, spec SendSpec) (sent api.Sent, done bool, err error) {
	sent = api.Sent{To: to, Timestamp: api.Time(time.Now())}
	switch spec.Type {
	case store.PlanRequest:
		p, err := ms.SubmitPlan(ctx, t.Name, spec.Text, "")
		sent.ID, sent.To = p.ID, leadName(t)
		return sent, true, err
	case store.ModeSetRequest:
		_, err := ms.SetPermissionMode(ctx, t.Name, to, spec.Text)
		return sent, true, err
	case store.IdleNotification:
		sent.To = leadName(t)
		return sent, true, ms.TellIdle(ctx, t.Name, Idle{Summary: spec.Summary, Result: spec.Text})
	case shutdownResponse, store.PlanResponse, store.PermissionResponse:
	default:
		return sent, false, nil
	}
	a, err := spec.answer()
	if err != nil {
		return sent, true, err
	}
	sent.ID = a.RequestID
	switch spec.Type {
	case shutdownResponse:
		_, err = ms.AnswerShutdown(ctx, t.Name, a.RequestID, *a.Approved, a.Reason)
	case store.PlanResponse:
		_, err = ms.ResolvePlan(ctx, t.Name, a.RequestID, *a.Approved, a.Feedback)
	default:
		_, err = ms.AnswerPermission(ctx, t.Name, a.RequestID, *a.Approved, cmp.Or(a.Reason, a.Feedback))
	}
	return sent, true, err
}
