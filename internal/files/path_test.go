package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

func TestXF14_OnlyRegularFilesOfBoundedSizeAreRead(t *testing.T) {
	d, base := open(t)
	at := func(name string) string { return filepath.Join(base, name) }
	ok(t, syscall.Mkfifo(at("pipe"), 0o600))
	ok(t, os.Mkdir(at("folder"), 0o700))
	ok(t, os.WriteFile(at("small"), []byte("x"), 0o600))
	ok(t, os.WriteFile(at("sparse"), nil, 0o600))
	ok(t, os.Truncate(at("sparse"), 20<<30))
	ok(t, os.Symlink("/dev/zero", at("endless")))
	for name, want := range map[string]string{
		"pipe": "is not a regular file", "folder": "is not a regular file", "sparse": "is too large to be read: 21474836480 bytes",
		"endless": "is not a regular file", "small": "", "none": "no such file",
	} {
		start := time.Now()
		data, err := files.ReadFile(at(name), 0)
		if want == "" && (err != nil || string(data) != "x") || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), at(name))) {
			t.Errorf("%s: %q %v, want %q", name, data, err, want)
		}
		if code := fault.CodeOf(err); name != "none" && want != "" && code != fault.CorruptFile {
			t.Errorf("%s: code %s", name, code)
		}
		if name != "endless" { // a link, which a Dir does not follow at all
			if _, inside := d.Read(name); (inside == nil) != (err == nil) || inside != nil && inside.Error() != err.Error() {
				t.Errorf("%s: a Dir says %v, by its path it is %v", name, inside, err)
			}
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
	}
	if _, err := files.ReadFile(at("small"), 1); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
}

func TestReplaceIsWholeAndMakesItsFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a/b/c")
	for _, text := range []string{"one", "two"} {
		ok(t, files.Replace(path, []byte(text)))
		ok(t, files.ReplaceVolatile(path+"2", []byte(text)))
	}
	if got, err := files.ReadFile(path, 0); err != nil || string(got) != "two" {
		t.Errorf("%q %v", got, err)
	}
	if left := names(t, filepath.Dir(path)); len(left) != 2 {
		t.Errorf("left behind: %q", left)
	}
}

func TestMakePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := files.CheckPrivate(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	for range 2 {
		ok(t, files.MakePrivate(dir))
	}
	ok(t, os.Chmod(dir, 0o750))
	if err := files.MakePrivate(dir); !errors.Is(err, fault.PermissionDenied) {
		t.Errorf("open to others: %v", err)
	}
	link := dir + "-link"
	ok(t, os.Symlink(t.TempDir(), link))
	if err := files.MakePrivate(link); !errors.Is(err, fault.PermissionDenied) {
		t.Errorf("a link: %v", err)
	}
}
