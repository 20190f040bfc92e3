package claudefs_test

import (
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// A team whose folder is seen before its roster is told when the roster comes.
func TestWatchOfAFolderWithoutARoster(t *testing.T) {
	t.Parallel()
	b := newBase(t, claudefs.Options{})
	b.put("teams/first/config.json", claudeTeam)
	hints, err := b.Roster().Watch(t.Context(), "")
	b.ok(err)
	wait := func(what string) {
		t.Helper()
		select {
		case <-hints:
		case <-time.After(30 * time.Second): // in a minute the watch looks by itself
			t.Fatalf("%s: no hint", what)
		}
	}
	wait("first")
	b.put("teams/alpha/inboxes/builder.json", "[]")
	wait("a folder")
	b.put("teams/alpha/config.json", claudeTeam)
	wait("its roster")
}
