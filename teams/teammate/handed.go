package teammate

import (
	"context"
	"slices"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// unread is its unread mail. What it was given while that could not be written down, as when
// the engine was away, it is not given again.
func (m *teammate) unread(ctx context.Context) ([]api.Message, error) {
	msgs, err := m.o.Service.Inbox(ctx, m.o.Team, "", teams.InboxFilter{Unread: true})
	var given []string
	m.giving.Lock()
	msgs = slices.DeleteFunc(msgs, func(msg api.Message) bool {
		if m.given[msg.ID] {
			given = append(given, msg.ID)
		}
		return m.given[msg.ID]
	})
	m.giving.Unlock()
	if len(given) > 0 {
		if err := m.markRead(ctx, given); err != nil {
			m.o.Log.Warn("write down which messages it has", "error", err)
		}
	}
	return msgs, err
}

// markRead writes down that it was given messages.
func (m *teammate) markRead(ctx context.Context, ids []string) error {
	err := m.o.Service.MarkRead(ctx, m.o.Team, "", ids)
	m.giving.Lock()
	defer m.giving.Unlock()
	for _, id := range ids {
		switch {
		case err == nil:
			delete(m.given, id)
		case m.given == nil:
			m.given = map[string]bool{id: true}
		default:
			m.given[id] = true
		}
	}
	return err
}
