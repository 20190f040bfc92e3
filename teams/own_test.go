package teams

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func TestXF03_OwnMailIsNotUnread(t *testing.T) {
	team := store.Team{Name: "alpha"}
	for from, want := range map[string]bool{store.Lead: false, "team-lead@alpha": false, "bob": true, "team-lead@beta": true} {
		if got := (InboxFilter{Unread: true}).takes(team, store.Message{From: from, To: store.Lead, Text: "x"}); got != want {
			t.Errorf("from %s to the lead: unread %t, want %t", from, got, want)
		}
	}
	if !(InboxFilter{}).takes(team, store.Message{From: store.Lead, To: store.Lead}) {
		t.Error("it is not shown at all")
	}
}

func TestXF20_BackupReplacesNothing(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	s := &Service{base: base}
	if err := s.backup(t.Context(), "alpha", file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := s.backup(t.Context(), "alpha", file)
	if data, _ := os.ReadFile(file); fault.CodeOf(err) != fault.Rejected || string(data) != "precious" {
		t.Errorf("%v; the file holds %d bytes", err, len(data))
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
