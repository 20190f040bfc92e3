package panes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

// short makes a folder with a short path: sockets live below it.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "llp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func getenv(xdg string) func(string) string {
	return func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return xdg
		}
		return ""
	}
}

func TestRuntimeDirIsPrivate(t *testing.T) {
	xdg := short(t)
	dir := RuntimeDir(getenv(xdg))
	if dir != filepath.Join(xdg, "leadlight") {
		t.Fatalf("%q", dir)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking made it: %v", err)
	}
	for range 2 {
		if err := files.MakePrivate(dir); err != nil {
			t.Fatal(err)
		}
	}
	if fi, err := os.Lstat(dir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := files.MakePrivate(dir); !errors.Is(err, fault.PermissionDenied) {
		t.Errorf("a folder open to others is taken: %v", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if err := files.MakePrivate(dir); !errors.Is(err, fault.PermissionDenied) {
		t.Errorf("a link is followed: %v", err)
	}
}

func TestEN06_SocketPathsAreShort(t *testing.T) {
	long := filepath.Join(short(t), strings.Repeat("x", 80))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := RuntimeDir(getenv(long))
	if got := socketPath(dir, BaseKey("/some/base"), strings.Repeat("t", 64), strings.Repeat("研", 64)); len(got) > maxSocketPath {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestBaseKeyFollowsLinks(t *testing.T) {
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if BaseKey(real) != BaseKey(link) {
		t.Error("one base directory has two keys")
	}
}

func TestRecords(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r, ctx := NewRecords(dir), t.Context()
	if _, err := r.Host(ctx, "alpha", "bob"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no record: %v", err)
	}
	if err := r.WriteHost(ctx, "alpha", "bob", hostRecord(dir.Path(), "alpha", "bob")); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Host(ctx, "alpha", "bob"); err != nil || got.Host != someHost || got.Version != recordVersion {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(dir.Join("leadlight/alpha/hosts/bob.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Host(ctx, "alpha", "bob"); !errors.Is(err, fault.CorruptFile) {
		t.Errorf("a damaged record: %v", err)
	}
	if err := r.Forget("alpha", "bob"); err != nil {
		t.Error(err)
	}
	if err := r.Forget("alpha", "bob"); err != nil {
		t.Errorf("twice: %v", err)
	}
}

// Whoever can write a task must not thereby run a shell.
func TestOnlyCommandsFromTheTeamFileAreTrusted(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r, ctx := NewRecords(dir), t.Context()
	if r.TrustedRun(ctx, "alpha", "1", "rm -rf x") {
		t.Error("trusted without any record")
	}
	if err := r.TrustRun(ctx, "alpha", "1", "go vet"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		task, line string
		want       bool
	}{{"1", "go vet", true}, {"1", "go vet; rm x", false}, {"2", "go vet", false}, {"1", "", false}} {
		if got := r.TrustedRun(ctx, "alpha", tc.task, tc.line); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

// Two who add tasks with commands at once, as two runs do, lose none.
func TestTrustRunLosesNothing(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var all sync.WaitGroup
	for n := 1; n <= 20; n++ {
		all.Go(func() {
			if err := NewRecords(dir).TrustRun(t.Context(), "alpha", strconv.Itoa(n), "go vet"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for n := 1; n <= 20; n++ {
		if !NewRecords(dir).TrustedRun(t.Context(), "alpha", strconv.Itoa(n), "go vet") {
			t.Errorf("the command of task %d is lost", n)
		}
	}
}
