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

// quiet tells whether a team in which nobody lives has the files that it had at the last
// look: there is nothing new to be seen then. Many teams are finished, and each request
// asks for a look at all.
func (t *teamWatch) quiet() bool {
	known := t.hub.last(t.Name)
	if known.Name == "" || slices.ContainsFunc(known.Members, func(m api.Member) bool { return m.Live() || m.State == api.StateLost }) {
		return false
	}
	now := t.signature()
	t.reading.Lock()
	defer t.reading.Unlock()
	same := now != "" && now == t.files
	t.files = now
	return same
}

// signature is the same for the same files of a team, "" if that cannot be said.
func (t *teamWatch) signature() string {
	var b strings.Builder
	var newest time.Time
	for _, folder := range []string{
		path.Join("teams", t.Name), path.Join("teams", t.Name, "inboxes"), path.Join("teams", t.Name, "inbox"), path.Join("tasks", t.Name),
		panes.OwnPath(t.Name, "hosts"), panes.ObservedFolder(t.Name),
	} {
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
	if time.Since(newest) < settled {
		return ""
	}
	return b.String()
}
