package files_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/files"
)

func ownerOf(t *testing.T, path string) uint32 {
	t.Helper()
	info, err := os.Lstat(path)
	ok(t, err)
	return info.Sys().(*syscall.Stat_t).Uid
}

// What root makes below a folder of somebody else is theirs: they could not read it otherwise.
func TestRootsFilesBelongToTheFoldersOwner(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.Chown(home, 61001, 61002); os.Geteuid() != 0 || err != nil {
		t.Skip("only a root that knows other users can make files for them")
	}
	d, err := files.Open(filepath.Join(home, "a", "base"))
	ok(t, err)
	defer d.Close()
	ok(t, d.Write(context.Background(), "teams/x/config.json", []byte("{}")))
	ok(t, d.Append("log/changes", []byte("x\n")))
	_, err = d.Mkdir("locks", 0o700)
	ok(t, err)
	seen := 0
	ok(t, filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		ok(t, err)
		if seen++; ownerOf(t, path) != 61001 {
			t.Errorf("%s belongs to %d", path, ownerOf(t, path))
		}
		return nil
	}))
	if seen != 9 {
		t.Errorf("%d files and folders", seen)
	}

	ok(t, os.WriteFile(d.Join("moved"), nil, 0o600)) // to this name, by whose folder it is
	ok(t, d.Append("moved", []byte("x\n")))
	if ownerOf(t, d.Join("moved")) != 0 {
		t.Error("a file that was there was given away")
	}
	strange := filepath.Join(t.TempDir(), "strange")
	ok(t, os.WriteFile(strange, nil, 0o600))
	ok(t, os.Link(strange, d.Join("linked")))
	ok(t, d.Append("linked", []byte("x\n")))
	if ownerOf(t, strange) != 0 {
		t.Error("a file that has another name was given away")
	}
}
