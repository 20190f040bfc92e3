package teams

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Bounds of what the lead is told of mail that nobody has read.
const (
	maxToldUnread = 500      // ids that are kept, so that nothing is told twice
	maxUnreadText = 64 << 10 // bytes of texts in one message
)

// tellUnread tells the lead what a member that has ended had not read. It stays in its box,
// where one that is started again finds it; of one that is about to be, nothing is told.
func (re *recorder) tellUnread(ctx context.Context, t store.Team, m store.Member, state string) {
	if m.Leadlight.Foreign || re.panes.Restarting(t.Name, m.Name) {
		return
	}
	left, err := re.untold(ctx, t, m)
	if err == nil && len(left) > 0 {
		err = re.tellLead(ctx, t, m, unreadText(m.Name, state, left), m.Name+" has not read its mail")
	}
	if err != nil {
		re.log.Warn("tell the lead what was not read", "team", t.Name, "member", m.Name, "error", err)
	}
}

// untold is the unread mail of a member that its lead was not told of before. Requests and
// notices of the protocol are about a teammate that lives, and nobody expects that a program
// which is only run reads its prompt.
func (re *recorder) untold(ctx context.Context, t store.Team, m store.Member) ([]store.Message, error) {
	msgs, err := re.mail.List(ctx, t.Name, m.Name)
	if err != nil {
		return nil, fmt.Errorf("read the inbox of %s: %w", m.Name, err)
	}
	left := slices.DeleteFunc(slices.Clone(msgs), func(msg store.Message) bool {
		_, frame := store.ParseFrame(msg.Text)
		prompt := m.Leadlight.Kind == profiles.Plain && msg.From == store.Lead && msg.Text == m.Prompt
		return frame || prompt || msg.Read || msg.Own(t.Name, t.DisplayName)
	})
	if len(left) == 0 {
		return nil, nil
	}
	return left, toldUnreadRecord().Edit(ctx, re.panes.Records(), t.Name, "tell what was not read", func(told *[]string) (bool, error) {
		left = slices.DeleteFunc(left, func(msg store.Message) bool { return slices.Contains(*told, msg.ID) })
		for _, msg := range left {
			*told = append(*told, msg.ID)
		}
		*told = (*told)[max(0, len(*told)-maxToldUnread):]
		return len(left) > 0, nil
	})
}

// unreadText is what the lead reads of mail that nobody has read.
func unreadText(name, state string, left []store.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s and has not read its mail, which it would if it were started again (leadlight restart %s):", name, state, name)
	for i, msg := range left {
		if i > 0 && b.Len()+len(msg.Text) > maxUnreadText {
			fmt.Fprintf(&b, "\nand %d more (leadlight inbox %s --unread)", len(left)-i, name)
			break
		}
		fmt.Fprintf(&b, "\nfrom %s: %s", store.Shown(msg.From), msg.Text)
	}
	return b.String()
}

// tellIfGone tells the lead of mail that was put into the boxes of members that have ended
// since they were looked at: who wrote down their ends has not seen it.
func (re *recorder) tellIfGone(ctx context.Context, t store.Team, names ...string) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		m := t.Member(name)
		return m != nil && re.runs(ctx, t, *m) // its end, which comes later, is written down with its mail
	})
	if len(names) == 0 {
		return
	}
	t, err := re.get(ctx, t.Name)
	if err != nil {
		return
	}
	for _, name := range names {
		if m := t.Member(name); m != nil && m.Leadlight != nil && settled(m.Leadlight.State) {
			re.tellUnread(ctx, t, *m, m.Leadlight.State)
		}
	}
}

// passOn gives the lead what a teammate wanted to say to one that has ended; why is that
// refusal.
func (re *recorder) passOn(ctx context.Context, t store.Team, sender store.Member, spec SendSpec, why error) error {
	if sender.Name == leadName(t) || spec.Text == "" || !slices.Contains([]string{"", plainMessage, directMessage}, spec.Type) {
		return why
	}
	f := fault.Of(why)
	_, err := re.put(ctx, t, leadName(t), store.Message{From: sender.Name, Summary: spec.Summary, Timestamp: time.Now(),
		Text: f.Message + ", so this is for you: " + spec.Text})
	if err != nil {
		return why
	}
	return fault.New(f.Code, "%s", f.Message).WithHint("the lead has got the message instead")
}
