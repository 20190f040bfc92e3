package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// heir is to whom a folder belongs, if that is somebody else and this is root: they get what
// is made in it. One verb by sudo would lock them out of their own team otherwise.
type heir struct{ uid, gid int }

func heirOf(info fs.FileInfo) *heir {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 || os.Geteuid() != 0 {
		return nil
	}
	return &heir{int(st.Uid), int(st.Gid)}
}

// create opens a file, and hands it over if this makes it: the system says so, since what is
// there may be somebody else's, moved or linked to this name by whose folder it is.
func (h *heir) create(in *os.Root, name string, flag int) (*os.File, error) {
	f, err := in.OpenFile(name, flag|os.O_EXCL, fileMode)
	if err == nil {
		h.inherits(f)
	}
	if errors.Is(err, fs.ErrExist) && flag&os.O_EXCL == 0 {
		return openPlain(in, name, flag)
	}
	return f, err
}

// inherits hands over what was just made; where the system refuses, it stays root's.
func (h *heir) inherits(f *os.File) {
	if h != nil {
		_ = f.Chown(h.uid, h.gid)
	}
}

// Make makes the empty file, if it is root who needs it and it is not there, and gives it to
// whom its folder belongs.
func Make(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	d, err := Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	f, err := d.OpenFile(filepath.Base(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, errLink) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// mkdir makes a folder in another one. What is opened after that need not be it: whose folder
// that is may have put another one there, or a link. So it is handed over only if it is no
// link, root's, empty and new.
func (h *heir) mkdir(in *os.Root, name string, mode fs.FileMode) error {
	began := time.Now().Add(-tick)
	err := in.Mkdir(name, mode)
	if err != nil || h == nil {
		return err
	}
	f, err := in.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := in.Lstat(name)
	if err != nil {
		return err
	}
	if _, none := f.Readdirnames(1); none == io.EOF && os.SameFile(info, there) && owner(info) == 0 && info.ModTime().After(began) {
		h.inherits(f)
	}
	return nil
}

// tick is by how much the time of a file may be behind the clock: some systems keep seconds.
const tick = 2 * time.Second

// MakeFolders makes a folder, and those above it that are missing.
func MakeFolders(path string) error {
	above := filepath.Dir(path)
	if _, err := os.Stat(path); err == nil || os.Geteuid() != 0 || above == path {
		return os.MkdirAll(path, folderMode)
	}
	if err := MakeFolders(above); err != nil {
		return err
	}
	in, err := os.OpenRoot(above)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat(".")
	if err == nil {
		err = heirOf(info).mkdir(in, filepath.Base(path), folderMode)
	}
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(path, folderMode)
	}
	return err
}
