package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
)

// MaxFile is the most that is read of one file, in bytes, unless its reader says
// otherwise.
const MaxFile = 64 << 20

// MaxSecret is the most that is read of a file of keys or of a token, in bytes.
const MaxSecret = 1 << 20

// ReadFile returns the content of the file at path, which may be reached through
// links. Only a regular file of at most limit bytes is read; anything else is an
// error at once. A limit of 0 is MaxFile.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

// Same tells whether two paths lead to one file or folder that is there.
func Same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// OpenRegular opens the file at path for reading. It never waits: a named pipe, a
// device, a socket or a folder is an error.
func OpenRegular(path string) (*os.File, error) {
	f, err := regular(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
	return f, Explain("open", path, err)
}

// Replace makes data the content of the file at path, durably and as a whole: see
// Dir.Write. Missing folders are made with mode 0700. A link in the place of the
// file is refused.
func Replace(path string, data []byte) error {
	return replace(path, func(d *Dir, name string) error { return d.Write(context.Background(), name, data) })
}

// ReplaceVolatile is Replace for what says nothing any more after a crash of the
// machine.
func ReplaceVolatile(path string, data []byte) error {
	return replace(path, func(d *Dir, name string) error { return d.WriteVolatile(context.Background(), name, data) })
}

// replace makes the folder again if somebody removes it, empty, before it is used.
func replace(path string, write func(d *Dir, name string) error) error {
	err := error(syscall.ENOENT)
	for try := 0; try < 5 && errors.Is(err, fs.ErrNotExist); try++ {
		var d *Dir
		if d, err = Open(filepath.Dir(path)); err != nil {
			continue
		}
		err = errors.Join(write(d, filepath.Base(path)), d.Close())
	}
	return err
}

// MakePrivate makes the folder dir with mode 0700, or checks the one that is
// there: see CheckPrivate.
func MakePrivate(dir string) error {
	if err := os.Mkdir(dir, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return Explain("make folder", dir, err)
	}
	return CheckPrivate(dir)
}

// CheckPrivate refuses a folder that is a link, belongs to somebody else or is
// open to others: they could put something of their own in there.
func CheckPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return Explain("look at", dir, err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.PermissionDenied, "folder %s must be yours alone (mode 0700, no link); it is %s", dir, info.Mode()).
			WithHint("chmod 700 %s if it is yours, else remove it, or set XDG_RUNTIME_DIR to a folder of yours", shell.Line(dir))
	}
	return nil
}

// CheckFolderOf refuses a path to write to that is a folder, or whose folder is not there: a
// mistyped folder is not made. What is what is to be written, such as "the backup".
func CheckFolderOf(what, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fault.New(fault.InvalidArgument, "%s cannot be written to %s: it is a folder", what, path).WithHint("name a file in it")
	}
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	if err == nil && info.IsDir() || errors.Is(err, fs.ErrPermission) {
		return nil // what is missing is said when it is written
	}
	return fault.New(fault.InvalidArgument, "%s cannot be written to %s: %s is no folder", what, path, folder).
		WithHint("make that folder, or name a file in one that is there")
}
