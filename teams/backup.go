package teams

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

// backup writes everything that is kept of a team into a .tar.gz at path, with
// paths relative to the base directory, and reads it back. No link is followed;
// a link is left out. The file appears at path only when it is whole.
func (rm *remover) backup(ctx context.Context, team, path string) (err error) {
	root, err := os.OpenRoot(rm.base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if path, err = rm.absolute("the backup", path); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return archiveExists(path)
	}
	folders := []string{"teams/" + team, "tasks/" + team, "leadlight/" + team}
	if rm.within(filepath.Dir(path), folders) {
		return fault.New(fault.Rejected, "%s is in a folder of team %s, which is deleted with it", path, team).WithHint("choose another place")
	}
	if err := files.CheckFolderOf("the backup", path); err != nil {
		return err
	}
	out, ours, err := files.Temp(filepath.Dir(path), ".leadlight-backup-"+team[:min(len(team), 100)]+"-") // one that is killed leaves it
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ours.Remove())
		}
	}()
	wrote, err := writeTar(ctx, root, out, folders...)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	read, err := countTar(out.Name())
	if err != nil {
		return fmt.Errorf("read the backup back: %w", err)
	}
	if read != wrote {
		return fmt.Errorf("the backup holds %d files of %d", read, wrote)
	}
	switch err = os.Link(out.Name(), path); { // unlike a rename, it replaces nothing
	case err == nil:
		return ours.Remove()
	case errors.Is(err, fs.ErrExist):
		return archiveExists(path)
	}
	return os.Rename(out.Name(), path) // a file system without links
}

// within tells whether a folder is one of those below the base directory, or in one.
func (rm *remover) within(dir string, folders []string) bool {
	for ; ; dir = filepath.Dir(dir) {
		at, err := os.Stat(dir)
		for _, folder := range folders {
			if of, noSuch := os.Stat(filepath.Join(rm.base, folder)); err == nil && noSuch == nil && os.SameFile(at, of) {
				return true
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func archiveExists(path string) error {
	return fault.New(fault.Rejected, "%s exists already, and a backup replaces nothing", path).WithHint("choose another name, or move it away")
}

// writeTar writes the folders of root, those that exist, and returns the number
// of files.
func writeTar(ctx context.Context, root *os.Root, w io.Writer, folders ...string) (files int, err error) {
	zw := gzip.NewWriter(w)
	tw := tar.NewWriter(zw)
	for _, folder := range folders {
		err := fs.WalkDir(root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && name == folder:
				return fs.SkipDir
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case !d.Type().IsRegular():
				return nil
			}
			files++
			return addFile(ctx, tw, root, name)
		})
		if err != nil {
			return files, err
		}
	}
	return files, errors.Join(tw.Close(), zw.Close())
}

func addFile(ctx context.Context, tw *tar.Writer, root *os.Root, name string) (err error) {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	h, err := tar.FileInfoHeader(fi, "")
	if err != nil {
		return err
	}
	h.Name = name
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(tw, until{ctx, f}, h.Size)
	return err
}

// until is a reader that ends with ctx, however much there is to read.
type until struct {
	ctx context.Context
	io.Reader
}

func (r until) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// countTar reads a .tar.gz to its end.
func countTar(path string) (files int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return 0, err
	}
	for tr := tar.NewReader(zr); ; files++ {
		if _, err := tr.Next(); err == io.EOF {
			return files, nil
		} else if err != nil {
			return files, err
		}
		if _, err := io.Copy(io.Discard, tr); err != nil {
			return files, err
		}
	}
}
