package memory

import (
	"context"
	"slices"

	"github.com/leadlight-dev/leadlight/teams/store"
)

type mail struct{ s *Store }

type box struct {
	owner    string
	messages []store.Message
	archive  []store.Message
}

// change runs do on a box, under the lock.
func (m mail) change(name, owner string, do func(b *box) error) error {
	owner, err := store.Owner(name, owner)
	if err != nil {
		return err
	}
	return m.s.change(name, func(t *team) error {
		if t.boxes[owner] == nil {
			t.boxes[owner] = &box{owner: owner}
		}
		return do(t.boxes[owner])
	})
}

func (m mail) Put(_ context.Context, name, to string, msg store.Message) (store.Message, error) {
	return msg, m.change(name, to, func(b *box) error {
		if err := store.PrepareMessage(&msg, b.owner, store.Now()); err != nil {
			return err
		}
		if len(msg.Text) > store.MaxMessage && len(b.messages) > 0 {
			return store.TooLong(len(msg.Text))
		}
		b.messages = append(b.messages, msg)
		return nil
	})
}

func (m mail) List(_ context.Context, name, owner string) (out []store.Message, err error) {
	owner, err = store.Owner(name, owner)
	if err != nil {
		return nil, err
	}
	err = m.s.with(name, func(t *team) error {
		if b := t.boxes[owner]; b != nil {
			out = slices.Clone(b.messages)
		}
		return nil
	})
	return out, err
}

func (m mail) MarkRead(_ context.Context, name, owner string, ids []string) error {
	return m.change(name, owner, func(b *box) error {
		for i := range b.messages {
			b.messages[i].Read = b.messages[i].Read || slices.Contains(ids, b.messages[i].ID)
		}
		return nil
	})
}

func (m mail) Prune(_ context.Context, name, owner string, keep int) (n int, err error) {
	err = m.change(name, owner, func(b *box) error {
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

func (m mail) Archive(_ context.Context, name, owner string) (n int, err error) {
	err = m.change(name, owner, func(b *box) error {
		n = len(b.messages)
		b.archive, b.messages = append(b.archive, b.messages...), nil
		return nil
	})
	return n, err
}

func (m mail) Watch(ctx context.Context, name, owner string) (<-chan struct{}, error) {
	if _, err := store.Owner(name, owner); err != nil {
		return nil, err
	}
	return m.s.watchTeam(ctx, name)
}
