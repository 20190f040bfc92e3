package teams

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// SendSpec is one message to one member.
type SendSpec struct {
	To      string // a member's name, bob@team too, or the lead
	Text    string
	Summary string
	// Type is "" or "message" (also "direct"), or one of sendTypes: the text is then
	// a reason (shutdown_request), a plan, a mode, a result (idle_notification), or
	// the answer of a response as JSON.
	Type string
}

// inState is a teammate's state with its reason, where that says more.
func inState(m api.Member) string {
	if m.Reason == "" || m.Reason == m.State {
		return m.State
	}
	return m.State + ": " + m.Reason
}

// post puts a message into a box, with the colour of its sender.
func (mb *mailbox) post(ctx context.Context, t store.Team, to string, msg store.Message) (store.Message, error) {
	if m := t.Member(msg.From); m != nil {
		msg.Color = m.Color
	}
	if msg.Color == "" && fromLead(t, msg) {
		msg.Color = leadColor
	}
	return mb.mail.Put(ctx, t.Name, to, msg)
}

func (mb *mailbox) put(ctx context.Context, t store.Team, to string, msg store.Message) (api.Sent, error) {
	m, err := mb.post(ctx, t, to, msg)
	if err != nil {
		return api.Sent{}, fmt.Errorf("send to %s: %w", to, err)
	}
	frame, _ := store.ParseFrame(msg.Text)
	return api.Sent{ID: m.ID, RequestID: frame.RequestID, To: to, Timestamp: api.Time(m.Timestamp)}, nil
}

// sender is the member, or the lead, in whose name the caller writes.
func (mb *mailbox) sender(t store.Team) (store.Member, error) {
	if isLead(t, mb.caller.Name) {
		return store.Member{Name: leadName(t)}, nil
	}
	if m := t.Member(mb.caller.Name); m != nil && !m.Unsafe {
		return *m, nil
	}
	return store.Member{}, fault.New(fault.MemberNotFound, "%q is not a member of team %s and cannot send in it", store.Shown(mb.caller.Name), t.Name).
		WithHint("its members: %s", memberNames(t))
}

// mayAskToStop refuses a request to stop that is not the lead's, and one to the lead itself.
func (mb *mailbox) mayAskToStop(t store.Team, sender store.Member, to string) error {
	if err := mb.leadOnly("ask others to shut down"); err != nil {
		return err
	}
	switch {
	case !isLead(t, sender.Name):
		return fault.New(fault.NotLead, "%s may not ask others to shut down: that is the lead's", sender.Name).WithHint("leave --as out")
	case isLead(t, to):
		return fault.New(fault.InvalidArgument, "%s is the lead, which is never stopped", to).WithHint("leadlight down %s ends the whole team", shell.Line(t.Name))
	}
	return nil
}

// leadText refuses to a teammate a text that its reader would obey as a word of the lead.
func (mb *mailbox) leadText(text string) error {
	f, ok := store.ParseFrame(text)
	if !ok || !store.LeadOnly(f.Type) {
		return nil
	}
	return mb.leadOnly("send a " + f.Type + ", not even as the text of a message")
}

func (spec SendSpec) message(sender store.Member, to string) (store.Message, error) {
	now := time.Now()
	msg := store.Message{From: sender.Name, Text: spec.Text, Summary: spec.Summary, Timestamp: now}
	switch spec.Type {
	case "", plainMessage, directMessage:
		if store.Blank(spec.Text) {
			return msg, fault.New(fault.InvalidArgument, "the message to %s is empty", to).WithHint("say something, or give - to read it from standard input")
		}
	case store.ShutdownRequest:
		msg.Text = store.Frame{Type: store.ShutdownRequest, RequestID: store.NewRequestID("shutdown", to, now), From: sender.Name, Reason: spec.Text, Timestamp: store.FormatTime(now)}.Text()
	default:
		return msg, fault.New(fault.InvalidType, "%q is not a type of message", store.Shown(spec.Type)).
			WithHint("the types are: %s", strings.Join(sendTypes(), ", "))
	}
	return msg, checkText("message", msg.Text)
}

func checkText(what, text string) error {
	if len(text) > store.MaxMessage {
		return fault.New(fault.InvalidArgument, "the text of the %s has %d bytes, the limit is %d", what, len(text), store.MaxMessage).
			WithHint("write it into a file, and give the file's name instead")
	}
	return nil
}

// impersonatesLead tells whether a message of the caller to m would pass for one of another
// lead: only the lead that launched a teammate writes to it as the lead.
func (mb *mailbox) impersonatesLead(t store.Team, m store.Member) bool {
	return ofItsLead(t, m) && !t.LedByUs() && !mb.caller.Teammate && isLead(t, mb.caller.Name)
}

// fromLead tells whether a message carries the lead's name, or its address. Programs that
// share a maildir with us call it lead.
func fromLead(t store.Team, m store.Message) bool {
	return isLead(t, m.From) || t.Ours.Mailbox == store.MailboxMaildir && m.From == "lead" && t.Member(m.From) == nil
}

// isLead tells whether the lead is meant by a name or an address.
func isLead(t store.Team, name string) bool {
	name = t.Local(name)
	return store.SameName(name, store.Lead) || store.SameName(name, leadName(t))
}
