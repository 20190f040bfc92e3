package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Rename moves a file, a folder or a link. The folder of the new name is made if
// there is none. An existing file is replaced, an existing folder is not. Where the two
// names are on different file systems, or the system says so (a folder of a container's
// image), what is there is copied, and has its new name when the copy is whole.
func (d *Dir) Rename(from, to string) error {
	err := d.RenameAtOnce(from, to)
	if errors.Is(err, syscall.EXDEV) {
		err = d.carry(from, to)
	}
	return err
}

// carry is Rename to another file system.
func (d *Dir) carry(from, to string) error {
	temp := path.Join(path.Dir(to), newTemp())
	err := d.copyTree(from, temp)
	if err == nil {
		err = d.RenameAtOnce(temp, to)
	}
	if err == nil {
		err = d.Sync(path.Dir(to))
	}
	if err != nil {
		return errors.Join(err, d.RemoveAll(temp))
	}
	// Out of the way first, where that can be: a removal that fails half way leaves no half.
	aside := path.Join(path.Dir(from), newTemp())
	if d.RenameAtOnce(from, aside) == nil {
		_ = d.RemoveAll(aside) // it has moved all the same
		return nil
	}
	return d.RemoveAll(from)
}

// RenameAtOnce is Rename within one file system: syscall.EXDEV where it would have to copy.
func (d *Dir) RenameAtOnce(from, to string) error {
	return d.pair("rename", from, to, (*os.Root).Rename)
}

// copyTree copies a file, a folder with all that is in it, or a link itself.
func (d *Dir) copyTree(from, to string) error {
	info, err := d.Lstat(from)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return d.copyLink(from, to)
	case !info.IsDir():
		return d.copyFile(from, to, info.Mode().Perm())
	}
	entries, err := d.ReadDir(from)
	if err == nil {
		err = d.MkdirAll(to)
	}
	for _, e := range entries {
		if err == nil {
			err = d.copyTree(path.Join(from, e.Name()), path.Join(to, e.Name()))
		}
	}
	if err != nil {
		return err
	}
	err = d.within(to, "copy", func(r *os.Root, base string) error { return r.Chmod(base, info.Mode().Perm()) })
	return errors.Join(err, d.Sync(to))
}

func (d *Dir) copyLink(from, to string) error {
	leads := ""
	err := d.within(from, "copy", func(r *os.Root, base string) (err error) {
		leads, err = r.Readlink(base)
		return err
	})
	if err != nil {
		return err
	}
	return d.within(to, "copy", func(r *os.Root, base string) error { return r.Symlink(leads, base) })
}

func (d *Dir) copyFile(from, to string, mode fs.FileMode) error {
	in, err := d.OpenFile(from, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := d.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(mode)
	}
	if err == nil {
		err = settle(out)
	}
	return Explain("copy", d.Join(from), errors.Join(err, out.Close()))
}
