package panes

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
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

// TestXH08_ALeadsRecordIsReadStrictly: what no lead writes for its teammates is not believed:
// it says which process leads, where the teams are, and what program is run.
func TestXH08_ALeadsRecordIsReadStrictly(t *testing.T) {
	folder := t.TempDir()
	read := func(change func(*Lead)) error {
		t.Helper()
		l := Lead{Process: signals.Identity{PID: 4242, Start: 1, Boot: "b"}, Base: "/base", Client: []string{"/bin/client"}}
		change(&l)
		if err := WriteLead(folder, l); err != nil {
			t.Fatal(err)
		}
		_, err := ReadLead(folder)
		return err
	}
	if err := read(func(*Lead) {}); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*Lead){
		"nobody":                func(l *Lead) { l.Process = signals.Identity{} },
		"process 1":             func(l *Lead) { l.Process.PID = 1 },
		"a process below 0":     func(l *Lead) { l.Process.PID = -7 },
		"a process too high":    func(l *Lead) { l.Process.PID = 1<<22 + 1 },
		"a process of no boot":  func(l *Lead) { l.Process.Boot = "" },
		"no base directory":     func(l *Lead) { l.Base = "" },
		"a relative base":       func(l *Lead) { l.Base = "base" },
		"no client":             func(l *Lead) { l.Client = nil },
		"a client without name": func(l *Lead) { l.Client = []string{"", "x"} },
	} {
		if err := read(change); err == nil {
			t.Errorf("%s is believed", what)
		}
	}
	for what, text := range map[string]string{"nothing": "", "an object": "{}", "a list": "[]"} {
		if err := os.WriteFile(filepath.Join(folder, leadRecord), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadLead(folder); err == nil {
			t.Errorf("%s is believed", what)
		}
	}
}
