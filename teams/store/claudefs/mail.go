package claudefs

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

// mail is the mail of one team.
type mail struct {
	f *FS
	p *place
}

// box names one mailbox: its team's place, its owner, its file.
type box struct {
	*place
	owner string
	file
}

func (b box) lockName() string { return "inbox-" + b.stem(b.owner) }

// open finds a mailbox, which need not exist yet.
func (m mail) open(owner string) (box, error) {
	owner, err := store.CheckAddress(m.p.local(owner))
	if err != nil {
		return box{}, err
	}
	return box{m.p, owner, file{name: m.p.box(owner), check: checkBox}}, nil
}

// Put appends a message.
func (m mail) Put(ctx context.Context, team, to string, msg store.Message) (store.Message, error) {
	b, err := m.open(to)
	if err != nil {
		return msg, err
	}
	if err := store.PrepareMessage(&msg, b.owner, store.Now()); err != nil {
		return msg, err
	}
	raw := document.Compose(&msg, messageTable()).Raw()
	dir, err := m.f.folder(ctx, b.place, path.Dir(b.name))
	if err != nil {
		return msg, err
	}
	defer dir.Close()
	held, err := m.f.lock(ctx, team, b.lockName(), "send")
	if err != nil {
		return msg, err
	}
	defer held.Release()
	err = m.f.editIn(ctx, dir, b.file, func(old []byte) ([]byte, error) {
		if len(msg.Text) > store.MaxMessage && !blank(old) && string(old) != "[]" {
			return nil, store.TooLong(len(msg.Text))
		}
		return appended(old, raw), nil
	})
	if missing(err) { // deleted in this moment
		err = store.NoTeam(team)
	}
	return msg, err
}

// List returns the messages of a box. One that stands in it several times, as
// some clients leave it, is one message: unread only if no copy was read.
func (m mail) List(ctx context.Context, team, owner string) ([]store.Message, error) {
	b, err := m.open(owner)
	if err != nil {
		return nil, err
	}
	var entries []entry
	b.check = func(data []byte) (err error) { // it is parsed once
		if len(bytes.TrimSpace(data)) == 0 {
			return errBlank
		}
		entries, err = m.parse(b, data)
		return err
	}
	if _, err := m.f.read(ctx, b.file); missing(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	out := make([]store.Message, 0, len(entries))
	at := make(map[string]int, len(entries))
	for _, e := range entries {
		if !e.ok {
			continue
		}
		if i, again := at[e.msg.ID]; again {
			out[i].Read = out[i].Read || e.msg.Read
			out[i].Doubled(e.msg)
			continue
		}
		at[e.msg.ID] = len(out)
		out = append(out, e.msg)
	}
	return out, m.f.ledger.Flag(team, b.owner, out)
}

// parse is parseBox, in which the entries that stood there at the last look are not parsed again.
func (m mail) parse(b box, data []byte) ([]entry, error) {
	m.f.mu.Lock()
	last := m.f.boxes[b.name]
	m.f.mu.Unlock()
	entries, ok := last.grown(data, b.owner)
	if !ok {
		var err error
		if entries, err = parseBox(data, b.owner); err != nil {
			return nil, err
		}
	}
	if len(data) <= maxKept && !blank(data) {
		m.f.mu.Lock()
		m.f.boxes[b.name] = readBox{b.team, b.owner, openBox(data), entries}
		m.f.mu.Unlock()
	}
	return entries, nil
}

// MarkRead records messages as handed over and sets their read flags. In a team
// we lead, a teammate's box that has grown too large loses its read messages to the
// archive on the same occasion. The lead's keeps them: they may be requests.
func (m mail) MarkRead(ctx context.Context, team, owner string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	b, err := m.open(owner)
	if err != nil {
		return err
	}
	held, err := m.f.lock(ctx, team, b.lockName(), "mark read")
	if err != nil {
		return err
	}
	defer held.Release()
	if err := m.f.ledger.Add(team, b.owner, ids); err != nil {
		return err
	}
	if !m.f.exists(b.name) {
		return nil
	}
	n, err := m.flag(ctx, b, ids)
	above := m.f.opts.ArchiveAbove
	if err != nil || above <= 0 || n <= above || b.ours.Schema == 0 || store.SameName(b.owner, b.lead) {
		return err
	}
	_, err = m.prune(ctx, b, above, above/2)
	return err
}

// Prune moves read messages, all but the newest keep, into the archive.
func (m mail) Prune(ctx context.Context, team, owner string, keep int) (int, error) {
	return m.locked(ctx, team, owner, "prune inbox", func(b box) (int, error) { return m.prune(ctx, b, 0, max(keep, 0)) })
}

// Archive moves the whole box into the archive.
func (m mail) Archive(ctx context.Context, team, owner string) (int, error) {
	return m.locked(ctx, team, owner, "archive inbox", func(b box) (int, error) {
		n, err := m.move(ctx, b, func(entries []entry) (going []entry, stay []json.RawMessage) { return entries, nil })
		if err == nil {
			err = m.f.discard(ctx, b.file, boxDocument(nil))
		}
		return n, err
	})
}

// locked does something with a box, if there is one, under its lock.
func (m mail) locked(ctx context.Context, team, owner, verb string, do func(b box) (int, error)) (int, error) {
	b, err := m.open(owner)
	if err != nil || !m.f.exists(b.name) {
		return 0, err
	}
	held, err := m.f.lock(ctx, team, b.lockName(), verb)
	if err != nil {
		return 0, err
	}
	defer held.Release()
	return do(b)
}

// move moves entries of a box into the archive: pick tells which go, and what stays. The caller
// holds the lock.
func (m mail) move(ctx context.Context, b box, pick func([]entry) (going []entry, stay []json.RawMessage)) (n int, err error) {
	archived := map[string]bool{}
	err = m.f.edit(ctx, b.file, func(old []byte) ([]byte, error) {
		n = 0
		entries, err := parseBox(old, b.owner)
		if err != nil {
			return nil, damaged(m.f.dir.Join(b.name), old, err)
		}
		going, stay := pick(entries)
		if len(going) == 0 {
			return old, nil
		}
		if err := m.toArchive(b, going, archived); err != nil {
			return nil, err
		}
		n = len(going)
		return boxDocument(stay), nil
	})
	return n, err
}

// prune archives the read messages of a box with more than above entries, but
// for the newest keep of them. The caller holds the lock.
func (m mail) prune(ctx context.Context, b box, above, keep int) (int, error) {
	return m.move(ctx, b, func(entries []entry) (going []entry, stay []json.RawMessage) {
		most := readOnes(entries) - keep
		if len(entries) <= above {
			most = 0
		}
		for _, e := range entries {
			if e.mayGo() && len(going) < most {
				going = append(going, e)
			} else {
				stay = append(stay, e.raw)
			}
		}
		return going, stay
	})
}

// mayGo tells whether a message was read, and no other's id counts it: see copies.
func (e entry) mayGo() bool {
	return e.ok && e.msg.Read && !(e.msg.Timestamp.IsZero() && strings.HasPrefix(e.msg.ID, "derived-"))
}

func readOnes(entries []entry) int {
	n := 0
	for _, e := range entries {
		if e.mayGo() {
			n++
		}
	}
	return n
}

// toArchive archives the entries that an earlier try of the same edit, which done
// remembers, has not archived yet.
func (m mail) toArchive(b box, entries []entry, done map[string]bool) error {
	var raws []json.RawMessage
	for _, e := range entries {
		if !done[string(e.raw)] {
			raws = append(raws, e.raw)
		}
	}
	if err := m.f.ledger.Archive(b.team, b.owner, raws); err != nil {
		return err
	}
	for _, raw := range raws {
		done[string(raw)] = true
	}
	return nil
}

// flag sets the read flags of messages and returns how many entries the box has. The
// caller holds the lock.
func (m mail) flag(ctx context.Context, b box, ids []string) (entries int, err error) {
	err = m.f.edit(ctx, b.file, func(old []byte) (flagged []byte, err error) {
		if flagged, entries, err = markedRead(old, b.owner, ids); err != nil {
			return nil, damaged(m.f.dir.Join(b.name), old, err)
		}
		return flagged, nil
	})
	return entries, err
}

// Watch hints at changes of a box.
func (m mail) Watch(ctx context.Context, team, owner string) (<-chan struct{}, error) {
	b, err := m.open(owner)
	if err != nil {
		return nil, err
	}
	return m.f.watcher.WatchFile(ctx, m.f.dir.Join(b.name), func() string { return m.f.stat(b.name) })
}
