package panes

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes/profiles"
)

// TestXH09_ALeadWithoutARecordLives: the folder of a lead that has lost its record is nobody's
// only when no program starts its teammates by it any more.
func TestXH09_ALeadWithoutARecordLives(t *testing.T) {
	m := NewManager(Options{Base: t.TempDir(), Runtime: filepath.Join(t.TempDir(), "run"), Executable: "/bin/true"})
	folder, remove, err := m.OpenLead()
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(folder, old, old); err != nil {
		t.Fatal(err)
	}
	client := exec.Command("sleep", "1000")
	if runtime.GOOS == "darwin" {
		t.Skip("macOS hides the environment of its own programs")
	}
	client.Env = []string{profiles.TeammateCommand + "=" + filepath.Join(folder, TeammateLink)}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	if found := m.orphanFiles(t.Context()); len(found) != 0 {
		t.Errorf("while its client runs: %+v", found)
	}
	_ = client.Process.Kill()
	_ = client.Wait()
	if found := m.orphanFiles(t.Context()); len(found) != 1 || found[0].What != folder {
		t.Errorf("when its client has ended: %+v", found)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
}
