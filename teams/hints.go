package teams

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Hints tells a teammate that its mail or the team's tasks may have changed, until
// ctx ends; the channel is then closed. A hint may be late, doubled or about
// nothing; the first one comes at once.
func (s *Service) Hints(ctx context.Context, team string) (<-chan struct{}, error) {
	mail, err := s.mail.Watch(ctx, team, s.caller.Name)
	if err != nil {
		return nil, fmt.Errorf("watch the inbox of %s: %w", s.caller.Name, err)
	}
	tasks, err := s.tasks.Watch(ctx, team)
	if err != nil {
		return nil, fmt.Errorf("watch the tasks of team %s: %w", team, err)
	}
	return store.Together(mail, tasks), nil
}

// TellLead puts a message of the caller, a frame or plain text, into the lead's
// box.
func (mb *mailbox) TellLead(ctx context.Context, team, text, summary string) error {
	t, m, err := mb.find(ctx, team, mb.caller.Name)
	if err != nil {
		return err
	}
	return mb.tellLead(ctx, t, m, text, summary)
}

// TellEnd tells the lead that the caller has ended.
func (mb *mailbox) TellEnd(ctx context.Context, team string, e panes.ExitRecord) error {
	t, m, err := mb.find(ctx, team, mb.caller.Name)
	if err != nil {
		return err
	}
	return mb.tellEnd(ctx, t, m, e)
}

// endID begins the id of a message that tells of an end. The host that ended follows.
const endID = "end-"

// TellsEnd tells whether a message is one that leadlight itself has written to tell the
// lead of the end of a teammate.
func TellsEnd(m api.Message) bool { return strings.HasPrefix(m.ID, endID) }

func (mb *mailbox) tellEnd(ctx context.Context, t store.Team, m store.Member, e panes.ExitRecord) error {
	id := ""
	if m.Leadlight != nil {
		id = endID + m.Leadlight.Host
	}
	return mb.putToLead(ctx, t, store.Message{ID: id, From: m.Name, Text: endText(m.Name, e), Summary: m.Name + " is " + e.State})
}

// endText is what the lead reads of the end of a teammate.
func endText(name string, e panes.ExitRecord) string {
	text := fmt.Sprintf("%s is %s: %s.", name, e.State, e.Reason)
	if e.Reason == e.State || e.Reason == "" { // nothing is said twice
		text = fmt.Sprintf("%s is %s.", name, e.State)
	}
	if len(e.Tail) > 0 {
		text += " Its last line: " + e.Tail[len(e.Tail)-1]
	}
	return text
}

func (mb *mailbox) tellLead(ctx context.Context, t store.Team, m store.Member, text, summary string) error {
	return mb.putToLead(ctx, t, store.Message{From: m.Name, Text: text, Summary: summary})
}

// putToLead puts a message into the lead's box.
func (mb *mailbox) putToLead(ctx context.Context, t store.Team, msg store.Message) error {
	msg.Timestamp = time.Now()
	if _, err := mb.post(ctx, t, leadName(t), msg); err != nil {
		return fmt.Errorf("tell the lead: %w", err)
	}
	return nil
}

// Asked returns the newest request to shut down that the caller has not read,
// which was not meant for somebody who had the name before.
func (mb *mailbox) Asked(ctx context.Context, team string) (store.Frame, bool, error) {
	t, m, err := mb.find(ctx, team, mb.caller.Name)
	if err != nil {
		return store.Frame{}, false, err
	}
	msgs, err := mb.mail.List(ctx, t.Name, m.Name)
	if err != nil {
		return store.Frame{}, false, err
	}
	for _, msg := range slices.Backward(msgs) {
		if f, ok := asksToStop(t, m, msg); ok && !msg.Read {
			return f, true, nil
		}
	}
	return store.Frame{}, false, nil
}

// asksToStop returns the lead's request to shut down, if a message to a member is one, and was
// not meant for somebody who had the name before.
func asksToStop(t store.Team, m store.Member, msg store.Message) (store.Frame, bool) {
	f, ok := store.ParseFrame(msg.Text)
	return f, ok && len(f.Requests()) < 2 && f.Type == store.ShutdownRequest && fromLead(t, msg) && !expired(&m, msg)
}
