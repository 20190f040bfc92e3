package teams

import (
	"context"
	"errors"
	"fmt"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Send puts a message into the box of a member: fault.RecipientNotFound,
// fault.RecipientInactive, fault.InvalidType. When it returns, the message is on
// disk. The sender is whoever calls; a teammate cannot send in another's name.
func (ms *messenger) Send(ctx context.Context, team string, spec SendSpec) (api.Sent, error) {
	t, err := ms.get(ctx, team)
	if err != nil {
		return api.Sent{}, err
	}
	sender, err := ms.sender(t)
	if err != nil {
		return api.Sent{}, err
	}
	to, err := ms.recipient(ctx, t, spec.To)
	if fault.CodeOf(err) == fault.RecipientInactive {
		err = ms.passOn(ctx, t, sender, spec, err)
	}
	if err != nil {
		return api.Sent{}, err
	}
	if sent, done, err := ms.typed(ctx, t, to, spec); done {
		return sent, err
	}
	if spec.Type == store.ShutdownRequest {
		if err := ms.mayAskToStop(t, sender, to); err != nil {
			return api.Sent{}, err
		}
	}
	if err := ms.leadText(spec.Text); err != nil {
		return api.Sent{}, err
	}
	msg, err := spec.message(sender, to)
	if err != nil {
		return api.Sent{}, err
	}
	sent, err := ms.put(ctx, t, to, msg)
	if err == nil && to != leadName(t) {
		ms.tellIfGone(ctx, t, to)
	}
	return sent, err
}

// Broadcast sends a copy to every live member but the sender.
func (ms *messenger) Broadcast(ctx context.Context, team, text, summary string) ([]api.Sent, error) {
	t, err := ms.get(ctx, team)
	if err != nil {
		return nil, err
	}
	sender, err := ms.sender(t)
	if err != nil {
		return nil, err
	}
	if err := ms.leadText(text); err != nil {
		return nil, err
	}
	msg, err := SendSpec{Text: text, Summary: summary}.message(sender, "everyone")
	if err != nil {
		return nil, err
	}
	msg.Type = "broadcast"
	var to []string
	for _, m := range ms.present(ctx, t, t.Members) {
		lead := isLead(t, m.Name)
		entry := t.Member(m.Name)
		if store.SameName(m.Name, sender.Name) || entry.Unsafe || (!lead && !m.Live()) {
			continue
		}
		if !lead && ms.impersonatesLead(t, *entry) {
			continue
		}
		to = append(to, m.Name)
	}
	sent, errs := make([]api.Sent, len(to)), make([]error, len(to))
	some(len(to), func(i int) { sent[i], errs[i] = ms.put(ctx, t, to[i], msg) })
	out := []api.Sent{}
	var missed []error
	var names []string
	for i, err := range errs {
		if err != nil {
			missed = append(missed, err) // one damaged box keeps the mail from nobody else
			continue
		}
		out, names = append(out, sent[i]), append(names, to[i])
	}
	ms.tellIfGone(ctx, t, names...)
	if len(missed) > 0 {
		return out, fmt.Errorf("%d of %d got the message: %w", len(out), len(out)+len(missed), errors.Join(missed...))
	}
	return out, nil
}

// recipient returns the name of the box that is meant.
func (ms *messenger) recipient(ctx context.Context, t store.Team, to string) (string, error) {
	if isLead(t, to) {
		return leadName(t), nil
	}
	m := t.Member(to)
	switch {
	case to == "*":
		return "", fault.New(fault.RecipientNotFound, "team %s has no member \"*\"", t.Name).WithHint("leadlight send --all writes to everybody who lives")
	case m == nil:
		return "", fault.New(fault.RecipientNotFound, "team %s has no member %q", t.Name, store.Shown(to)).
			WithHint("its members: %s", memberNames(t))
	case m.Unsafe:
		return "", fault.New(fault.InvalidName, "the roster of team %s holds the unsafe name %q", t.Name, store.Shown(m.Name)).
			WithHint("nothing is sent to it; mend %s", t.Path)
	case ms.impersonatesLead(t, *m):
		return "", fault.New(fault.NotLead, "teammate %s was started by Claude Code, whose own lead writes to it", m.Name).
			WithHint("send in the name of a member: --as NAME")
	case ms.runs(ctx, t, *m):
		return m.Name, nil
	}
	if seen := ms.observeOne(ctx, t, *m); !seen.Live() {
		return "", fault.New(fault.RecipientInactive, "teammate %s is %s", m.Name, inState(seen)).
			WithHint("%s", ms.howToStart(t, *m))
	}
	return m.Name, nil
}
