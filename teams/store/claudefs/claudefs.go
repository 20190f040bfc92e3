// Package claudefs keeps rosters, mail and tasks in the files of Claude Code's
// agent teams, so that its sessions and ours can share a team:
//
//	teams/<team>/config.json           the roster
//	teams/<team>/inboxes/<agent>.json  the mailboxes
//	tasks/<list>/<id>.json             the tasks, with .lock and .highwatermark
//	leadlight/<team>/                  ours: locks, ledger, archive
//
// The format of the first three is Claude Code's own, as observed from 2.1.41 to
// 2.1.332. What it does not define is kept as found, at every level; what we add
// lies where the client keeps it: in metadata, and in an object "leadlight" of a
// member.
//
// # Two kinds of lock
//
// Every change of a file first takes our lock (flock on a file below
// leadlight/<team>/locks, one for each guarded file). The new content is built
// and synced beside the file; then Claude Code's lock is taken, a folder
// <file>.lock, and inside it lie only a check that the file is unchanged and the
// rename: older clients lose their own write silently while that folder is
// there. If the file did change, the change is computed anew. A writer that has
// lost several such races in a row does its work inside the folder lock once, so
// that a busy neighbour cannot starve it.
//
// Reads take no lock. A file that does not parse is read again, as another
// program may be writing it in place, and at last once more under the folder
// lock.
package claudefs

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/ledger"
)

// DefaultLockTimeout is longer than the ten seconds after which a lock folder
// counts as left behind, so that one such folder fails nobody.
const DefaultLockTimeout = 15 * time.Second

// Options are the settings of a store. The zero value works.
type Options struct {
	LockTimeout  time.Duration // longest wait for a lock; 0: DefaultLockTimeout
	ArchiveAbove int           // entries from which a teammate's box, of a team we lead, loses its read ones to the archive; 0: never
	Log          *slog.Logger  // warnings; nil: none
	Notice       func(string)  // is told what a person should know; nil: nobody
}

// FS is a store below one base folder. It is safe for concurrent use.
type FS struct {
	dir     *files.Dir
	opts    Options
	ledger  *ledger.Ledger
	watcher *files.Watcher

	placing sync.Mutex // one place is looked for at a time

	mu      sync.Mutex
	places  map[string]*place
	lists   map[string]*taskCache
	rosters map[string]readRoster
	boxes   map[string]readBox
}

// Open opens the base folder (Claude Code's is ~/.claude) and makes it if there
// is none. The folder itself may be reached through links; below it none is
// followed.
func Open(base string, opts Options) (*FS, error) {
	dir, err := files.Open(base)
	if err != nil {
		return nil, err
	}
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = DefaultLockTimeout
	}
	return &FS{
		dir: dir, opts: opts, ledger: ledger.New(dir), watcher: &files.Watcher{Log: opts.Log},
		places: map[string]*place{}, lists: map[string]*taskCache{}, rosters: map[string]readRoster{}, boxes: map[string]readBox{},
	}, nil
}

// Roster returns the rosters.
func (f *FS) Roster() store.Roster { return roster{f} }

// Mail returns the mailboxes, each team's in the layout that it has chosen: Claude Code's,
// or one of the others, by their names.
func (f *FS) Mail(others map[string]store.Mail) store.Mail {
	return store.MailOf(func(_ context.Context, team string) (store.Mail, error) {
		p, err := f.where(team)
		if err != nil {
			return nil, err
		}
		layout := cmp.Or(p.ours.Mailbox, store.MailboxClaude)
		if layout == store.MailboxClaude {
			return mail{f, p}, nil
		}
		if other, ok := others[layout]; ok {
			return other, nil
		}
		return nil, fault.New(fault.Unsupported, "team %s keeps its mail in a layout %q that is not known here", team, store.Shown(layout)).
			WithHint("known are claude and maildir; perhaps a newer leadlight made the team")
	})
}

// Tasks returns the task lists.
func (f *FS) Tasks() store.Tasks { return tasks{f} }

// Dir returns the base folder.
func (f *FS) Dir() *files.Dir { return f.dir }

// Watcher returns the watcher of this store, to be shared with other stores on
// the same files: the system allows few.
func (f *FS) Watcher() *files.Watcher { return f.watcher }

// Close closes the base folder. Watches end with their contexts.
func (f *FS) Close() error { return f.dir.Close() }
