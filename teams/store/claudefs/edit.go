package claudefs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/leadlight-dev/leadlight/teams/fault"
	"github.com/leadlight-dev/leadlight/teams/store/files"
	"github.com/leadlight-dev/leadlight/teams/store/ledger"
	"github.com/leadlight-dev/leadlight/teams/store/lock"
	"github.com/leadlight-dev/leadlight/teams/store/rawjson"
)

// lock takes one of our locks of a team. Its folder is made, so the caller checks
// first that the team exists.
func (f *FS) lock(ctx context.Context, team, name, verb string) (*lock.Held, error) {
	return lock.Acquire(ctx, f.dir, lockFile(team, name), verb, f.opts.LockTimeout)
}

func lockFile(team, name string) string { return ledger.Folder(team) + "/locks/" + name }

// optimism is how many times an edit is tried outside the folder lock.
const optimism = 5

// file is one file that Claude Code may write too.
type file struct {
	name  string             // below the base folder
	check func([]byte) error // tells a whole file from a torn one
	guard string             // whose folder lock to take; "" is name's own
}

func (x file) guarded() string {
	if x.guard != "" {
		return x.guard
	}
	return x.name
}

// edit changes a file durably. Change gets its content (nil if there is no file)
// and returns the new one; it may run several times. If it returns the same
// bytes, or nil, nothing is written. The caller holds our lock of the file.
func (f *FS) edit(ctx context.Context, x file, change func([]byte) ([]byte, error)) error {
	for range optimism {
		old, err := f.read(ctx, x)
		if err != nil && !missing(err) {
			return err
		}
		data, err := change(old)
		if err != nil || data == nil || old != nil && bytes.Equal(data, old) {
			return err
		}
		p, err := f.dir.Prepare(x.name, data)
		if err != nil {
			return err
		}
		done, err := f.swap(ctx, x, p, old)
		p.Discard()
		if done || err != nil {
			return err
		}
	}
	return f.editInside(ctx, x, change)
}

// swap renames the prepared file into place if the old content is still there.
func (f *FS) swap(ctx context.Context, x file, p *files.Pending, old []byte) (bool, error) {
	folder, err := lock.Folder(ctx, f.dir, x.guarded(), f.opts.LockTimeout)
	if err != nil {
		return false, err
	}
	now, err := f.dir.Read(x.name)
	switch {
	case missing(err):
		err, now = nil, nil
	case err == nil && now == nil:
		now = []byte{}
	}
	same := err == nil && (now == nil) == (old == nil) && bytes.Equal(now, old)
	if same {
		err = p.Swap()
	}
	folder.Release()
	if !same || err != nil {
		return false, err
	}
	return true, p.Sync()
}

// editInside is edit under the folder lock from beginning to end.
func (f *FS) editInside(ctx context.Context, x file, change func([]byte) ([]byte, error)) error {
	folder, err := lock.Folder(ctx, f.dir, x.guarded(), f.opts.LockTimeout)
	if err != nil {
		return err
	}
	defer folder.Release()
	old, err := f.dir.Read(x.name)
	if err == nil {
		err = f.corrupt(x, old, x.check(old))
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
	return f.dir.Write(ctx, x.name, data)
}

// lastLook is how long a reader waits for the folder lock of a damaged file.
const lastLook = 500 * time.Millisecond

// read returns a file's content, which is whole and never nil: fs.ErrNotExist,
// fault.CorruptFile.
func (f *FS) read(ctx context.Context, x file) ([]byte, error) {
	data, err := f.dir.ReadRetry(ctx, x.name, x.check)
	if err == nil {
		return data, nil
	}
	bad := x.check(data)
	if data == nil || bad == nil || ctx.Err() != nil {
		return nil, err
	}
	// Whoever writes in place holds the folder lock. If it cannot be had, what was
	// read so far decides.
	if folder, lerr := lock.FolderAlone(ctx, f.dir, x.guarded(), lastLook); lerr == nil {
		data, err = f.dir.Read(x.name)
		folder.Release()
		if err != nil {
			return nil, err
		}
		bad = x.check(data)
	}
	if err := f.corrupt(x, data, bad); err != nil {
		return nil, err
	}
	return data, nil
}

// corrupt explains why a file cannot be used; nil if bad is nil, or if it only
// says that the file is empty where that is allowed.
func (f *FS) corrupt(x file, data []byte, bad error) error {
	if bad == nil || errors.Is(bad, errBlank) {
		return nil
	}
	path := f.dir.Join(x.name)
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

// document lays a value out as the client does.
func document(o *rawjson.Object) []byte { return rawjson.Pretty(o.Raw(), "") }
