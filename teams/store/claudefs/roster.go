package claudefs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
	"github.com/leadlight-dev/leadlight/teams/store/ledger"
)

type roster struct{ f *FS }

const rosterLock = "roster"

func rosterFile(team string) file { return file{name: configFile(team), check: checkObject} }

// Create makes teams/<team> with a roster and an empty folder for mail, and
// tasks/<team>. Empty folders that are there already are used; mail and tasks that an
// earlier team of that name left are put aside, into the archive.
func (r roster) Create(ctx context.Context, t store.Team) error {
	if err := store.CheckCreate(t); err != nil {
		return err
	}
	if r.f.exists(configFile(t.Name)) {
		return store.TeamExists(t.Name)
	}
	held, err := r.f.lock(ctx, t.Name, rosterLock, "create team")
	if err != nil {
		return err
	}
	defer held.Release()
	if err := r.clear(t.Name); err != nil {
		return err
	}
	inbox := "inboxes"
	if t.Ours.Mailbox == store.MailboxMaildir {
		inbox = "inbox"
	}
	folder := path.Join("teams", t.Name)
	var made []string // what is not there yet, from the inside out
	for _, dir := range []string{path.Join(folder, inbox), folder, path.Join("tasks", t.Name)} {
		if !r.f.exists(dir) {
			made = append(made, dir)
		}
	}
	for _, dir := range []string{path.Join(folder, inbox), path.Join("tasks", t.Name)} {
		if err = r.f.dir.MkdirAll(dir); err != nil {
			break
		}
	}
	data := document.NewTeam(t)
	if err == nil {
		err = r.f.edit(ctx, rosterFile(t.Name), func(old []byte) ([]byte, error) {
			if old != nil {
				return nil, store.TeamExists(t.Name)
			}
			return data, nil
		})
	}
	if err != nil && fault.CodeOf(err) != fault.TeamExists {
		for _, dir := range made {
			_ = r.f.dir.Remove(dir) // succeeds only when it is empty
		}
	}
	return err
}

// clear makes room for a new team. The caller holds the lock of the roster.
func (r roster) clear(team string) error {
	if r.f.exists(configFile(team)) {
		return store.TeamExists(team)
	}
	if err := r.f.finishAll(team); err != nil {
		return err
	}
	aside, err := r.f.putAside(team)
	if aside != "" && r.f.opts.Notice != nil {
		r.f.opts.Notice("an earlier team " + team + " left mail, tasks or records; they are put aside in " + aside)
	}
	return err
}

// Get reads one roster.
func (r roster) Get(ctx context.Context, team string) (store.Team, error) {
	if err := store.CheckTeam(team); err != nil {
		return store.Team{}, err
	}
	data, err := r.f.read(ctx, rosterFile(team))
	if absent(err) {
		return store.Team{}, store.NoTeam(team)
	}
	if err != nil {
		return store.Team{}, err
	}
	open, err := r.f.opened(team, data)
	if err != nil {
		return store.Team{}, err
	}
	t := open.Read()
	t.Path = r.f.dir.Join(configFile(team))
	return t, nil
}

// readRoster is a roster as it was read before, and its bytes.
type readRoster struct {
	data []byte
	team *document.Team
}

// opened parses a roster, but not the same bytes again.
func (f *FS) opened(team string, data []byte) (*document.Team, error) {
	f.mu.Lock()
	last := f.rosters[team]
	f.mu.Unlock()
	if last.team != nil && bytes.Equal(last.data, data) {
		return last.team, nil
	}
	t, err := document.OpenTeam(team, data)
	if err == nil && len(data) <= maxKept {
		f.mu.Lock()
		f.rosters[team] = readRoster{data, t}
		f.mu.Unlock()
	}
	return t, err
}

func absent(err error) bool { return missing(err) || errors.Is(err, syscall.ENOTDIR) }

// List returns the folders below teams/ that have a roster, whole or not. Folders
// that a client is about to remove are passed over.
func (r roster) List(ctx context.Context) ([]string, error) {
	names, err := r.folders()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, err := r.f.dir.Lstat(configFile(name))
		return err != nil && absent(err)
	})
	return names, ctx.Err()
}

// folders returns the folders below teams/ that have a roster, or may get one.
func (r roster) folders() (names []string, err error) {
	entries, err := r.f.entries("teams")
	for _, e := range entries {
		if name := e.Name(); store.CheckTeam(name) == nil && !strings.Contains(name, deletedMark) {
			names = append(names, name)
		}
	}
	return names, err
}

// Update changes one roster.
func (r roster) Update(ctx context.Context, team string, change func(*store.Team) error) error {
	if _, err := r.f.where(team); err != nil {
		return err
	}
	held, err := r.f.lock(ctx, team, rosterLock, "change team")
	if err != nil {
		return err
	}
	defer held.Release()
	return r.f.edit(ctx, rosterFile(team), func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, store.NoTeam(team)
		}
		t, err := document.OpenTeam(team, old)
		if err != nil {
			return nil, err
		}
		if changed, err := t.Edit(change); err != nil || !changed {
			return old, err
		}
		return t.Bytes(), nil
	})
}

// Watch hints at changes of one roster, or of all.
func (r roster) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	if team != "" {
		if err := store.CheckTeam(team); err != nil {
			return nil, err
		}
		name := configFile(team)
		return r.f.watcher.WatchFile(ctx, r.f.dir.Join(name), func() string { return r.f.stat(name) })
	}
	all := func() []string {
		names, _ := r.folders() // what cannot be listed now is looked for again at the next event
		dirs := []string{r.f.dir.Join("teams")}
		for _, n := range names {
			dirs = append(dirs, r.f.dir.Join("teams/"+n))
		}
		return dirs
	}
	return r.f.watcher.WatchSet(ctx, all, func() string {
		names, _ := r.List(ctx)
		var b strings.Builder
		for _, n := range names {
			b.WriteString(n + r.f.stat(configFile(n)) + "\n")
		}
		return b.String()
	})
}

// stat describes a version of a file for polling.
func (f *FS) stat(name string) string {
	info, err := f.dir.Lstat(name)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(signatureOf(info))
}

// Delete removes a team. All its folders are first renamed, which can be taken
// back, and then removed.
func (r roster) Delete(ctx context.Context, team string) error {
	if err := store.CheckTeam(team); err != nil {
		return err
	}
	if info, err := r.f.dir.Lstat("teams/" + team); err == nil && !info.IsDir() {
		return r.f.dir.Remove("teams/" + team)
	}
	p, err := r.f.where(team)
	if err != nil {
		return err
	}
	held, err := r.f.lock(ctx, team, rosterLock, "delete team")
	if err != nil {
		return err
	}
	defer held.Release()
	data, err := r.f.read(ctx, rosterFile(team))
	if absent(err) {
		return store.NoTeam(team)
	}
	if err != nil {
		return err
	}
	t, err := document.ReadTeam(team, data)
	if err != nil {
		return err
	}
	// The lock of the client keeps it from writing into what is moved away. Where there is no
	// room for one, the client has none either, and room is what this makes.
	folder, err := lock.Folder(ctx, r.f.dir, configFile(team), r.f.opts.LockTimeout)
	if err != nil && fault.CodeOf(err) != fault.DiskFull {
		return err
	}
	moved, err := r.f.moveAway(p)
	if err != nil {
		folder.Release()
		return err
	}
	r.f.forget(p)
	if t.Ours.Once {
		moved = append(moved, ledger.Folder(team))
	}
	if err := r.f.remove(moved); err != nil {
		return fmt.Errorf("team %s is deleted, but not all of its files (leadlight gc removes them): %w", team, err)
	}
	return nil
}
