package teams

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// AnswerShutdown answers, in the name of the caller, a request to shut down:
// requestID, or the newest one that is open. fault.RequestNotFound.
func (sp *stopper) AnswerShutdown(ctx context.Context, team, requestID string, approve bool, reason string) (string, error) {
	t, m, err := sp.find(ctx, team, sp.caller.Name)
	if err != nil {
		return "", err
	}
	asked, msgID, err := sp.pendingShutdown(ctx, t, m, requestID)
	if err != nil {
		return "", err
	}
	now := time.Now()
	f := store.Frame{Type: store.ShutdownRejected, RequestID: asked.RequestID, From: m.Name, Reason: reason, Timestamp: store.FormatTime(now)}
	if approve {
		f = store.Frame{Type: store.ShutdownApproved, RequestID: asked.RequestID, From: m.Name, Timestamp: store.FormatTime(now), PaneID: m.TmuxPaneID, BackendType: m.BackendType}
	}
	if _, err := sp.post(ctx, t, leadName(t), store.Message{From: m.Name, Text: f.Text(), Timestamp: now}); err != nil {
		return "", fmt.Errorf("answer the lead: %w", err)
	}
	if approve && m.Leadlight != nil { // its host sees to it that it ends, whoever waits for the answer
		if err := sp.noteAgreed(ctx, t.Name, m.Name, m.Leadlight.Host); err != nil {
			return "", err
		}
	}
	if err := sp.mail.MarkRead(ctx, t.Name, m.Name, []string{msgID}); err != nil {
		return "", fmt.Errorf("the lead has the answer, but the request could not be marked as read: %w", err)
	}
	return asked.RequestID, nil
}

// pendingShutdown finds the newest request of the lead that is not answered, or the
// one of that id, and its message.
func (sp *stopper) pendingShutdown(ctx context.Context, t store.Team, m store.Member, id string) (store.Frame, string, error) {
	msgs, err := sp.mail.List(ctx, t.Name, m.Name)
	if err != nil {
		return store.Frame{}, "", fmt.Errorf("read the inbox of %s: %w", m.Name, err)
	}
	answers, err := sp.newestAnswers(ctx, t)
	if err != nil {
		return store.Frame{}, "", err
	}
	withdrawn, err := withdrawnRecord().Read(ctx, sp.panes.Records(), t.Name)
	if err != nil {
		return store.Frame{}, "", fmt.Errorf("read which requests were taken back: %w", err)
	}
	for _, msg := range slices.Backward(msgs) {
		f, ok := asksToStop(t, m, msg)
		// The newest answer counts, so a request that is named may be answered again.
		answered := id == "" && answers[requestKey{name: m.Name, id: f.RequestID}].outcome != ""
		if ok && (id == "" || f.RequestID == id) && !answered && !slices.Contains(withdrawn, f.RequestID) {
			return f, msg.ID, nil
		}
	}
	what := "no request to shut down is open for " + m.Name
	if id != "" {
		what = fmt.Sprintf("%s was not asked to shut down by request %q", m.Name, store.Shown(id))
	}
	return store.Frame{}, "", fault.New(fault.RequestNotFound, "%s", what).WithHint("leadlight inbox shows what was asked")
}

// answer is what a member said to a request to stop.
type answer struct {
	outcome string // state.Approved, Rejected or Exited; "": nothing yet
	reason  string
	message string // id of the message
	at      time.Time
}

// requestKey names a request by who was asked and its id; unclear is for a yes that names
// more than one, and so counts for none.
type requestKey struct {
	name, id string
	unclear  bool
}

// newestAnswers reads the lead's box for the newest answer to each request to stop, and
// under no id for that to any. Only the member itself can answer. A no that names more than
// one request counts for each.
func (mb *mailbox) newestAnswers(ctx context.Context, t store.Team) (map[requestKey]answer, error) {
	msgs, err := mb.mail.List(ctx, t.Name, leadName(t))
	if err != nil {
		return nil, fmt.Errorf("read the answers: %w", err)
	}
	out := map[requestKey]answer{}
	for _, msg := range msgs {
		f, ok := store.ParseFrame(msg.Text)
		ids := f.Requests()
		if !ok || len(ids) == 0 || f.Type != store.ShutdownApproved && f.Type != store.ShutdownRejected {
			continue
		}
		m := t.Member(msg.From)
		if m == nil {
			continue
		}
		if len(ids) > 1 && f.Type == store.ShutdownApproved {
			out[requestKey{name: m.Name, unclear: true}] = answer{message: msg.ID, at: msg.Timestamp}
			continue
		}
		a := answer{outcome: state.Approved, message: msg.ID, at: msg.Timestamp}
		if f.Type == store.ShutdownRejected {
			a.outcome, a.reason = state.Rejected, f.Reason
		}
		out[requestKey{name: m.Name}] = a
		for _, id := range ids {
			out[requestKey{name: m.Name, id: id}] = a
		}
	}
	return out, nil
}
