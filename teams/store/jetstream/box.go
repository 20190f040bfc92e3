package jetstream

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// boxState is what is known of a mailbox besides its messages: the entry in.ID.box.TOKEN.
// The numbers are those of the messages in the stream.
type boxState struct {
	Read   spans  `json:"read,omitempty"`   // handed over
	Gone   spans  `json:"gone,omitempty"`   // archived
	Before uint64 `json:"before,omitempty"` // all with a smaller number are archived, too
}

// spans are the messages of a box whose numbers lie between two, both included. Other
// boxes may have numbers in between.
type spans [][2]uint64

func (s spans) has(n uint64) bool {
	return slices.ContainsFunc(s, func(x [2]uint64) bool { return x[0] <= n && n <= x[1] })
}

// with adds those of the numbers of a box, all of them in order, that are chosen, and
// forgets those below the first.
func (s spans) with(all []uint64, chosen func(uint64) bool) spans {
	var out spans
	open := false
	for _, n := range all {
		switch in := chosen(n) || s.has(n); {
		case in && open:
			out[len(out)-1][1] = n
		case in:
			out, open = append(out, [2]uint64{n, n}), true
		default:
			open = false
		}
	}
	return out
}

func (s *boxState) gone(n uint64) bool { return n < s.Before || s.Gone.has(n) }

// fold says of the archived messages with which the box begins by one number which they
// are.
func (s *boxState) fold(all []uint64) {
	for _, n := range all {
		if !s.gone(n) {
			break
		}
		s.Before = max(s.Before, n+1)
	}
	s.Gone = s.Gone.with(all, func(uint64) bool { return false })
	s.Gone = slices.DeleteFunc(s.Gone, func(x [2]uint64) bool { return x[1] < s.Before })
}

// state reads what is known of the box. Called with the lock of the team's copy held.
func (b *box) state() (boxState, *entry, error) {
	var s boxState
	x := b.in.boxes[b.token]
	if x == nil {
		return s, nil, nil
	}
	if err := json.Unmarshal(x.value, &s); err != nil {
		return s, x, fault.New(fault.CorruptFile, "what was read of the mailbox of %s in team %s is damaged on the engine: %w", b.owner, b.in.name, err).
			WithHint("its bytes are kept; nats kv del %s in.%s.box.%s forgets it, and all messages are new again", b.in.e.bucket(), b.in.id, b.token)
	}
	return s, x, nil
}

// parcels lists the messages that are in the box.
func (b *box) parcels() ([]*parcel, boxState) {
	b.in.mu.Lock()
	s, _, _ := b.state() // a damaged one is told by whoever writes it
	b.in.mu.Unlock()
	b.post.mu.Lock()
	defer b.post.mu.Unlock()
	b.post.boxes[b.token] = slices.DeleteFunc(b.post.boxes[b.token], func(p *parcel) bool { return p.entry.rev < s.Before })
	var out []*parcel
	for _, p := range b.post.boxes[b.token] {
		if !s.gone(p.entry.rev) {
			out = append(out, p)
		}
	}
	return out, s
}

// numbers lists the messages of the box that the stream still has.
func (b *box) numbers() []uint64 {
	b.post.mu.Lock()
	defer b.post.mu.Unlock()
	var out []uint64
	for _, p := range b.post.boxes[b.token] {
		out = append(out, p.entry.rev)
	}
	return out
}

// note changes what is known of a box.
func (m mail) note(ctx context.Context, team, name, op string, change func(b *box, s *boxState) (bool, error)) error {
	return m.e.contend(ctx, op, func() error {
		b, err := m.open(ctx, team, name, false)
		if err != nil {
			return err
		}
		b.in.mu.Lock()
		s, x, err := b.state()
		b.in.mu.Unlock()
		if err != nil {
			return err
		}
		if changed, err := change(b, &s); err != nil || !changed {
			return err
		}
		value, err := json.Marshal(s)
		if err != nil {
			return err
		}
		w := over(x)
		w.subject, w.value = b.in.under+"box."+b.token, value
		y, err := m.e.put(ctx, w)
		if err != nil {
			return err
		}
		b.in.took(w.subject, y)
		return m.e.still(ctx, b.in)
	})
}

// MarkRead records messages as handed over.
func (m mail) MarkRead(ctx context.Context, team, name string, ids []string) error {
	return m.note(ctx, team, name, "mark messages as read", func(b *box, s *boxState) (bool, error) {
		read := map[uint64]bool{}
		list, _ := b.parcels()
		for _, p := range list {
			if slices.Contains(ids, p.letter.ID) {
				read[p.entry.rev] = true
			}
		}
		changed := false
		for n := range read {
			changed = changed || !s.Read.has(n)
		}
		s.Read = s.Read.with(b.numbers(), func(n uint64) bool { return read[n] })
		return changed, nil
	})
}

// Prune archives the read messages, but the newest.
func (m mail) Prune(ctx context.Context, team, name string, keep int) (int, error) {
	return m.archive(ctx, team, name, "prune the mailbox", func(list []*parcel, s boxState) []*parcel {
		read := slices.DeleteFunc(slices.Clone(list), func(p *parcel) bool { return !s.Read.has(p.entry.rev) })
		return read[:max(0, len(read)-max(keep, 0))]
	})
}

// Archive archives the whole box.
func (m mail) Archive(ctx context.Context, team, name string) (int, error) {
	return m.archive(ctx, team, name, "archive the mailbox", func(list []*parcel, _ boxState) []*parcel { return list })
}

// archive copies what is chosen into the archive, takes it out of the box, and removes it
// from the mail.
func (m mail) archive(ctx context.Context, team, name, op string, choose func([]*parcel, boxState) []*parcel) (int, error) {
	var moved []*parcel
	var from *box
	err := m.note(ctx, team, name, op, func(b *box, s *boxState) (bool, error) {
		list, _ := b.parcels()
		moved, from = choose(list, *s), b
		gone := map[uint64]bool{}
		for _, p := range moved {
			gone[p.entry.rev] = true
			data, err := json.Marshal(p.letter)
			if err != nil {
				return false, err
			}
			number := strconv.FormatUint(p.entry.rev, 10)
			w := write{subject: m.e.subject("archive", b.in.id, b.token), value: data, id: "archive-" + number}
			if _, err := m.e.put(ctx, w); err != nil {
				return false, err
			}
		}
		s.Gone = s.Gone.with(b.numbers(), func(n uint64) bool { return gone[n] })
		s.fold(b.numbers())
		return len(moved) > 0, nil
	})
	if err != nil {
		return 0, err
	}
	if len(moved) > 0 {
		m.discard(context.WithoutCancel(ctx), from)
	}
	return len(moved), nil
}

// discard removes from the stream those archived messages that nothing older keeps there.
// What stays is not in the box, and is removed with the next.
func (m mail) discard(ctx context.Context, b *box) {
	ctx, cancel := context.WithTimeout(ctx, retryLimit)
	defer cancel()
	b.in.mu.Lock()
	s, _, _ := b.state()
	b.in.mu.Unlock()
	if s.Before == 0 {
		return
	}
	subject := m.e.subject("mail", b.in.id, b.token)
	if err := m.e.purge(ctx, m.e.mail(), subject, s.Before); err != nil {
		m.e.log.Warn("archived messages are left in the mail", "subject", subject, "error", err)
	}
}
