package files_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

func open(t *testing.T) (*files.Dir, string) {
	t.Helper()
	base := t.TempDir()
	d, err := files.Open(base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, base
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	ok(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestA20_WriteMakesFoldersAndKeepsModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	d, base := open(t)
	for _, text := range []string{"one", "a longer two", ""} {
		ok(t, d.Write(t.Context(), "a/b/c.json", []byte(text)))
		got, err := d.Read("a/b/c.json")
		if err != nil || string(got) != text || got == nil {
			t.Fatalf("read %q, %v; want %q", got, err, text)
		}
	}
	for path, want := range map[string]fs.FileMode{"a": 0o700, "a/b": 0o700, "a/b/c.json": 0o600} {
		if info, err := os.Stat(filepath.Join(base, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %o", path, info, err, want)
		}
	}
	ok(t, os.Chmod(filepath.Join(base, "a/b/c.json"), 0o640))
	ok(t, d.Write(t.Context(), "a/b/c.json", []byte("x")))
	if info, err := os.Stat(filepath.Join(base, "a/b/c.json")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v, want the mode it had", info.Mode(), err)
	}
	if left := names(t, filepath.Join(base, "a/b")); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}

func TestNamesNeverLeadOut(t *testing.T) {
	d, _ := open(t)
	for _, name := range []string{"../x", "/etc/passwd", "a/../../x", "..", ""} {
		if err := d.Write(t.Context(), name, []byte("x")); err == nil {
			t.Errorf("wrote %q", name)
		}
		if _, err := d.Read(name); err == nil {
			t.Errorf("read %q", name)
		}
	}
}

func TestSE04_LinksAreRefused(t *testing.T) {
	d, base := open(t)
	outside := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(outside, "f"), []byte("precious"), 0o600))
	ok(t, os.Mkdir(filepath.Join(base, "real"), 0o700))
	ok(t, os.WriteFile(filepath.Join(base, "real/f"), []byte("inside"), 0o600))
	for name, target := range map[string]string{"out": outside, "in": "real", "out.json": outside + "/f", "in.json": "real/f", "real/up.json": "f", "dangling": "nowhere"} {
		ok(t, os.Symlink(target, filepath.Join(base, name)))
	}
	for _, name := range []string{"out/f", "in/f", "out.json", "in.json", "real/up.json", "dangling"} {
		for what, do := range map[string]func() error{
			"read":   func() error { _, err := d.Read(name); return err },
			"write":  func() error { return d.Write(t.Context(), name, []byte("x")) },
			"append": func() error { return d.Append(name, []byte("x")) },
		} {
			if err := do(); fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), base) {
				t.Errorf("%s %s: %v, want %s and the path", what, name, err, fault.PermissionDenied)
			}
		}
	}
	for _, path := range []string{filepath.Join(base, "dangling"), filepath.Join(base, "dangling/below")} {
		if _, err := files.Open(path); fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), "leads to nothing") {
			t.Errorf("open %s as a folder: %v", path, err)
		}
	}
	ok(t, d.RemoveAll("out"))
	ok(t, d.Remove("in.json"))
	if got, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(got) != "precious" {
		t.Errorf("the target of a link: %q %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(base, "nowhere")); err == nil {
		t.Error("a link to nothing was followed")
	}
}

func TestOddFilesAreRefused(t *testing.T) {
	d, base := open(t)
	ok(t, syscall.Mkfifo(filepath.Join(base, "pipe"), 0o600))
	ok(t, os.Mkdir(filepath.Join(base, "folder"), 0o700))
	for _, name := range []string{"pipe", "folder"} {
		done := make(chan error, 1)
		go func() { _, err := d.Read(name); done <- err }()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("read a %s", name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("reading a %s waits for ever", name)
		}
		if err := d.Write(t.Context(), name, []byte("x")); err == nil {
			t.Errorf("wrote over a %s", name)
		}
	}
	if left := names(t, base); len(left) != 2 {
		t.Errorf("left behind: %q", left)
	}
}

func TestPendingIsInvisibleUntilCommitted(t *testing.T) {
	d, base := open(t)
	ok(t, d.Write(t.Context(), "f.json", []byte("old")))
	p, err := d.Prepare("f.json", []byte("new"))
	ok(t, err)
	if hits, _ := filepath.Glob(filepath.Join(base, "*.json")); len(hits) != 1 {
		t.Errorf("a glob finds %q", hits)
	}
	if got, _ := d.Read("f.json"); string(got) != "old" {
		t.Errorf("before: %q", got)
	}
	p.Discard()
	p.Discard()
	if left := names(t, base); len(left) != 1 {
		t.Errorf("after Discard: %q", left)
	}
	p, err = d.Prepare("f.json", []byte("new"))
	ok(t, err)
	ok(t, p.Commit())
	p.Discard()
	if got, _ := d.Read("f.json"); string(got) != "new" {
		t.Errorf("after: %q", got)
	}
}

func TestIB03_ReadRetryWaitsForAWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, base := open(t)
		path := filepath.Join(base, "f")
		ok(t, os.WriteFile(path, nil, 0o600))
		whole := func(data []byte) error {
			if !bytes.HasSuffix(data, []byte("}")) {
				return errors.New("torn")
			}
			return nil
		}
		go func() { // writes slowly: a part every 100 ms
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			for _, part := range []string{"{", "a", "b", "c", "d", "}"} {
				<-tick.C
				_, _ = f.WriteString(part)
			}
		}()
		got, err := d.ReadRetry(t.Context(), "f", whole)
		if err != nil || string(got) != "{abcd}" {
			t.Fatalf("read %q, %v", got, err)
		}
		const torn = "{torn"
		ok(t, os.WriteFile(path, []byte(torn), 0o600))
		start := time.Now()
		got, err = d.ReadRetry(t.Context(), "f", whole)
		if took := time.Since(start); err == nil || string(got) != torn || took < 250*time.Millisecond || took > time.Second {
			t.Errorf("%q: %q, %v after %v", torn, got, err, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.ReadRetry(ctx, "f", whole); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		start = time.Now()
		if _, err := d.ReadRetry(t.Context(), "absent", whole); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("absent: %v", err)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("a file that is not there is waited for: %v", took)
		}
	})
}

func TestHolds(t *testing.T) {
	d, _ := open(t)
	long := bytes.Repeat([]byte("0123456789"), 20_000)
	ok(t, d.Write(t.Context(), "long", long))
	ok(t, d.Write(t.Context(), "empty", nil))
	changed := bytes.Clone(long)
	changed[len(changed)-1] = 'x'
	for _, tc := range []struct {
		name string
		data []byte
		want bool
	}{
		{"long", long, true}, {"long", changed, false}, {"long", long[:len(long)-1], false}, {"long", append(bytes.Clone(long), 'x'), false},
		{"long", nil, false}, {"empty", []byte{}, true}, {"empty", nil, false}, {"empty", long, false}, {"absent", nil, true}, {"absent", []byte{}, false},
	} {
		if got, err := d.Holds(tc.name, tc.data); err != nil || got != tc.want {
			t.Errorf("%s holds %d bytes: %t %v, want %t", tc.name, len(tc.data), got, err, tc.want)
		}
	}
}

func TestRenameAndRemove(t *testing.T) {
	d, base := open(t)
	ok(t, d.Write(t.Context(), "a/f", []byte("x")))
	ok(t, d.Rename("a", "b/c"))
	if got, err := d.Read("b/c/f"); err != nil || string(got) != "x" {
		t.Errorf("moved: %q %v", got, err)
	}
	if err := d.Rename("absent", "x"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), base) {
		t.Errorf("rename of nothing: %v", err)
	}
	ok(t, d.RemoveAll("b"))
	ok(t, d.RemoveAll("b"))
	if err := d.Remove("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove of nothing: %v", err)
	}
	ok(t, d.Append("log/x", []byte("1\n")))
	ok(t, d.Append("log/x", []byte("2\n")))
	if got, _ := d.Read("log/x"); string(got) != "1\n2\n" {
		t.Errorf("appended: %q", got)
	}
}

// /proc refuses to sync folders as some network file systems do.
func TestXF04_RefusedSyncOfAFolderIsNoFailure(t *testing.T) {
	d, err := files.Open("/proc")
	ok(t, err)
	defer d.Close()
	f, err := os.Open("/proc")
	ok(t, err)
	defer f.Close()
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) {
		t.Skipf("here the folder can be synced: %v", err)
	}
	ok(t, d.Sync("."))
	ok(t, d.SyncFiles([]string{"version"}))
}

func TestXF04_NoLocksHasAWayOut(t *testing.T) {
	for _, cause := range []error{syscall.EISDIR, syscall.ENOTDIR} {
		if e := fault.Of(files.Explain("lock", "/home/x/.claude/l", cause)); e.Hint == "" || !errors.Is(e, cause) {
			t.Errorf("%v: %+v", cause, e)
		}
	}
	e := fault.Of(files.Explain("lock", "/home/x/.claude/l", syscall.ENOLCK))
	if e.Code != fault.Unsupported || !strings.Contains(e.Hint, "--base-dir") || !strings.Contains(e.Message, "/home/x/.claude/l") {
		t.Errorf("%s: %s (%s)", e.Code, e.Message, e.Hint)
	}
}

// TestXH08_ASecondNameIsNotWrittenTo: a file in our place may have another name, elsewhere:
// what is appended stands in ours alone.
func TestXH08_ASecondNameIsNotWrittenTo(t *testing.T) {
	d, base := open(t)
	outside := filepath.Join(t.TempDir(), "f")
	ok(t, os.WriteFile(outside, []byte("precious\n"), 0o600))
	for _, name := range []string{"a", "b"} {
		ok(t, os.Link(outside, filepath.Join(base, name)))
	}
	ok(t, d.Append("a", []byte("x")))
	f, err := d.OpenFile("b", files.AppendFlags)
	ok(t, err)
	_, err = f.WriteString("y")
	ok(t, err)
	ok(t, f.Close())
	for path, want := range map[string]string{outside: "precious\n", filepath.Join(base, "a"): "precious\nx", filepath.Join(base, "b"): "precious\ny"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q %v, want %q", path, got, err, want)
		}
	}
}

// What a killed writer has left is told by its name and its age: all else may be somebody's.
func TestOldTempsAreOurs(t *testing.T) {
	d, base := open(t)
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{files.TempPrefix + "old.tmp", files.TempPrefix + "old.stale", "mine.tmp"} {
		ok(t, d.Write(t.Context(), "in/"+name, nil))
		ok(t, os.Chtimes(filepath.Join(base, "in", name), old, old))
	}
	ok(t, d.Write(t.Context(), "in/"+files.TempPrefix+"young.tmp", nil))
	if got := d.OldTemps("in", time.Minute); !slices.Equal(got, []string{"in/" + files.TempPrefix + "old.tmp"}) {
		t.Errorf("got %q", got)
	}
}
