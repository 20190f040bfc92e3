package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// What docs/files.md says of a large box holds for the program: not only for a store that a
// test has set so.
func TestALargeBoxIsKeptSmall(t *testing.T) {
	home := t.TempDir()
	a := newApp(Stdio{Out: io.Discard, Err: io.Discard}, []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home})
	t.Cleanup(a.close)
	svc, err := a.service(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := svc.CreateTeam(t.Context(), teams.TeamSpec{Name: "alpha", Cwd: home}); err != nil {
		t.Fatal(err)
	}
	err = a.built.config.Roster.Update(t.Context(), "alpha", func(x *store.Team) error {
		x.Members = append(x.Members, store.Member{Name: "bob", AgentID: "bob@alpha", JoinedAt: time.Now(), Cwd: home})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var box []map[string]any
	for i := range archiveAbove + 1 {
		box = append(box, map[string]any{"from": "team-lead", "text": fmt.Sprint(i), "timestamp": "2026-01-01T00:00:00.000Z", "read": i < archiveAbove, "msg_id": fmt.Sprintf("m%d", i)})
	}
	data, err := json.Marshal(box)
	if err != nil {
		t.Fatal(err)
	}
	for owner, left := range map[string]int{"bob": archiveAbove / 2, "team-lead": archiveAbove + 1} {
		path := filepath.Join(home, ".claude/teams/alpha/inboxes", owner+".json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := svc.MarkRead(t.Context(), "alpha", owner, []string{fmt.Sprintf("m%d", archiveAbove)}); err != nil {
			t.Fatal(err)
		}
		list, err := svc.Inbox(t.Context(), "alpha", owner, teams.InboxFilter{})
		if err != nil || len(list) != left || list[len(list)-1].Text != fmt.Sprint(archiveAbove) {
			t.Errorf("%s: %d messages are left, want %d (%v)", owner, len(list), left, err)
		}
	}
}
