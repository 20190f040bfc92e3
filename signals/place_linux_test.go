package signals

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestXS33_HiddenProc: where /proc hides what tells processes apart, it is said what is
// missing and what to do.
func TestXS33_HiddenProc(t *testing.T) {
	proc := t.TempDir()
	missing := func(what string) {
		t.Helper()
		_, err := placeOf(proc)
		if f := fault.Of(err); f.Code != fault.Unproven || !strings.Contains(f.Message, what) || !strings.Contains(f.Message, proc) || !strings.Contains(f.Hint, "/proc") {
			t.Errorf("without %s: %v, hint %q", what, err, f.Hint)
		}
	}
	missing("the id of this boot")
	if err := os.MkdirAll(filepath.Join(proc, "sys/kernel/random"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(proc, "sys/kernel/random/boot_id"), []byte("b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing("the pid namespace")
	if err := os.MkdirAll(filepath.Join(proc, "self/ns"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pid:[1]", filepath.Join(proc, "self/ns/pid")); err != nil {
		t.Fatal(err)
	}
	if id, err := placeOf(proc); err != nil || id.Boot != "b" || id.Namespace != "pid:[1]" {
		t.Errorf("%+v, %v", id, err)
	}
}
