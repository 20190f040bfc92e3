package integration_test

import (
	"fmt"
	"syscall"
	"testing"
)

// readOnlyWorks tells whether this process may mount.
func readOnlyWorks(t *testing.T) bool {
	dir := t.TempDir()
	if syscall.Mount(dir, dir, "", syscall.MS_BIND, "") != nil {
		return false
	}
	return syscall.Unmount(dir, syscall.MNT_DETACH) == nil
}

// makeReadOnly makes what is below dir read-only for everybody who opens it from now
// on, until release or the end of the test.
func makeReadOnly(t *testing.T, dir string) (release func()) {
	t.Helper()
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skip(err)
	}
	done := false
	release = func() {
		if !done {
			done = true
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(release)
	if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip(err)
	}
	return release
}

// makeSmall puts a file system of that size under a gang's base directory.
func makeSmall(t *testing.T, g *gang, size int) {
	t.Helper()
	dir := g.path("base")
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,nr_inodes=5000,mode=700", size)); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		g.run("down", "gang", "--force", "--timeout", "1s") // while the team can still be found
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
