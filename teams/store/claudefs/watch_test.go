package claudefs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/teams/store"
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

// Who waits for a lock that another process holds is told so before the wait is over.
func TestALongWaitForALockIsSaid(t *testing.T) {
	t.Parallel()
	said := make(chan string, 1)
	b := newBase(t, claudefs.Options{LockTimeout: time.Second, Notice: func(line string) { said <- line }})
	b.put("teams/alpha/config.json", claudeTeam)
	held, err := lock.In(t.Context(), b.path("leadlight/alpha/locks"), "roster", "test", time.Minute)
	b.ok(err)
	defer held()
	err = b.Roster().Update(t.Context(), "alpha", func(x *store.Team) error { x.Description = "x"; return nil })
	b.want("a lock that is held", err, fault.LockTimeout)
	select {
	case line := <-said:
		if !strings.Contains(line, "leadlight/alpha/locks/roster: it is waited for, up to 1s") {
			t.Error(line)
		}
	case <-time.After(time.Minute): // it is said beside the wait
		t.Error("nothing was said")
	}
}
