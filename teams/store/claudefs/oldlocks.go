package claudefs

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/ledger"
)

// claudeSession begins the name of a team that Claude Code makes for a session. It removes
// the folder of the roster, and keeps the tasks.
const claudeSession = "session-"

// oldLocks lists the lock folders of teams that are gone: nothing else is left of them,
// and nobody has used a lock for a while; and the tasks that somebody has left of such a team.
func (f *FS) oldLocks() ([]store.Remain, error) {
	entries, err := f.entries(path.Dir(ledger.Folder("x")))
	var out []store.Remain
	for _, e := range entries {
		team := e.Name()
		tasks := "tasks/" + team
		switch {
		case store.CheckTeam(team) != nil:
			continue
		case !f.exists("teams/"+team) && f.anyTask(tasks) && !f.removing(team) && !strings.HasPrefix(team, claudeSession): // somebody has removed the folder of its roster alone
			out = append(out, store.Remain{What: f.dir.Join(tasks), Why: "the folder of team " + team + " is gone, and its tasks are there",
				Kept: "another program may need them: put " + f.dir.Join("teams/"+team) + " back, or remove this folder"})
			continue
		case !f.onlyLocks(team):
			continue
		}
		out = append(out, store.Remain{Usual: true, What: f.dir.Join(locksFolder(team)), Why: "team " + team + " is deleted, and nobody holds its locks",
			Remove: func(ctx context.Context) error { return f.removeLocks(ctx, team) }})
	}
	return out, err
}

// anyTask tells whether a folder holds a task.
func (f *FS) anyTask(folder string) bool {
	entries, _ := f.dir.ReadDir(folder)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return path.Ext(e.Name()) == ".json" })
}

// onlyLocks tells whether old locks are all that there is of a team.
func (f *FS) onlyLocks(team string) bool {
	return !f.exists("teams/"+team) && !f.exists("tasks/"+team) && f.idleLocks(team)
}

// idleLocks tells whether old locks are all that there is of a team in our own folder.
func (f *FS) idleLocks(team string) bool {
	entries, err := f.dir.ReadDir(ledger.Folder(team))
	if err != nil || len(entries) != 1 || entries[0].Name() != path.Base(locksFolder(team)) {
		return false
	}
	all, err := f.dir.ReadDir(locksFolder(team))
	for _, l := range all {
		if info, statErr := l.Info(); err != nil || statErr != nil || time.Since(info.ModTime()) < removalTime || !l.Type().IsRegular() {
			return false
		}
		if busy, err := lock.Busy(f.dir, locksFolder(team)+"/"+l.Name()); busy || err != nil {
			return false
		}
	}
	return err == nil && !f.removing(team)
}

// unmade tells whether the folders of a team are those that Create makes before the roster,
// and empty: it was killed then.
func (f *FS) unmade(team string) bool {
	info, err := f.dir.Lstat("teams/" + team)
	if err != nil || time.Since(info.ModTime()) < removalTime || !f.idleLocks(team) {
		return false
	}
	for _, folder := range unmadeFolders(team) {
		entries, err := f.entries(folder)
		if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return !slices.Contains(unmadeFolders(team), folder+"/"+e.Name())
		}) {
			return false
		}
	}
	return true
}

func unmadeFolders(team string) []string {
	return []string{"teams/" + team + "/inboxes", "teams/" + team + "/inbox", "teams/" + team, "tasks/" + team}
}

// whileGone looks once more whether a team is gone, and does remove while nobody can create
// it. sign is there if somebody just has.
func (f *FS) whileGone(ctx context.Context, team, verb, sign string, gone func(team string) bool, remove func() error) error {
	if !gone(team) {
		return fault.New(fault.Rejected, "team %s is there again, or somebody holds a lock of it", team)
	}
	held, err := f.lock(ctx, team, rosterLock, verb)
	if err != nil {
		return err
	}
	defer held.Release()
	if f.exists(sign) {
		return fault.New(fault.Rejected, "team %s is there again", team)
	}
	return remove()
}

func (f *FS) removeUnmade(ctx context.Context, team string) error {
	return f.whileGone(ctx, team, "finish create", configFile(team), f.unmade, func() error {
		for _, folder := range unmadeFolders(team) {
			if err := f.dir.Remove(folder); err != nil && !missing(err) { // one that is not empty stays
				return err
			}
		}
		return nil
	})
}

func (f *FS) removeLocks(ctx context.Context, team string) error {
	return f.whileGone(ctx, team, "remove locks", "teams/"+team, f.onlyLocks, func() error {
		if err := f.dir.RemoveAll(locksFolder(team)); err != nil {
			return err
		}
		return f.dir.Remove(ledger.Folder(team))
	})
}

// removing tells whether a folder of that team is about to be removed.
func (f *FS) removing(team string) bool {
	folders, err := f.removals(team)
	return len(folders) > 0 || err != nil
}
