// Package ledger remembers which messages have been handed over, and archives
// messages that leave a mailbox. Both kinds of mailbox use it: the boxes
// themselves may be rewritten by other programs, the ledger is ours alone.
//
// A ledger is a file of ids, one a line; an archive is a file of messages in the
// form they had in the box, one a line. Both only grow at their ends, and are
// synced before the caller changes the box: what is interrupted between the two
// is done again, never lost.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// maxBytes is the size from which a ledger loses its older half. 1 MiB are some
// 28000 ids; a box is never that much behind.
const maxBytes = 1 << 20

// Ledger keeps the ledgers and archives of all teams below one base folder. It
// is safe for concurrent use.
type Ledger struct {
	dir *files.Dir

	mu   sync.Mutex
	read map[string]*known // by file
}

// known is what was read of one ledger so far.
type known struct {
	file fs.FileInfo
	size int64 // bytes of whole lines
	ids  map[string]bool
}

// New returns the ledgers below d, the base folder.
func New(d *files.Dir) *Ledger { return &Ledger{dir: d, read: map[string]*known{}} }

// Add records ids as handed over to owner. The caller holds the lock of the box.
func (l *Ledger) Add(team, owner string, ids []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := ledgerFile(team, owner)
	k, err := l.refresh(name)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	added := map[string]bool{}
	for _, id := range ids {
		if id = line(id); !k.ids[id] && !added[id] {
			added[id] = true
			b.WriteString(id + "\n")
		}
	}
	if b.Len() == 0 {
		return nil
	}
	text := b.Bytes()
	if k.file != nil && k.size != k.file.Size() { // a torn line of a killed writer
		text = append([]byte("\n"), text...)
	}
	if k.size > maxBytes {
		return l.shorten(name, text)
	}
	return l.dir.Append(name, text)
}

// Flag flags those messages of owner's box as read that were handed over before,
// whatever another program has written since.
func (l *Ledger) Flag(team, owner string, box []store.Message) error {
	if !slices.ContainsFunc(box, func(m store.Message) bool { return !m.Read }) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k, err := l.refresh(ledgerFile(team, owner))
	if err != nil || len(k.ids) == 0 {
		return err
	}
	for i := range box {
		box[i].Read = box[i].Read || k.ids[line(box[i].ID)]
	}
	return nil
}

// Archive appends messages to the archive of owner's box. The caller holds the
// lock of the box.
func (l *Ledger) Archive(team, owner string, messages []json.RawMessage) error {
	if len(messages) == 0 {
		return nil
	}
	var b bytes.Buffer
	b.WriteByte('\n') // ends a torn line; empty lines mean nothing
	for _, m := range messages {
		if err := json.Compact(&b, m); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	return l.dir.Append(Folder(team)+"/archive/"+owner+".jsonl", b.Bytes())
}

// Folder is where our own records of a team are, below the base folder.
func Folder(team string) string { return "leadlight/" + team }

func ledgerFile(team, owner string) string { return Folder(team) + "/ledger/" + owner }

// refresh reads what was added to a ledger since the last time.
func (l *Ledger) refresh(name string) (*known, error) {
	k := l.read[name]
	if k == nil {
		k = &known{ids: map[string]bool{}}
		l.read[name] = k
	}
	f, err := l.dir.OpenFile(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		*k = known{ids: map[string]bool{}}
		return k, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, files.Explain("read", l.dir.Join(name), err)
	}
	if k.file == nil || !os.SameFile(k.file, info) || info.Size() < k.size {
		*k = known{ids: map[string]bool{}}
	}
	k.file = info
	if info.Size()-k.size > files.MaxFile {
		return nil, files.TooLarge(l.dir.Join(name), info.Size(), files.MaxFile)
	}
	rest, err := io.ReadAll(io.NewSectionReader(f, k.size, info.Size()-k.size))
	if err != nil {
		return nil, files.Explain("read", l.dir.Join(name), err)
	}
	whole := rest[:bytes.LastIndexByte(rest, '\n')+1]
	for id := range strings.Lines(string(whole)) {
		k.ids[strings.TrimSuffix(id, "\n")] = true
	}
	k.size += int64(len(whole))
	return k, nil
}

// shorten drops the older half of a ledger and adds text.
func (l *Ledger) shorten(name string, text []byte) error {
	data, err := l.dir.Read(name)
	if err != nil {
		return err
	}
	data = data[len(data)/2:]
	data = data[bytes.IndexByte(data, '\n')+1:]
	p, err := l.dir.Prepare(name, append(data, text...))
	if err != nil {
		return err
	}
	return p.Commit()
}

// line is the form of an id in the ledger: itself, or its hash if it could break
// the file.
func line(id string) string {
	if id != "" && len(id) <= 200 && !strings.ContainsFunc(id, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}
