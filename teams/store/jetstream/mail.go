package jetstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/teams/store"
)

type mail struct{ e *Engine }

// Mail returns the mailboxes.
func (e *Engine) Mail() store.Mail { return mail{e} }

// letter is a message as it is stored. Parts says of a text that is too long for one
// message of the engine in how many parts it lies beside.
type letter struct {
	ID        string    `json:"id"`
	From      string    `json:"from"`
	To        string    `json:"to"`
	Text      string    `json:"text,omitempty"`
	Summary   string    `json:"summary,omitempty"`
	Color     string    `json:"color,omitempty"`
	Timestamp time.Time `json:"timestamp"`
	Parts     int       `json:"parts,omitempty"`
}

// post is the copy of the mail of a team.
type post struct {
	*mirror
	boxes map[string][]*parcel // by token, in order
}

// parcel is one message.
type parcel struct {
	entry  *entry
	letter letter
}

// post returns the copy of the mail of a team, as far as it has come.
func (e *Engine) post(ctx context.Context, in *teamCopy) (*post, error) {
	return copyOf[*post](ctx, e, "mail "+in.id, func() *mirror {
		p := &post{boxes: map[string][]*parcel{}}
		p.mirror = &mirror{stream: e.mail(), subjects: []string{e.subject("mail", in.id, "*")}, of: p, empty: func() { clear(p.boxes) }, take: func(subject string, x *entry) {
			new := &parcel{entry: x}
			if json.Unmarshal(x.value, &new.letter) != nil {
				e.log.Warn("a message on the engine is damaged and is passed over", "subject", subject, "number", x.rev)
				return
			}
			x.value = nil // the letter has it
			box := p.boxes[last(subject)]
			if at, found := slices.BinarySearchFunc(box, x.rev, func(o *parcel, rev uint64) int { return int(int64(o.entry.rev) - int64(rev)) }); !found {
				p.boxes[last(subject)] = slices.Insert(box, at, new)
			}
		}}
		return p.mirror
	})
}

// box is one mailbox, open.
type box struct {
	in    *teamCopy
	post  *post
	owner string
	token string
}

// open opens a mailbox with all that was written before, or before a hint came.
func (m mail) open(ctx context.Context, team, name string, hinted bool) (*box, error) {
	name, err := store.Owner(team, name)
	if err != nil {
		return nil, err
	}
	var p *post
	in, err := m.e.current(ctx, team, hinted, func(in *teamCopy) (*mirror, error) {
		found, err := m.e.post(ctx, in)
		if err != nil {
			return nil, err
		}
		p = found
		return p.mirror, nil
	})
	return &box{in, p, name, token(name)}, err
}

// Put stores a message.
func (m mail) Put(ctx context.Context, team, to string, msg store.Message) (store.Message, error) {
	to, err := store.Owner(team, to)
	if err != nil {
		return msg, err
	}
	if err := store.PrepareMessage(&msg, to, m.e.now()); err != nil {
		return msg, err
	}
	in, err := m.e.team(ctx, team, false)
	if err != nil {
		return msg, err
	}
	if len(msg.Text) > store.MaxMessage {
		b, err := m.open(ctx, team, to, false)
		if err != nil {
			return msg, err
		}
		if list, _ := b.parcels(); len(list) > 0 {
			return msg, store.TooLong(len(msg.Text))
		}
	}
	return msg, m.put(ctx, in, msg)
}

func (m mail) put(ctx context.Context, in *teamCopy, msg store.Message) error {
	l := letter{msg.ID, msg.From, msg.To, msg.Text, msg.Summary, msg.Color, msg.Timestamp, 0}
	key := uuid.NewString()
	if size := int(m.e.nc.MaxPayload()) / 2; 2*len(msg.Text) > size { // quoting may double it
		size /= 2
		for text := msg.Text; text != ""; l.Parts++ {
			n := min(size, len(text))
			if _, err := m.e.put(ctx, write{subject: m.e.subject("part", in.id, key, strconv.Itoa(l.Parts)), value: []byte(text[:n])}); err != nil {
				return err
			}
			text = text[n:]
		}
		l.Text = key
	}
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	// A message of one id is put into one box once: who lost the answer may send it again.
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", in.id, token(msg.To), msg.ID))
	w := write{subject: m.e.subject("mail", in.id, token(msg.To)), value: data, id: hex.EncodeToString(sum[:])}
	if _, err := m.e.put(ctx, w); err != nil {
		return err
	}
	return m.e.still(ctx, in)
}

// message reads a whole message.
func (m mail) message(ctx context.Context, b *box, p *parcel, read bool, ahead time.Duration) (store.Message, error) {
	l := p.letter
	msg := store.Message{ID: l.ID, From: l.From, To: b.owner, Text: l.Text, Summary: l.Summary, Color: l.Color, Timestamp: here(ahead, l.Timestamp, p.entry.at), Read: read, Type: "message"}
	if l.Parts == 0 {
		return msg, nil
	}
	var text []byte
	for i := range l.Parts {
		x, err := m.e.last(ctx, m.e.mail(), m.e.subject("part", b.in.id, l.Text, strconv.Itoa(i)))
		if err != nil {
			return msg, err
		}
		if x == nil {
			return msg, errGone
		}
		text = append(text, x.value...)
	}
	msg.Text = string(text)
	return msg, nil
}

// errGone says that a message is being removed.
var errGone = errors.New("the message is being removed")

// List reads a box.
func (m mail) List(ctx context.Context, team, name string) ([]store.Message, error) {
	b, err := m.open(ctx, team, name, store.FollowsHint(ctx))
	if err != nil {
		return nil, err
	}
	list, state := b.parcels()
	if len(list) == 0 {
		return nil, nil
	}
	ahead := m.e.ahead(ctx)
	var out []store.Message
	for _, p := range list {
		msg, err := m.message(ctx, b, p, state.Read.has(p.entry.rev), ahead)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, msg)
	}
	return out, nil
}

// Watch hints at new messages, and at what was read.
func (m mail) Watch(ctx context.Context, team, name string) (<-chan struct{}, error) {
	name, err := store.Owner(team, name)
	if err != nil {
		return nil, err
	}
	return m.e.watch(ctx, team, func(in *teamCopy) (*mirror, func(string) bool, error) {
		p, err := m.e.post(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		subject := m.e.subject("mail", in.id, token(name))
		return p.mirror, func(s string) bool { return s == subject }, nil
	})
}
