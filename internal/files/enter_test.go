package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// A folder that stays open is used as long as it stands in its place, and no longer.
func TestOpenFoldersAreLookedAtEachTime(t *testing.T) {
	d, base := open(t)
	write := func(text string) error { return d.Write(t.Context(), "a/b/f", []byte(text)) }
	read := func() string {
		b, err := os.ReadFile(filepath.Join(base, "a/b/f"))
		ok(t, err)
		return string(b)
	}
	ok(t, write("one"))

	ok(t, os.Rename(filepath.Join(base, "a"), filepath.Join(base, "moved")))
	if _, err := d.Read("a/b/f"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("read of what was moved away: %v", err)
	}
	ok(t, write("two"))
	if got := read(); got != "two" {
		t.Errorf("in a new folder: %q", got)
	}

	ok(t, os.RemoveAll(filepath.Join(base, "a")))
	ok(t, write("three"))
	if got := read(); got != "three" {
		t.Errorf("in a folder made again: %q", got)
	}

	ok(t, os.RemoveAll(filepath.Join(base, "a")))
	ok(t, os.Symlink("moved", filepath.Join(base, "a")))
	if err := write("four"); !errors.Is(err, fault.PermissionDenied) {
		t.Errorf("write through a link to the folder of before: %v", err)
	}
	if got := read(); got != "one" {
		t.Errorf("through the link: %q", got)
	}
}

// However many folders are used, also at once, few stay open, and none after Close.
func TestFewFoldersStayOpen(t *testing.T) {
	before := descriptors(t)
	d, _ := open(t)
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			for i := range 100 {
				name := fmt.Sprintf("%d/%d/f", i, (i+k)%3)
				if err := d.Write(t.Context(), name, []byte(strconv.Itoa(k))); err != nil {
					t.Error(err)
					return
				}
				if _, err := d.Read(name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := descriptors(t) - before; n > 40 {
		t.Errorf("%d descriptors stay open", n)
	}
	ok(t, d.Close())
	if n := descriptors(t) - before; n > 0 {
		t.Errorf("%d descriptors are open after Close", n)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	ok(t, err)
	return len(entries)
}
