package lock

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

// Stale is the age from which Claude Code counts a lock folder as left behind.
// Its own long holders renew the folder's time every five seconds.
const Stale = 10 * time.Second

// FolderLock is a lock folder that we made.
type FolderLock struct {
	dir  *files.Dir
	name string
	made fs.FileInfo
}

// Pauses between two tries. The first are short, because the client holds its
// locks for a few milliseconds and gives no place in a queue.
const (
	firstPause = 100 * time.Microsecond
	lastPause  = 10 * time.Millisecond
)

// mark is the mode of the lock folders we make, by which we know them: the client
// makes its own with the mode of any folder. A mode is there from the first
// moment on, whenever the maker is killed.
const mark fs.FileMode = 0o500

// Folder takes Claude Code's lock on the file target: it makes the folder
// "<target>.lock" beside it. One that has not been renewed for Stale is taken
// over. It waits no longer than limit (and ctx), then fails with
// fault.LockTimeout. The folder of target must exist.
//
// The caller holds our own lock of that file. So a lock folder that one of
// us made was left by a process that died, and is taken over at once.
//
// Hold it for a few milliseconds: older clients give up a write silently when
// they find it.
func Folder(ctx context.Context, d *files.Dir, target string, limit time.Duration) (*FolderLock, error) {
	return folder(ctx, d, target, limit, true)
}

// FolderAlone is Folder for a caller that does not hold our own lock of the file.
func FolderAlone(ctx context.Context, d *files.Dir, target string, limit time.Duration) (*FolderLock, error) {
	return folder(ctx, d, target, limit, false)
}

func folder(ctx context.Context, d *files.Dir, target string, limit time.Duration, owner bool) (*FolderLock, error) {
	name := target + ".lock"
	start := time.Now()
	var seen sighting
	for pause := firstPause; ; pause = min(pause*5/4, lastPause) {
		made, err := d.Mkdir(name, mark)
		if err == nil {
			return &FolderLock{d, name, made}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err := d.Lstat(name)
		if err == nil && (seen.stale(info) || owner && info.Mode().Perm() == mark) {
			if err := steal(d, name, info); err != nil {
				return nil, err
			}
			continue
		}
		if time.Since(start) >= limit {
			return nil, folderTimeout(d, name, info, limit)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// sighting remembers since when a lock folder has looked the same, by our own
// clock: the file system's may differ from it.
type sighting struct {
	info  fs.FileInfo
	since time.Time
}

func (s *sighting) stale(info fs.FileInfo) bool {
	if s.info == nil || !os.SameFile(s.info, info) || !s.info.ModTime().Equal(info.ModTime()) {
		s.info, s.since = info, time.Now()
	}
	return time.Since(info.ModTime()) > Stale || time.Since(s.since) > Stale
}

// steal removes a lock folder that was left behind. The rename decides between
// two thieves; what was moved is then compared with what was seen, because the
// folder may have been replaced by a live one in between.
func steal(d *files.Dir, name string, seen fs.FileInfo) error {
	aside := path.Join(path.Dir(name), files.TempPrefix+rand.Text()+".stale")
	err := d.RenameAtOnce(name, aside)
	switch {
	case gone(err):
		return nil
	case errors.Is(err, syscall.EXDEV): // of a container's image: nobody holds it
		return d.Remove(name)
	}
	if err != nil {
		return err
	}
	moved, err := d.Lstat(aside)
	if err == nil && (!os.SameFile(moved, seen) || !moved.ModTime().Equal(seen.ModTime())) {
		// A live one: put it back, unless a third has made the next already.
		if d.RenameAtOnce(aside, name) == nil {
			return nil
		}
	}
	return d.RemoveAll(aside)
}

// Release removes the folder if it is still the one we made. None is released by nothing.
func (f *FolderLock) Release() {
	if f == nil {
		return
	}
	if info, err := f.dir.Lstat(f.name); err == nil && os.SameFile(info, f.made) {
		// If this fails the folder is stale soon, and others take it over.
		_ = f.dir.Remove(f.name)
	}
}

func folderTimeout(d *files.Dir, name string, info fs.FileInfo, limit time.Duration) error {
	age := "unknown"
	if info != nil {
		age = max(0, time.Since(info.ModTime())).Round(100 * time.Millisecond).String()
	}
	return fault.New(fault.LockTimeout, "another program holds the lock folder %s (age %s); gave up after %s", d.Join(name), age, limit).
		WithHint("a folder that is not renewed is taken over after %s; try again", Stale)
}
