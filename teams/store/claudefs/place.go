package claudefs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

// place says where the files of a team are.
//
// Claude Code makes folder names from a team's name in two ways: the roster's
// has only lower-case letters, digits and '-'; that of mail and tasks keeps
// upper case and '_'. So a team whose name is not plain has two folders below
// teams/. Teams we make have names on which both agree.
type place struct {
	team    string
	address string // what the roster calls the team, if that is another name
	lead    string // whose box is the lead's
	folder  string // of the mail, below teams/, and of the tasks, below tasks/
	ours    store.Ours

	damaged bool      // the roster cannot be read: nothing is known but the folder
	sig     signature // of the roster file from which this was read
}

func configFile(team string) string { return "teams/" + team + "/config.json" }

// local takes the team off an address.
func (p *place) local(name string) string { return store.LocalName(name, p.team, p.address) }

func (p *place) openTask(id string, data []byte) (store.Task, *rawjson.Object, error) {
	return document.OpenTask(id, data, p.team, p.address)
}

func (p *place) box(owner string) string {
	return "teams/" + p.folder + "/inboxes/" + p.stem(owner) + ".json"
}

// stem is the file name of a member. The client replaces what is not a letter,
// digit, '_' or '-'. It does so to letters of other scripts as well, which would
// put all such members into one box: their names are kept.
func (p *place) stem(owner string) string {
	if p.damaged || p.ours.Schema > 0 || strings.ContainsFunc(owner, func(r rune) bool { return r > 0x7f }) {
		return owner
	}
	return document.MailFolder(owner)
}

// where finds the place of a team: fault.InvalidName, fault.TeamNotFound. For a
// roster that cannot be read it is the place known before, or the plain one.
func (f *FS) where(team string) (*place, error) {
	if err := store.CheckTeam(team); err != nil {
		return nil, err
	}
	info, err := f.dir.Lstat(configFile(team))
	if missing(err) || errors.Is(err, syscall.ENOTDIR) {
		return nil, store.NoTeam(team)
	}
	if err != nil {
		return nil, err
	}
	sig := signatureOf(info)
	known := f.placed(team)
	if known != nil && known.sig == sig {
		return known, nil
	}
	f.placing.Lock() // many who ask at once for a large team read it once
	defer f.placing.Unlock()
	if known = f.placed(team); known != nil && known.sig == sig {
		return known, nil
	}
	p := &place{team: team, folder: team, sig: sig}
	t, err := f.parsed(team)
	switch {
	case err == nil:
		f.settle(p, t)
	case absent(err):
		return nil, store.NoTeam(team)
	case fault.CodeOf(err) != fault.CorruptFile && fault.CodeOf(err) != fault.VersionTooNew:
		return nil, err
	case known != nil:
		*p = *known
		p.sig = sig
	default:
		p.damaged = true
		if f.exists("teams/"+team+"/inbox") && !f.exists("teams/"+team+"/inboxes") {
			p.ours.Mailbox = store.MailboxMaildir
		}
	}
	f.mu.Lock()
	f.places[team] = p
	f.mu.Unlock()
	return p, nil
}

// settle completes a place by what the roster says.
func (f *FS) settle(p *place, t store.Team) {
	p.ours, p.address, p.lead = t.Ours, t.DisplayName, store.Lead
	if i := slices.IndexFunc(t.Members, t.IsLead); i >= 0 {
		p.lead = t.Members[i].Name
	}
	folder := document.MailFolder(t.DisplayName)
	if t.DisplayName != "" && document.RosterFolder(t.DisplayName) == p.team && !f.exists(configFile(folder)) {
		p.folder = folder
	}
}

// placed is the place that is known of a team, nil if none is.
func (f *FS) placed(team string) *place {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.places[team]
}

// parsed reads a roster. It waits for one that is just being written: where mail
// goes must not depend on the moment.
func (f *FS) parsed(team string) (store.Team, error) {
	data, err := f.read(context.Background(), rosterFile(team)) // bounded by itself
	if err != nil {
		return store.Team{}, err
	}
	t, err := f.opened(team, data)
	if err != nil {
		return store.Team{}, err
	}
	return t.Read(), nil
}

// folder opens a folder of a team that exists, and makes it if there is none. A writer
// never makes one itself: it might do so just after the team was deleted.
func (f *FS) folder(ctx context.Context, p *place, name string) (*files.Dir, error) {
	dir, err := f.dir.Sub(name)
	if !missing(err) {
		return dir, err
	}
	held, err := f.lock(ctx, p.team, rosterLock, "make folder")
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if !f.exists(configFile(p.team)) {
		return nil, store.NoTeam(p.team)
	}
	if err := f.dir.MkdirAll(name); err != nil {
		return nil, err
	}
	return f.dir.Sub(name)
}

func (f *FS) exists(name string) bool {
	_, err := f.dir.Lstat(name)
	return err == nil
}

// signature tells versions of a file apart without reading it.
type signature struct {
	inode uint64
	size  int64
	mtime int64
	ctime int64
	mode  fs.FileMode
}

func signatureOf(info os.FileInfo) signature {
	s := signature{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: info.Mode()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode, s.ctime = st.Ino, changeTime(st)
	}
	return s
}
