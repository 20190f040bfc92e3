package lock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
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
	folder := t.TempDir()
	if err := Probe(folder); err != nil {
		t.Errorf("a folder of files that can be locked: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("it has left %v, %v", left, err)
	}
	if err := Probe(filepath.Join(folder, "none")); err == nil {
		t.Error("files can be locked in a folder that is not there")
	}
	if err := Probe("/proc"); err == nil && runtime.GOOS == "linux" { // the folder itself can be locked
		t.Error("a file can be locked where there can be none")
	}
}

// Who is interrupted while it waits for another's lock comes back at once.
func TestInterruptedWhileAwaitingALock(t *testing.T) {
	d, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	held, err := Acquire(t.Context(), d, "x", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		over <- AwaitFree(ctx, d, "x", 10*time.Minute, func(string) { time.AfterFunc(200*time.Millisecond, cancel) })
	}()
	select {
	case err := <-over:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it still waits")
	}
	held.Release()
}
