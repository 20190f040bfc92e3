package files

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// TempPrefix is how the names of our temporary files begin.
const TempPrefix = ".leadlight-"

func newTemp() string { return TempPrefix + rand.Text() + ".tmp" }

// Write replaces the content of a file, durably. A new file gets mode 0600 and
// missing folders are made with 0700; an existing file keeps its mode. On
// failure the old content stays and nothing is left behind.
func (d *Dir) Write(ctx context.Context, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := d.Prepare(name, data)
	if err != nil {
		return err
	}
	return p.Commit()
}

// WriteVolatile is Write for what says nothing any more after a crash of the
// machine: as whole for every reader, but nothing is synced.
func (d *Dir) WriteVolatile(ctx context.Context, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := d.prepare(name, data, false)
	if err != nil {
		return err
	}
	defer p.Discard()
	return p.Swap()
}

// SyncFiles makes files that were written by WriteVolatile into one folder durable. One that
// is gone is passed over.
func (d *Dir) SyncFiles(names []string) error {
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		f, err := d.OpenFile(name, os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(settle(f), f.Close())
		}
		if err != nil {
			return Explain("sync", d.Join(name), err)
		}
	}
	return d.Sync(path.Dir(names[0]))
}

// Pending is a file that is complete and on disk, but not yet under its name.
// Commit or Discard ends it; Discard may follow anything. Its Dir stays open until
// then.
type Pending struct {
	dir    *Dir
	name   string
	temp   string
	folder *folder
}

// Prepare writes and syncs the new content of a file beside it.
func (d *Dir) Prepare(name string, data []byte) (*Pending, error) { return d.prepare(name, data, true) }

func (d *Dir) prepare(name string, data []byte, sync bool) (*Pending, error) {
	folder, err := d.enter(path.Dir(name), true)
	if err != nil {
		return nil, err
	}
	p := &Pending{dir: d, name: name, folder: folder, temp: newTemp()}
	if err := p.fill(data, sync); err != nil {
		p.Discard()
		return nil, Explain("write", d.Join(name), err)
	}
	return p, nil
}

func (p *Pending) fill(data []byte, sync bool) error {
	mode, err := p.mode()
	if err != nil {
		return err
	}
	f, err := p.folder.OpenFile(p.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, fileMode)
	if err != nil {
		p.temp = ""
		return err
	}
	p.dir.heir.inherits(f)
	_, err = f.Write(data)
	if err == nil && mode != fileMode {
		err = f.Chmod(mode)
	}
	if err == nil && sync {
		err = settle(f)
	}
	return errors.Join(err, f.Close())
}

// mode is the one the file has, or that of a new file.
func (p *Pending) mode() (fs.FileMode, error) {
	info, err := p.folder.Lstat(path.Base(p.name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileMode, nil
	case err != nil:
		return 0, err
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, errLink
	case !info.Mode().IsRegular():
		return 0, errNotRegular
	}
	return info.Mode().Perm(), nil
}

// Commit puts the file under its name and syncs the folder.
func (p *Pending) Commit() error {
	defer p.Discard()
	if err := p.Swap(); err != nil {
		return err
	}
	return p.Sync()
}

// Swap is the first half of Commit: the rename alone.
func (p *Pending) Swap() error {
	if err := p.folder.Rename(p.temp, path.Base(p.name)); err != nil {
		return Explain("write", p.dir.Join(p.name), err)
	}
	p.temp = ""
	return nil
}

// Sync is the second half of Commit: the sync of the folder.
func (p *Pending) Sync() error { return syncFolder(p.folder.Root, p.dir.Join(path.Dir(p.name))) }

// Discard gives the content up, if it is not under its name yet.
func (p *Pending) Discard() {
	if p.folder == nil {
		return
	}
	if p.temp != "" {
		// Nothing can be done about a failure: OldTemps finds what stays.
		_ = p.folder.Remove(p.temp)
	}
	p.dir.leave(p.folder)
	p.folder = nil
}

// Sync makes what was renamed or removed in a folder durable.
func (d *Dir) Sync(name string) error {
	r, err := d.enter(name, false)
	if err != nil {
		return err
	}
	defer d.leave(r)
	return syncFolder(r.Root, d.Join(name))
}

func syncFolder(r *os.Root, path string) error {
	f, err := r.OpenFile(".", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Explain("sync", path, err)
	}
	defer f.Close()
	return Explain("sync", path, settle(f))
}

// settle syncs a file or a folder. Some network file systems have no sync: what is there is
// as durable as they can make it, and to fail now would make the caller do it a second time.
func settle(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
