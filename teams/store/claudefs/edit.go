package claudefs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store/ledger"
)

// lock takes one of our locks of a team. Its folder is made, so the caller checks
// first that the team exists.
func (f *FS) lock(ctx context.Context, team, name, verb string) (*lock.Held, error) {
	dir, err := f.locks(team)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if say := f.opts.Notice; say != nil { // nobody waits for long without a word
		late := time.AfterFunc(min(3*time.Second, f.opts.LockTimeout/2), func() {
			say("another process holds the lock " + dir.Join(name) + ": it is waited for, up to " + f.opts.LockTimeout.String())
		})
		defer late.Stop()
	}
	return lock.Acquire(ctx, dir, name, verb, f.opts.LockTimeout)
}

func locksFolder(team string) string { return ledger.Folder(team) + "/locks" }

func (f *FS) locks(team string) (*files.Dir, error) {
	name := locksFolder(team)
	dir, err := f.dir.Sub(name)
	if missing(err) {
		if err = f.dir.MkdirAll(name); err == nil {
			dir, err = f.dir.Sub(name)
		}
	}
	return dir, err
}

// optimism is how many times an edit is tried outside the folder lock.
const optimism = 3

// file is one file that Claude Code may write too.
type file struct {
	name  string             // below the base folder
	check func([]byte) error // tells a whole file from a torn one
	soft  bool               // a power failure may bring the old content back
}

// edit changes a file durably. Change gets its content (nil if there is no file)
// and returns the new one; it may run several times. If it returns the same
// bytes, or nil, nothing is written. The caller holds our lock of the file; the
// file's folder exists.
func (f *FS) edit(ctx context.Context, x file, change func([]byte) ([]byte, error)) error {
	return f.at(x, func(w *work) error { return w.edit(ctx, change) })
}

// editIn is edit for a caller that has the file's folder open.
func (f *FS) editIn(ctx context.Context, dir *files.Dir, x file, change func([]byte) ([]byte, error)) error {
	return f.work(dir, x).edit(ctx, change)
}

func (w *work) edit(ctx context.Context, change func([]byte) ([]byte, error)) error {
	for range optimism {
		old, err := w.read(ctx)
		if err != nil && !missing(err) {
			return err
		}
		data, err := change(old)
		if err != nil || data == nil || old != nil && bytes.Equal(data, old) {
			return err
		}
		p, err := w.dir.Prepare(w.name, data)
		if err != nil {
			return err
		}
		done, err := w.swap(ctx, p, old)
		p.Discard()
		if done || err != nil {
			return err
		}
	}
	return w.editInside(ctx, change)
}

// discard removes a file if it holds data. The caller holds our lock of the file.
func (f *FS) discard(ctx context.Context, x file, data []byte) error {
	return f.at(x, func(w *work) error {
		folder, err := lock.Folder(ctx, w.dir, w.name, w.limit)
		if err != nil {
			return err
		}
		defer folder.Release()
		if same, err := w.dir.Holds(w.name, data); err != nil || !same {
			return err
		}
		return w.dir.Remove(w.name)
	})
}

// work is the work on one file: its folder, opened once, and the file by its name in there.
type work struct {
	file
	dir   *files.Dir
	limit time.Duration
}

func (f *FS) work(dir *files.Dir, x file) *work {
	x.name = path.Base(x.name)
	return &work{x, dir, f.opts.LockTimeout}
}

// at opens the folder of a file for some work on it.
func (f *FS) at(x file, do func(w *work) error) error {
	dir, err := f.dir.Sub(path.Dir(x.name))
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(f.work(dir, x))
}

// swap renames the prepared file into place if the old content is still there.
func (w *work) swap(ctx context.Context, p *files.Pending, old []byte) (bool, error) {
	folder, err := lock.Folder(ctx, w.dir, w.name, w.limit)
	if err != nil {
		return false, err
	}
	same, err := w.dir.Holds(w.name, old)
	if same {
		err = p.Swap()
	}
	folder.Release()
	if !same || err != nil {
		return false, err
	}
	if w.soft {
		return true, nil
	}
	return true, p.Sync()
}

// editInside is edit under the folder lock from beginning to end.
func (w *work) editInside(ctx context.Context, change func([]byte) ([]byte, error)) error {
	folder, err := lock.Folder(ctx, w.dir, w.name, w.limit)
	if err != nil {
		return err
	}
	defer folder.Release()
	old, err := w.dir.Read(w.name)
	if err == nil {
		err = w.corrupt(old, w.check(old))
	} else if missing(err) {
		err = nil
	}
	if err != nil {
		return err
	}
	data, err := change(old)
	if err != nil || data == nil || old != nil && bytes.Equal(data, old) {
		return err
	}
	return w.dir.Write(ctx, w.name, data)
}

// lastLook is how long a reader waits for the folder lock of a damaged file.
const lastLook = 500 * time.Millisecond

// read returns a file's content, which is whole and never nil: fs.ErrNotExist,
// fault.CorruptFile.
func (f *FS) read(ctx context.Context, x file) (data []byte, err error) {
	err = f.at(x, func(w *work) error {
		data, err = w.read(ctx)
		return err
	})
	return data, err
}

func (w *work) read(ctx context.Context) ([]byte, error) {
	data, err := w.dir.ReadRetry(ctx, w.name, w.check)
	if err == nil || data == nil || ctx.Err() != nil {
		return data, err
	}
	bad := w.check(data)
	// Whoever writes in place holds the folder lock. If it cannot be had, what was
	// read so far decides.
	if folder, lerr := lock.FolderAlone(ctx, w.dir, w.name, lastLook); lerr == nil {
		data, err = w.dir.Read(w.name)
		folder.Release()
		if err != nil {
			return nil, err
		}
		bad = w.check(data)
	}
	return data, w.corrupt(data, bad)
}

// corrupt explains why a file cannot be used; nil if bad is nil, or if it only
// says that the file is empty where that is allowed.
func (w *work) corrupt(data []byte, bad error) error { return damaged(w.dir.Join(w.name), data, bad) }

func damaged(path string, data []byte, bad error) error {
	if bad == nil || errors.Is(bad, errBlank) {
		return nil
	}
	why := bad.Error()
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		why = "at byte 0: the text is UTF-16, want UTF-8"
	}
	return fault.New(fault.CorruptFile, "%s is damaged %s", path, why).
		WithHint("its bytes are kept; repair it or move it away")
}

// errBlank is the error of a check for a file without any content, which may be
// a file that is just being written. It becomes final only by way of read.
var errBlank = errors.New("the file is empty")

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// checkObject tells a whole roster or task from a torn one.
func checkObject(data []byte) error {
	_, err := rawjson.ParseObject(data)
	return err
}
