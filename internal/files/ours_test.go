package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestXH08_OnlyWhatIsOursIsDeleted: what is no entry of the folder, of another kind, or
// there by now in the place of what was proved, stays.
func TestXH08_OnlyWhatIsOursIsDeleted(t *testing.T) {
	base := t.TempDir()
	folder, precious := filepath.Join(base, "run"), filepath.Join(base, "precious")
	mustDo(t, os.Mkdir(folder, 0o700))
	put := func(path string) {
		t.Helper()
		mustDo(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	put(precious)
	mustDo(t, os.Symlink(precious, filepath.Join(folder, "link")))
	mustDo(t, os.Mkdir(filepath.Join(folder, "folder"), 0o700))
	for _, name := range []string{"../precious", "..", ".", "", precious, "folder/../link", "link", "folder"} {
		if err := Remove(folder, name, 0); !errors.Is(err, fault.Unproven) {
			t.Errorf("%q: %v", name, err)
		}
	}
	put(filepath.Join(folder, "file"))
	proved, err := In(folder, "file", 0)
	mustDo(t, err)
	mustDo(t, os.Rename(filepath.Join(folder, "file"), filepath.Join(folder, "aside")))
	put(filepath.Join(folder, "file"))
	if err := proved.Remove(); !errors.Is(err, fault.Unproven) {
		t.Errorf("another file in its place: %v", err)
	}
	if err := (Ours{}).Remove(); !errors.Is(err, fault.Unproven) {
		t.Errorf("without a proof: %v", err)
	}
	for _, path := range []string{precious, filepath.Join(folder, "link"), filepath.Join(folder, "folder"), filepath.Join(folder, "file")} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	mustDo(t, Remove(folder, "file", 0))
	if err := Remove(folder, "file", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	if err := RemoveEmpty(folder); err == nil {
		t.Error("a folder with something in it was removed")
	}
	if err := RemoveEmpty(filepath.Join(folder, "aside")); err == nil {
		t.Error("a file was removed as a folder")
	}
}

// TestXH08_WhatTheCallMade is deleted with all that is in it, once.
func TestXH08_WhatTheCallMade(t *testing.T) {
	base := t.TempDir()
	made, err := TempFolder(base, "made")
	mustDo(t, err)
	mustDo(t, os.WriteFile(filepath.Join(made.String(), "in it"), nil, 0o600))
	mustDo(t, made.Remove())
	mustDo(t, made.Remove())
	f, ours, err := Create(filepath.Join(base, "new"), 0o600)
	mustDo(t, err)
	mustDo(t, f.Close())
	if _, _, err := Create(filepath.Join(base, "new"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	mustDo(t, ours.Remove())
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
