package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
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

// inherits hands over what was just made. What has other names or content was there before,
// and may be somebody else's; where the system refuses, it stays root's.
func (h *heir) inherits(f *os.File) {
	if h == nil {
		return
	}
	if info, err := f.Stat(); err == nil && owner(info) == 0 && (info.IsDir() || Names(info) == 1 && info.Size() == 0) {
		_ = f.Chown(h.uid, h.gid)
	}
}

// HandOver gives a file that root has just made to whom its folder belongs.
func HandOver(f *os.File) {
	if info, err := os.Stat(filepath.Dir(f.Name())); err == nil {
		heirOf(info).inherits(f)
	}
}

// mkdir makes a folder in another one.
func (h *heir) mkdir(in *os.Root, name string, mode fs.FileMode) error {
	err := in.Mkdir(name, mode)
	if err != nil || h == nil {
		return err
	}
	made, err := in.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err == nil {
		h.inherits(made)
		err = made.Close()
	}
	return err
}

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
