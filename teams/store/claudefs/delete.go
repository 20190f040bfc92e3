package claudefs

import (
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/teams/store/ledger"
)

// deletedMark is what the client adds, with a UUID, to the name of a folder that
// it is about to remove. We do the same.
const deletedMark = ".deleted-"

// ownFolders are our records of a team. The locks stay: whoever waits for one
// must not find another file in its place.
func ownFolders() []string {
	return []string{"hosts", "launch", "ledger", "transcripts", "observed", "archive"}
}

// moveAway renames everything that belongs to a team, the folder with the roster
// last, and returns the new names. If one cannot be renamed, all get their old
// names back.
func (f *FS) moveAway(p *place) ([]string, error) {
	parts := []string{"tasks/" + p.list}
	if p.mail != p.team {
		parts = append(parts, "teams/"+p.mail)
	}
	for _, name := range ownFolders() {
		parts = append(parts, ledger.Folder(p.team)+"/"+name)
	}
	parts = append(parts, "teams/"+p.team)
	mark := deletedMark + uuid.NewString()
	var moved []string
	for i, name := range parts {
		err := f.dir.Rename(name, name+mark)
		if missing(err) && i < len(parts)-1 {
			continue
		}
		if err != nil {
			for _, back := range moved {
				// What cannot be moved back stays findable under its new name.
				_ = f.dir.Rename(back, back[:len(back)-len(mark)])
			}
			return nil, err
		}
		moved = append(moved, name+mark)
	}
	return moved, nil
}

// Sweep removes temporary files that killed writers left more than age ago in the
// folders of a team, and returns how many there were.
func (f *FS) Sweep(team string, age time.Duration) (int, error) {
	p, err := f.where(team)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, name := range []string{"teams/" + p.team, "teams/" + p.mail + "/inboxes", listDir(p), ledger.Folder(p.team) + "/ledger"} {
		n, err := f.dir.Sweep(name, age)
		if total += n; err != nil {
			return total, err
		}
	}
	return total, nil
}

// forget drops what is remembered of a team.
func (f *FS) forget(p *place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.places, p.team)
	delete(f.good, p.team)
	delete(f.lists, p.team)
}
