package teams

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// InboxFilter picks messages; the zero value picks all.
type InboxFilter struct {
	Unread bool
	From   string
	Since  time.Duration // not older than that; 0: any age
	Odd    bool          // say what is odd in the box
}

// Inbox returns the messages of a box, each once, in the order they came. owner
// "" is the caller's own.
func (in *incoming) Inbox(ctx context.Context, team, owner string, f InboxFilter) ([]api.Message, error) {
	t, owner, err := in.box(ctx, team, owner)
	if err != nil {
		return nil, err
	}
	msgs, err := in.mail.List(ctx, t.Name, owner)
	if err != nil {
		return nil, fmt.Errorf("read the inbox of %s: %w", owner, err)
	}
	if f.Odd {
		for _, line := range summary(mailOddities(owner, msgs)) {
			in.notice(line)
		}
	}
	return in.inbox(ctx, t, owner, msgs, f), nil
}

// Waiting counts the unread messages where messages were sent to: -1 where a box cannot be read.
func (in *incoming) Waiting(ctx context.Context, team string, sent []api.Sent) ([]int, error) {
	t, err := in.get(ctx, team)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(sent))
	for i, to := range sent {
		out[i] = -1
		if msgs, err := in.mail.List(ctx, t.Name, to.To); err == nil {
			out[i] = len(in.inbox(ctx, t, to.To, msgs, InboxFilter{Unread: true}))
		}
	}
	return out, nil
}

// inbox returns those of the messages in a box that f picks, each once.
func (in *incoming) inbox(ctx context.Context, t store.Team, owner string, msgs []store.Message, f InboxFilter) []api.Message {
	if owner == leadName(t) && new(requests).add(t, msgs) { // whoever reads them may take them away
		if _, err := in.keepRequests(ctx, t, msgs); err != nil {
			in.log.Warn("keep the requests in the lead's inbox", "team", t.Name, "error", err)
		}
	}
	out := []api.Message{}
	seen := map[string]bool{}
	for _, m := range msgs {
		if !seen[m.ID] && f.takes(t, m) {
			seen[m.ID] = true
			out = append(out, shownMessage(t, owner, m))
		}
	}
	return out
}

func (f InboxFilter) takes(t store.Team, m store.Message) bool {
	switch {
	case f.Unread && (m.Read || m.Own(t.Name, t.DisplayName)), f.From != "" && !store.SameName(t.Local(m.From), t.Local(f.From)):
		return false
	case f.Since > 0 && !m.Timestamp.IsZero():
		return time.Since(m.Timestamp) <= f.Since
	}
	return true
}

// box resolves the owner of a mailbox.
func (in *incoming) box(ctx context.Context, team, owner string) (store.Team, string, error) {
	t, err := in.get(ctx, team)
	if err != nil {
		return t, "", err
	}
	owner = cmp.Or(owner, in.caller.Name)
	if isLead(t, owner) {
		return t, leadName(t), nil
	}
	_, m, err := in.find(ctx, team, owner)
	return t, m.Name, err
}

func shownMessage(t store.Team, owner string, m store.Message) api.Message {
	out := api.Message{
		ID: m.ID, From: cmp.Or(t.Local(m.From), "unknown"), Text: m.Text, Summary: m.Summary, Timestamp: m.Stamp,
		Color: m.Color, Read: m.Read, Type: m.Kind(), Unknown: m.Unknown,
	}
	if out.Timestamp == "" && !m.Timestamp.IsZero() {
		out.Timestamp = api.Time(m.Timestamp).String()
	}
	switch wrong := wrongFrame(t, m); {
	case !fromLead(t, m) && t.Member(m.From) == nil:
		out.Note = "not a member"
	case wrong != "":
		out.Note = wrong
	case expired(t.Member(owner), m):
		out.Note = "expired"
	}
	return out
}

// wrongFrame says why a structured message does not count: it names another sender than the
// message itself, only the lead sends such, or it names two requests. "": it counts.
func wrongFrame(t store.Team, m store.Message) string {
	f, ok := store.ParseFrame(m.Text)
	switch other := f.SenderMismatch(m.From, t.Name, t.DisplayName); {
	case !ok:
	case other != "":
		return "says it is from " + store.Shown(other)
	case store.LeadOnly(f.Type) && !fromLead(t, m):
		return "not from the lead"
	case len(f.Requests()) > 1:
		return "names more than one request"
	}
	return ""
}

// expired tells whether m was for the time before its owner was started: a request to end,
// or the answer to a question that ended with who asked it.
func expired(owner *store.Member, m store.Message) bool {
	if owner == nil || m.Timestamp.IsZero() || !endsWithReader(m.Kind()) {
		return false
	}
	start := owner.JoinedAt
	if owner.Leadlight != nil && owner.Leadlight.SpawnedAt != nil {
		start = *owner.Leadlight.SpawnedAt
	}
	return before(m.Timestamp, start)
}

// before tells whether a moment is before a start that was written down. A start that is
// still to come says nothing of it: the clock was set back since.
func before(at, start time.Time) bool {
	start = start.Truncate(time.Millisecond)
	return at.Before(start) && !start.After(time.Now())
}

// endsWithReader tells whether messages of a kind are for the very process that they were
// written to, and not for one that is started after it.
func endsWithReader(kind string) bool {
	return kind == store.ShutdownRequest || kind == store.PermissionResponse || kind == store.SandboxResponse
}

// MarkRead records messages as read.
func (in *incoming) MarkRead(ctx context.Context, team, owner string, ids []string) error {
	t, owner, err := in.box(ctx, team, owner)
	if err != nil {
		return err
	}
	if in.caller.Teammate && !store.SameName(owner, in.caller.Name) {
		return fault.New(fault.NotLead, "teammate %s may not mark the mail of %s as read", in.caller.Name, owner)
	}
	if err := in.mail.MarkRead(ctx, t.Name, owner, ids); err != nil {
		return fmt.Errorf("mark as read: %w", err)
	}
	return nil
}

// FollowInbox emits the messages that are there and every one that comes, each
// once, until ctx ends or emit fails.
func (in *incoming) FollowInbox(ctx context.Context, team, owner string, f InboxFilter, emit func(api.Message) error) error {
	t, owner, err := in.box(ctx, team, owner)
	if err != nil {
		return err
	}
	hints, err := in.mail.Watch(ctx, t.Name, owner)
	if err != nil {
		return fmt.Errorf("watch the inbox of %s: %w", owner, err)
	}
	seen := map[string]bool{}
	for range hints {
		msgs, err := in.Inbox(store.AfterHint(ctx), team, owner, f)
		if err != nil {
			if fault.CodeOf(err) == fault.CorruptFile {
				in.log.Warn("the inbox cannot be read just now", "owner", owner, "error", err)
				continue
			}
			return err
		}
		for _, m := range msgs {
			if seen[m.ID] {
				continue
			}
			seen[m.ID] = true
			if err := emit(m); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// PruneInbox moves the read messages of a box into the archive.
func (in *incoming) PruneInbox(ctx context.Context, team, owner string) (int, error) {
	t, owner, err := in.box(ctx, team, owner)
	if err != nil {
		return 0, err
	}
	if in.caller.Teammate && !store.SameName(owner, in.caller.Name) {
		return 0, fault.New(fault.NotLead, "teammate %s may not prune the mail of %s", in.caller.Name, owner)
	}
	if !t.LedByUs() {
		return 0, fault.New(fault.NotLead, "the mail of team %s is Claude Code's own", t.Name).WithHint("it is left as it is")
	}
	if owner == leadName(t) {
		if _, err := in.requests(ctx, t); err != nil {
			return 0, err // what is open would be lost
		}
	}
	return in.mail.Prune(ctx, t.Name, owner, 0)
}
