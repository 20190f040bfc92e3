package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Ours is a file, a socket or a folder that is proved to be ours to delete: this very call
// has made it, or it stands in a folder of ours and is of the kind that we make there. Only
// the functions of this file make one; the zero value deletes nothing.
type Ours struct {
	path string
	was  fs.FileInfo
}

// String is its path.
func (o Ours) String() string { return o.path }

// In proves an entry of a folder of ours. It is one name and no path, of that type (0 is a
// regular file), and belongs to this user or to whom the folder belongs. One that is not
// there is fs.ErrNotExist, anything else fault.Unproven.
func In(folder, name string, of fs.FileMode) (Ours, error) {
	path := filepath.Join(folder, name)
	if name == "." || !filepath.IsLocal(name) || filepath.Base(path) != name {
		return Ours{}, fault.New(fault.Unproven, "%q is no name of a file in %s", name, folder)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return Ours{}, Explain("look at", path, err)
	}
	parent, err := os.Stat(folder)
	if err != nil {
		return Ours{}, Explain("look at", folder, err)
	}
	if by := owner(info); info.Mode().Type() != of || by != os.Geteuid() && by != owner(parent) {
		return Ours{}, fault.New(fault.Unproven, "%s is nothing that leadlight makes there (%s, of user %d)", path, info.Mode(), by)
	}
	return Ours{path, info}, nil
}

func owner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// Create makes a file that must not be there yet, and proves it.
func Create(path string, mode fs.FileMode) (*os.File, Ours, error) {
	return made(os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode))
}

// Temp makes a file as os.CreateTemp does, and proves it.
func Temp(folder, pattern string) (*os.File, Ours, error) {
	return made(os.CreateTemp(folder, pattern))
}

// room is what a verb may have to write.
const room = 64 << 10

// Writable tells whether as much as a verb may write can be written into a folder. It leaves
// nothing.
func Writable(folder string) error {
	probe, ours, err := Temp(folder, TempPrefix+"probe-")
	if err != nil {
		return Explain("write into", folder, err)
	}
	_, err = probe.Write(make([]byte, room))
	return errors.Join(Explain("write", probe.Name(), err), probe.Close(), ours.Remove())
}

func made(f *os.File, err error) (*os.File, Ours, error) {
	if err != nil {
		return nil, Ours{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, Ours{}, errors.Join(err, f.Close())
	}
	return f, Ours{f.Name(), info}, nil
}

// TempFolder makes a folder as os.MkdirTemp does, and proves it.
func TempFolder(folder, pattern string) (Ours, error) {
	path, err := os.MkdirTemp(folder, pattern)
	if err != nil {
		return Ours{}, err
	}
	info, err := os.Lstat(path)
	return Ours{path, info}, err
}

// Remove deletes it, a folder with all that is in it. It is no error if it is gone. Where
// another file stands by now, that one is left alone: fault.Unproven.
func (o Ours) Remove() error {
	if o.was == nil {
		return fault.New(fault.Unproven, "nothing is proved to be ours to delete")
	}
	root, err := os.OpenRoot(filepath.Dir(o.path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return Explain("remove", o.path, err)
	}
	defer root.Close()
	name := filepath.Base(o.path)
	switch now, err := root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return Explain("remove", o.path, err)
	case !os.SameFile(now, o.was):
		return fault.New(fault.Unproven, "%s is left alone: another file is there by now", o.path)
	case now.IsDir():
		return Explain("remove", o.path, root.RemoveAll(name))
	}
	return Explain("remove", o.path, root.Remove(name))
}

// Remove deletes an entry of a folder of ours: see In.
func Remove(folder, name string, of fs.FileMode) error {
	o, err := In(folder, name, of)
	if err != nil {
		return err
	}
	return o.Remove()
}

// RemoveEmpty removes a folder in which nothing is, and nothing else.
func RemoveEmpty(path string) error { return Explain("remove", path, syscall.Rmdir(path)) }
