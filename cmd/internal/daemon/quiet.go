package daemon

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// settled is how old the last change of a team's files must be for their times to be
// trusted: two changes within one tick of the clock have the same time.
const settled = time.Second

// finished tells whether nobody lives in a team, as far as is known.
func (t *teamWatch) finished() bool {
	known := t.hub.last(t.Name)
	return known.Name != "" && !slices.ContainsFunc(known.Members, func(m api.Member) bool { return m.Live() || m.State == api.StateLost })
}

// rests tells whether a team is watched by its folders alone: nobody lives in it, and it is no
// team on an engine, of which other machines may do anything that no folder here shows.
func (t *teamWatch) rests() bool { return t.local.Load() && t.finished() }

// folders are those that hold what is seen of a team, below the base directory.
func (t *teamWatch) folders() []string {
	return []string{
		path.Join("teams", t.Name), path.Join("teams", t.Name, "inboxes"), path.Join("teams", t.Name, "inbox"), path.Join("tasks", t.Name),
		panes.OwnPath(t.Name, "hosts"), panes.ObservedFolder(t.Name),
	}
}

// signature is the same for the same files of a team, "" if that cannot be said.
func (t *teamWatch) signature() string {
	var b strings.Builder
	var newest time.Time
	for _, folder := range t.folders() {
		entries, _ := t.stores.Dir.ReadDir(folder) // one that is not there has nothing in it
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return ""
			}
			if info.ModTime().After(newest) {
				newest = info.ModTime()
			}
			fmt.Fprintf(&b, "%s/%s %d %d\n", folder, e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	if time.Since(newest).Abs() < settled {
		return ""
	}
	return b.String()
}
