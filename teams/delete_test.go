package teams_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
)

// TestXS47_ALinkedTeamIsDeleted: of a team whose folder is a link the link is removed, and
// what it leads to stays.
func TestXS47_ALinkedTeamIsDeleted(t *testing.T) {
	d := newDesk(t)
	d.team("alpha")
	folder, away := filepath.Join(d.base, "teams", "alpha"), filepath.Join(t.TempDir(), "alpha")
	if err := errors.Join(os.Rename(folder, away), os.Symlink(away, folder)); err != nil {
		t.Fatal(err)
	}
	wantCode(t, d.as("").DeleteTeam(t.Context(), "alpha", teams.DeleteOptions{Backup: filepath.Join(t.TempDir(), "x.tar.gz")}), fault.PermissionDenied)
	if err := d.as("").DeleteTeam(t.Context(), "alpha", teams.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(folder); err == nil {
		t.Error("the link is there")
	}
	if _, err := os.Stat(filepath.Join(away, "config.json")); err != nil {
		t.Error(err)
	}
}
