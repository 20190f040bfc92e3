package signals

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestXS33_XH04_HiddenProc: where /proc hides what tells processes apart, or is that of
// another pid namespace, it is said what is missing and what to do.
func TestXS33_XH04_HiddenProc(t *testing.T) {
	proc := t.TempDir()
	missing := func(what string) {
		t.Helper()
		_, err := placeOf(proc)
		if err == nil {
			t.Fatalf("without %s: no error", what)
		}
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
	self := func(pid string) {
		t.Helper()
		_ = os.Remove(filepath.Join(proc, "self"))
		err := os.MkdirAll(filepath.Join(proc, pid, "ns"), 0o700)
		if err := errors.Join(err, os.Symlink("pid:[1]", filepath.Join(proc, pid, "ns/pid")), os.Symlink(pid, filepath.Join(proc, "self"))); err != nil {
			t.Fatal(err)
		}
	}
	self("1") // as in a pid namespace that has the /proc of its parent
	missing("the processes of this pid namespace")
	self(strconv.Itoa(os.Getpid()))
	if id, err := placeOf(proc); err != nil || id.Boot != "b" || id.Namespace != "pid:[1]" {
		t.Errorf("%+v, %v", id, err)
	}
}
