// Package maildir keeps mail as one file a message:
//
//	teams/<team>/inbox/<agent>/msg-<nanoseconds>-<id>.json
//
// A message is put there by temporary file and rename, so that sending costs the
// same whatever the box holds and takes no lock. The name gives the order: the
// time of sending, which never goes back within one sender. What has been handed
// over goes into the archive and leaves the folder. The fields are id, from, to,
// type, content, timestamp, and, where there are any, summary and color; text is
// read in the place of content, too.
package maildir

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/ledger"
)

// Options are the settings of a store. The zero value works.
type Options struct {
	LockTimeout time.Duration  // longest wait for a lock; 0: 15 s
	Watcher     *files.Watcher // nil: one of its own
}

// Mail is a store.Mail below one base folder. It is safe for concurrent use.
type Mail struct {
	dir    *files.Dir
	opts   Options
	ledger *ledger.Ledger

	mu   sync.Mutex
	last int64 // nanoseconds of the newest message we sent
}

var _ store.Mail = (*Mail)(nil)

// New returns the mail below d, the base folder.
func New(d *files.Dir, opts Options) *Mail {
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = 15 * time.Second
	}
	opts.Watcher = cmp.Or(opts.Watcher, new(files.Watcher))
	return &Mail{dir: d, opts: opts, ledger: ledger.New(d)}
}

// check finds the folder of a box, which need not exist yet. The team must.
func (m *Mail) check(team, owner string) (dir, canonical string, err error) {
	if owner, err = store.Owner(team, owner); err != nil {
		return "", "", err
	}
	if _, err := m.dir.Lstat("teams/" + team + "/config.json"); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = store.NoTeam(team)
		}
		return "", "", err
	}
	return "teams/" + team + "/inbox/" + owner, owner, nil
}

// Put stores a message.
func (m *Mail) Put(ctx context.Context, team, to string, msg store.Message) (store.Message, error) {
	dir, to, err := m.check(team, to)
	if err != nil {
		return msg, err
	}
	kind := typeOnDisk(msg)
	if err := store.PrepareMessage(&msg, to, store.Now()); err != nil {
		return msg, err
	}
	if len(msg.Text) > store.MaxMessage {
		if names, err := m.names(dir); err != nil || len(names) > 0 {
			return msg, errors.Join(err, store.TooLong(len(msg.Text)))
		}
	}
	data := rawjson.Pretty(rawjson.Encode(letter{
		ID: msg.ID, From: msg.From, To: to, Type: kind, Content: msg.Text, Timestamp: store.FormatTime(msg.Timestamp),
		Summary: msg.Summary, Color: msg.Color,
	}), "")
	// In the folder of the team as it is now: a deleted one does not come back by this.
	folder, err := m.dir.Sub("teams/" + team)
	if errors.Is(err, fs.ErrNotExist) {
		return msg, store.NoTeam(team)
	}
	if err != nil {
		return msg, err
	}
	defer folder.Close()
	name := fmt.Sprintf("inbox/%s/msg-%019d-%s.json", to, m.tick(m.newest(dir)), uuid.NewString())
	if err = folder.Write(ctx, name, data); errors.Is(err, fs.ErrNotExist) { // deleted in this moment
		err = store.NoTeam(team)
	}
	return msg, err
}

// maxAhead is by how much the time of a message may be ahead and still be one of before the
// clock was set back.
const maxAhead = 48 * time.Hour

// glance is how many messages of a box tell whether the clock was set back since they came: to
// look at all of a full box would make each message dearer than the one before.
const glance = 64

// newest returns the latest time of the messages in a box, exactly if it is still to come.
func (m *Mail) newest(dir string) int64 {
	names, _ := m.dir.SomeNames(dir, glance) // who reads the box says what is wrong
	last := latest(names)
	if len(names) == glance && last > time.Now().UnixNano() {
		names, _ = m.names(dir)
		last = latest(names)
	}
	return last
}

// latest returns the latest time in the names of messages, but none that is too far ahead.
func latest(names []string) (last int64) {
	limit := time.Now().Add(maxAhead).UnixNano()
	for _, name := range names {
		digits, _, _ := strings.Cut(strings.TrimPrefix(name, "msg-"), "-")
		if at, err := strconv.ParseInt(digits, 10, 64); err == nil && len(digits) == 19 && at < limit {
			last = max(last, at)
		}
	}
	return last
}

// tick returns the time in nanoseconds, later than any it returned before and than that of
// a message that is there: the clock may have been set back since.
func (m *Mail) tick(there int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = max(m.last+1, time.Now().UnixNano(), there+1)
	return m.last
}

// names lists the messages of a box in their order.
func (m *Mail) names(dir string) ([]string, error) {
	entries, err := m.dir.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if letterID(e.Name()) != "" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// item is one message in a box, and its file.
type item struct {
	name string
	raw  []byte
	msg  store.Message
	bad  error
}

func (m *Mail) items(ctx context.Context, dir, owner string) ([]item, error) {
	names, err := m.names(dir)
	if err != nil {
		return nil, err
	}
	out := make([]item, 0, len(names))
	for _, name := range names {
		file := path.Join(dir, name)
		raw, err := m.dir.ReadRetry(ctx, file, rawjson.Valid)
		if errors.Is(err, fs.ErrNotExist) {
			continue // handed over meanwhile
		}
		it, what := item{name: name, raw: raw}, "cannot be read:"
		if err == nil {
			what = "is damaged"
			it.msg, err = parse(raw, name, owner)
		}
		if err != nil {
			it.bad = fault.New(fault.CorruptFile, "%s %s %w", m.dir.Join(file), what, err).
				WithHint("its bytes are kept; repair it or move it away")
		}
		out = append(out, it)
	}
	return out, ctx.Err()
}

// List returns the messages that have not been handed over. A damaged one fails
// it only if no whole one is there: the others go on, and the first says what is odd.
func (m *Mail) List(ctx context.Context, team, owner string) ([]store.Message, error) {
	dir, owner, err := m.check(team, owner)
	if err != nil {
		return nil, err
	}
	items, err := m.items(ctx, dir, owner)
	if err != nil {
		return nil, err
	}
	var bad []error
	at := map[string]int{}
	out := make([]store.Message, 0, len(items))
	for _, it := range items {
		if it.bad != nil {
			bad = append(bad, it.bad)
			continue
		}
		if i, again := at[it.msg.ID]; again {
			out[i].Doubled(it.msg)
			continue
		}
		at[it.msg.ID] = len(out)
		out = append(out, it.msg)
	}
	if len(out) == 0 && len(bad) > 0 {
		return nil, bad[0]
	}
	for _, why := range bad {
		out[0].Odd = append(out[0].Odd, "another one is not shown: "+why.Error())
	}
	return out, m.ledger.Flag(team, owner, out)
}

// MarkRead records messages as handed over and moves them into the archive.
func (m *Mail) MarkRead(ctx context.Context, team, owner string, ids []string) error {
	dir, owner, err := m.check(team, owner)
	if err != nil || len(ids) == 0 {
		return err
	}
	handed := make(map[string]bool, len(ids))
	for _, id := range ids {
		handed[id] = true
	}
	_, err = m.clear(ctx, team, owner, dir, "mark read", ids, func(msg store.Message) bool { return handed[msg.ID] })
	return err
}

// Prune does nothing: messages that were read are in the archive already.
func (m *Mail) Prune(_ context.Context, team, owner string, _ int) (int, error) {
	_, _, err := m.check(team, owner)
	return 0, err
}

// Archive moves the whole box into the archive.
func (m *Mail) Archive(ctx context.Context, team, owner string) (int, error) {
	dir, owner, err := m.check(team, owner)
	if err != nil {
		return 0, err
	}
	return m.clear(ctx, team, owner, dir, "archive inbox", nil, func(store.Message) bool { return true })
}

// clear moves messages into the archive, under the lock of the box. The ids are
// entered in the ledger first.
func (m *Mail) clear(ctx context.Context, team, owner, dir, verb string, ids []string, which func(store.Message) bool) (int, error) {
	held, err := lock.Acquire(ctx, m.dir, ledger.Folder(team)+"/locks/inbox-"+owner, verb, m.opts.LockTimeout)
	if err != nil {
		return 0, err
	}
	defer held.Release()
	if len(ids) > 0 {
		if err := m.ledger.Add(team, owner, ids); err != nil {
			return 0, err
		}
	}
	items, err := m.items(ctx, dir, owner)
	if err != nil {
		return 0, err
	}
	var raws []json.RawMessage
	var names []string
	for _, it := range items {
		if it.bad == nil && which(it.msg) {
			raws, names = append(raws, bytes.TrimPrefix(it.raw, []byte("\ufeff"))), append(names, it.name)
		}
	}
	if err := m.ledger.Archive(team, owner, raws); err != nil {
		return 0, err
	}
	for i, name := range names {
		if err := m.dir.Remove(path.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return i, err
		}
	}
	return len(names), nil
}

// Watch hints at changes of a box.
func (m *Mail) Watch(ctx context.Context, team, owner string) (<-chan struct{}, error) {
	dir, _, err := m.check(team, owner)
	if err != nil {
		return nil, err
	}
	return m.opts.Watcher.Watch(ctx, []string{m.dir.Join(dir)}, nil)
}
