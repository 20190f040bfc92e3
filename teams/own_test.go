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
	s := assemble(&common{base: base})
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

// TestXF20_NoBackupIsDeletedWithItsTeam: a backup in a folder of the team, also by another
// name of that folder, is refused.
func TestXF20_NoBackupIsDeletedWithItsTeam(t *testing.T) {
	base, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	s := assemble(&common{base: base})
	for _, folder := range []string{"teams/alpha/inboxes", "tasks/alpha", "leadlight/alpha/archive"} {
		if err := os.MkdirAll(filepath.Join(base, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(base, "tasks/alpha"), link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(base, "teams/alpha/inboxes"), filepath.Join(base, "tasks/alpha"), filepath.Join(base, "leadlight/alpha/archive"), link} {
		if err := s.backup(t.Context(), "alpha", filepath.Join(dir, "b.tar.gz")); fault.CodeOf(err) != fault.Rejected {
			t.Errorf("in %s: %v", dir, err)
		}
	}
	if err := s.backup(t.Context(), "alpha", filepath.Join(base, "b.tar.gz")); err != nil {
		t.Error(err)
	}
}
