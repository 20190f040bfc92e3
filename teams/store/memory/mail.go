package memory

import (
	"context"
	"slices"

	"github.com/leadlight-dev/leadlight/teams/store"
)

type mail struct{ s *Store }

// with runs do on a box, under the lock.
func (m mail) with(team, owner string, do func(b *box, owner string) error) error {
	owner, err := store.CheckAddress(store.LocalName(owner, team))
	if err != nil {
		return err
	}
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	if err := m.s.known(team); err != nil {
		return err
	}
	a := address{team, owner}
	b := m.s.boxes[a]
	if b == nil {
		b = &box{}
		m.s.boxes[a] = b
	}
	return do(b, owner)
}

func (m mail) Put(_ context.Context, team, to string, msg store.Message) (store.Message, error) {
	if err := store.PrepareMessage(&msg); err != nil {
		return msg, err
	}
	if msg.Timestamp.IsZero() {
		msg.Timestamp = now()
	}
	msg.Type, msg.Stamp, msg.Read, msg.Unknown = "message", "", false, nil
	return msg, m.with(team, to, func(b *box, owner string) error {
		if len(msg.Text) > store.MaxMessage && len(b.messages) > 0 {
			return store.TooLong(len(msg.Text))
		}
		msg.To = owner
		b.messages = append(b.messages, msg)
		m.s.changed()
		return nil
	})
}

func (m mail) List(_ context.Context, team, owner string) (out []store.Message, err error) {
	err = m.with(team, owner, func(b *box, _ string) error {
		out = slices.Clone(b.messages)
		return nil
	})
	return out, err
}

func (m mail) MarkRead(_ context.Context, team, owner string, ids []string) error {
	return m.with(team, owner, func(b *box, _ string) error {
		for i := range b.messages {
			b.messages[i].Read = b.messages[i].Read || slices.Contains(ids, b.messages[i].ID)
		}
		m.s.changed()
		return nil
	})
}

func (m mail) Prune(_ context.Context, team, owner string, keep int) (n int, err error) {
	err = m.with(team, owner, func(b *box, _ string) error {
		leave := -max(keep, 0)
		for _, msg := range b.messages {
			if msg.Read {
				leave++
			}
		}
		var kept []store.Message
		for _, msg := range b.messages {
			if msg.Read && n < leave {
				b.archive = append(b.archive, msg)
				n++
			} else {
				kept = append(kept, msg)
			}
		}
		b.messages = kept
		return nil
	})
	return n, err
}

func (m mail) Archive(_ context.Context, team, owner string) (n int, err error) {
	err = m.with(team, owner, func(b *box, _ string) error {
		n = len(b.messages)
		b.archive, b.messages = append(b.archive, b.messages...), nil
		return nil
	})
	return n, err
}

func (m mail) Watch(ctx context.Context, team, owner string) (<-chan struct{}, error) {
	err := m.with(team, owner, func(*box, string) error { return nil })
	if err != nil {
		return nil, err
	}
	return m.s.watch(ctx), nil
}
