package lock

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestXF04_EveryWayToHaveNoLocks: a file system without locks is named, and the way out,
// however it says so; one that gives them can be told.
func TestXF04_EveryWayToHaveNoLocks(t *testing.T) {
	for _, cause := range []error{syscall.ENOLCK, syscall.ENOSYS, syscall.EOPNOTSUPP} {
		e := fault.Of(explain("lock", "/home/x/l", cause))
		if e.Code != fault.Unsupported || !strings.Contains(e.Hint, "--base-dir") || !strings.Contains(e.Message, "/home/x/l") {
			t.Errorf("%v: %s: %s (%s)", cause, e.Code, e.Message, e.Hint)
		}
	}
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Probe(path); err != nil {
		t.Errorf("a file that can be locked: %v", err)
	}
	if err := Probe(path + "-none"); err == nil {
		t.Error("a file that is not there can be locked")
	}
}
