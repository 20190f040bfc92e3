package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// MkdirAll makes a folder and those above it, with mode 0700.
func (d *Dir) MkdirAll(name string) error {
	r, err := d.enter(name, true)
	if err != nil {
		return err
	}
	d.leave(r)
	return nil
}

// ReadDir returns the entries of a folder, sorted by name.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	r, err := d.enter(name, false)
	if err != nil {
		return nil, err
	}
	defer d.leave(r)
	entries, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return nil, Explain("list", d.Join(name), err)
	}
	return entries, nil
}

// SomeNames returns the names of at most n things in a folder, in no order, and costs the same
// whatever else the folder holds.
func (d *Dir) SomeNames(name string, n int) ([]string, error) {
	r, err := d.enter(name, false)
	if err != nil {
		return nil, err
	}
	defer d.leave(r)
	f, err := r.Open(".")
	if err != nil {
		return nil, Explain("list", d.Join(name), err)
	}
	defer f.Close()
	names, err := f.Readdirnames(n)
	if err != nil && err != io.EOF {
		return nil, Explain("list", d.Join(name), err)
	}
	return names, nil
}

// Lstat describes a file, a folder, or a link itself.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	var info fs.FileInfo
	err := d.within(name, "stat", func(r *os.Root, base string) (err error) {
		info, err = r.Lstat(base)
		return err
	})
	return info, err
}

// Mkdir makes one folder and describes it. An existing one is fs.ErrExist.
func (d *Dir) Mkdir(name string, mode fs.FileMode) (fs.FileInfo, error) {
	var made fs.FileInfo
	err := d.within(name, "make folder", func(r *os.Root, base string) error {
		err := d.heir.mkdir(r, base, mode)
		if err == nil {
			made, err = r.Lstat(base)
		}
		return err
	})
	return made, err
}

// Remove removes a file, an empty folder, or a link itself.
func (d *Dir) Remove(name string) error {
	return d.within(name, "remove", func(r *os.Root, base string) error { return r.Remove(base) })
}

// RemoveAll removes a file or a folder with all that is in it; of a link, the
// link. It is no error if there is nothing.
func (d *Dir) RemoveAll(name string) error {
	var err error
	for range removeTries { // a writer that holds the folder open may put one file more into it
		err = d.within(name, "remove", func(r *os.Root, base string) error { return r.RemoveAll(base) })
		if !errors.Is(err, syscall.ENOTEMPTY) {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeTries bounds how often a folder that does not stay empty is removed again.
const removeTries = 100

// Link gives a file a second name. An existing one is fs.ErrExist.
func (d *Dir) Link(from, to string) error {
	return d.pair("link", from, to, (*os.Root).Link)
}

// pair does what takes two names, each in a folder that enter has looked at.
func (d *Dir) pair(op, from, to string, do func(r *os.Root, oldname, newname string) error) error {
	f, err := d.enter(path.Dir(from), false)
	if err != nil {
		return err
	}
	defer d.leave(f)
	t, err := d.enter(path.Dir(to), true)
	if err != nil {
		return err
	}
	defer d.leave(t)
	if f == t {
		err = do(f.Root, path.Base(from), path.Base(to))
	} else {
		err = do(d.top.Root, from, to)
	}
	return Explain(op, d.Join(from), err)
}
