package claudefs

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
	"github.com/leadlight-dev/leadlight/teams/store/ledger"
)

// deletedMark is what the client adds, with a UUID, to the name of a folder that
// it is about to remove. We do the same.
const deletedMark = ".deleted-"

// ownFolders are our records of a team. The locks stay: whoever waits for one
// must not find another file in its place.
func ownFolders() []string {
	return []string{"hosts", "launch", "ledger", "transcripts", "observed", "mail", "archive"}
}

// RemoveRecords removes our own records of a team that lives elsewhere.
func (f *FS) RemoveRecords(team string) error {
	if err := store.CheckTeam(team); err != nil {
		return err
	}
	for _, name := range ownFolders() {
		if err := f.dir.RemoveAll(ledger.Folder(team) + "/" + name); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// moveAway renames everything that belongs to a team, and returns the new names. The
// folder with the roster comes first: from then on there is no such team, and its new
// name says until the end that something is left to be removed. If one cannot be
// renamed, all get their old names back.
func (f *FS) moveAway(p *place) ([]string, error) {
	mark := deletedMark + uuid.NewString()
	var moved []string
	for i, name := range p.parts() {
		err := f.dir.Rename(name, name+mark)
		if missing(err) && i > 0 {
			continue
		}
		if err != nil {
			for _, back := range slices.Backward(moved) {
				// What cannot be moved back stays findable under its new name.
				_ = f.dir.Rename(back, back[:len(back)-len(mark)])
			}
			return nil, err
		}
		moved = append(moved, name+mark)
	}
	return moved, nil
}

// parts lists the folders of a team, that of the roster first.
func (p *place) parts() []string {
	parts := []string{"teams/" + p.team, "tasks/" + p.folder}
	if p.folder != p.team {
		parts = append(parts, "teams/"+p.folder)
	}
	for _, name := range ownFolders() {
		parts = append(parts, ledger.Folder(p.team)+"/"+name)
	}
	return parts
}

// remove removes what was moved away, the folder with the roster last.
func (f *FS) remove(moved []string) error {
	for _, name := range slices.Backward(moved) {
		if err := f.dir.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

// Remains lists the teams whose removal was cut off (the folder of the roster still has
// the name under which it is removed), and the locks of teams that are gone. A folder
// without a roster may be what is left of a team, or its roster was lost; whoever removes a
// team removes the folder.
func (r roster) Remains(context.Context) ([]store.Remain, error) {
	out, err := r.f.oldLocks()
	if err != nil {
		return nil, err
	}
	entries, err := r.f.entries("teams")
	for _, e := range entries {
		if x := r.f.remain(e); x.Why != "" {
			out = append(out, x)
		}
	}
	return out, err
}

// remain says what is wrong with an entry of the folder of rosters; its Why is "" for nothing.
func (f *FS) remain(e fs.DirEntry) (x store.Remain) {
	team, _, removed := strings.Cut(e.Name(), deletedMark)
	info, err := e.Info()
	if err != nil || store.CheckTeam(team) != nil {
		return x
	}
	x.Team, x.What = team, f.dir.Join("teams/"+e.Name())
	_, err = f.dir.Lstat(configFile(team))
	switch name := store.Shown(team); {
	case !e.IsDir() && (removed || info.Mode()&fs.ModeSymlink != 0): // what a link leads to is listed
	case !e.IsDir():
		x.Why, x.Kept = "it stands where the folder of team "+name+" was", "the folder may have been moved: put it back, or remove what stands there"
	case removed && time.Since(info.ModTime()) < removalTime: // somebody is just removing it
	case removed:
		x.Why = "the removal of team " + name + " was cut off"
		x.Remove = func(ctx context.Context) error {
			held, err := f.lock(ctx, team, rosterLock, "finish delete")
			if err != nil {
				return err
			}
			defer held.Release()
			return f.finish(e.Name())
		}
	case !absent(err):
	case f.unmade(team):
		x.Why = "the making of team " + name + " was cut off"
		x.Remove = func(ctx context.Context) error { return f.removeUnmade(ctx, team) }
	default:
		x.Why, x.Kept = "team "+name+" has no roster", "its config.json may have been lost: put it back, or remove the folder"
	}
	return x
}

// removalTime is how long a folder that is being removed is left to who does it.
const removalTime = time.Minute

// finish ends the removal of a team that was cut off. What a new team of that name has is
// left alone. The caller holds the lock of the roster.
func (f *FS) finish(folder string) error {
	team, mark, _ := strings.Cut(folder, deletedMark)
	p := &place{team: team, folder: team}
	data, err := f.dir.Read("teams/" + folder + "/config.json")
	whole := err == nil
	if whole {
		var t store.Team
		if t, err = document.ReadTeam(team, data); err == nil {
			f.settle(p, t)
		}
	}
	var left []string
	for i, name := range p.parts() {
		left = append(left, name+deletedMark+mark)
		if i > 0 && whole && p.ours.Schema > 0 && !f.exists(configFile(team)) {
			left = append(left, name)
		}
	}
	return f.remove(left)
}

// finishAll ends the removals of teams of one name. The caller holds the lock.
func (f *FS) finishAll(team string) error {
	folders, err := f.removals(team)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := f.finish(folder); err != nil {
			return err
		}
	}
	return nil
}

// removals lists the folders of rosters of teams of one name that are about to be removed.
func (f *FS) removals(team string) (folders []string, err error) {
	entries, err := f.entries("teams")
	for _, e := range entries {
		if name, _, ok := strings.Cut(e.Name(), deletedMark); ok && name == team {
			folders = append(folders, e.Name())
		}
	}
	return folders, err
}

// entries lists a folder. One that is not there is empty.
func (f *FS) entries(folder string) ([]fs.DirEntry, error) {
	entries, err := f.dir.ReadDir(folder)
	if missing(err) {
		err = nil
	}
	return entries, err
}

// putAside moves into the archive what lies where a new team will have its mail, tasks and
// records, and returns where it is now: "" if there is nothing. The records of hosts stay:
// some of them may run, and would not be found.
func (f *FS) putAside(team string) (string, error) {
	own := ledger.Folder(team)
	aside := own + "/archive/before-" + time.Now().UTC().Format("20060102-150405.000000")
	left := map[string]string{"tasks/" + team: "tasks", "teams/" + team + "/inboxes": "inboxes", "teams/" + team + "/inbox": "inbox"}
	for _, name := range []string{"ledger", "observed", "transcripts", "mail"} {
		left[own+"/"+name] = name
	}
	launch, err := f.entries(own + "/launch")
	for _, e := range launch {
		if strings.HasPrefix(e.Name(), ".") { // not of one member
			left[own+"/launch/"+e.Name()] = "launch/" + e.Name()
		}
	}
	if err != nil {
		return "", err
	}
	found := false
	for from, to := range left {
		empty, err := f.empty(from)
		if err != nil {
			return "", err
		}
		if empty {
			continue
		}
		if err := f.dir.Rename(from, aside+"/"+to); err != nil {
			return "", err
		}
		found = true
	}
	if !found {
		return "", nil
	}
	return f.dir.Join(aside), nil
}

// empty tells whether nothing is there, or a folder with nothing in it.
func (f *FS) empty(name string) (bool, error) {
	info, err := f.dir.Lstat(name)
	switch {
	case missing(err):
		return true, nil
	case err != nil || !info.IsDir():
		return false, err
	}
	entries, err := f.dir.ReadDir(name)
	return len(entries) == 0, err
}

// forget drops what is remembered of a team.
func (f *FS) forget(p *place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.places, p.team)
	delete(f.lists, p.team)
	delete(f.rosters, p.team)
	maps.DeleteFunc(f.boxes, func(_ string, b readBox) bool { return b.team == p.team })
}
