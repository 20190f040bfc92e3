// Package lock takes bounded locks between processes and says who holds one
// that cannot be had.
//
// Acquire takes our own kind: flock on a file of its own that is never deleted.
// Folder takes Claude Code's kind: a folder beside the file it guards. Whoever
// needs both takes ours first.
package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/signals"
)

// Held is a lock that we hold.
type Held struct{ file *flock.Flock }

// Release gives the lock back. The file stays.
func (h *Held) Release() {
	// Unlock fails only on a descriptor that is closed, and then nothing is held.
	_ = h.file.Unlock()
}

// Acquire locks the file name below d, and makes it if there is none. It waits
// no longer than limit (or the deadline of ctx), then fails with
// fault.LockTimeout, which names the holder, how long it has held the lock, and
// the file. Verb says what the
// lock is wanted for; it is written into the file for others to read.
//
// The file has a second, hidden name, from which it is restored if somebody
// removes it: so two processes lock the same file even then. On a file system that has
// become read-only the lock is had as ever, but nobody signs it.
func Acquire(ctx context.Context, d *files.Dir, name, verb string, limit time.Duration) (*Held, error) {
	start := time.Now()
	h, err := Try(d, name, verb)
	if h == nil && err == nil {
		h, err = takeBy(d, name, verb, func(file *flock.Flock) (bool, error) {
			err := wait(ctx, file.Lock, file, limit-time.Since(start))
			return err == nil, err
		})
	}
	if errors.Is(err, errLate) {
		return nil, timeout(d, name, time.Since(start))
	}
	return h, err
}

// In is Acquire for one who has no folder open: it opens (and makes) the folder at path
// and closes it again on release.
func In(ctx context.Context, path, name, verb string, limit time.Duration) (release func(), err error) {
	dir, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the folder of the lock %s: %w", name, err)
	}
	held, err := Acquire(ctx, dir, name, verb, limit)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return func() {
		held.Release()
		_ = dir.Close()
	}, nil
}

// Try is Acquire without waiting: nil and no error if another holds the lock.
func Try(d *files.Dir, name, verb string) (*Held, error) {
	return takeBy(d, name, verb, (*flock.Flock).TryLock)
}

// takeBy locks the file by take, until what was locked is what others will lock.
func takeBy(d *files.Dir, name, verb string, take func(*flock.Flock) (locked bool, err error)) (*Held, error) {
	for flag, tries := os.O_RDWR, 0; ; tries++ {
		file := flock.New(d.Join(name), flock.SetFlag(flag|syscall.O_NONBLOCK))
		locked, err := take(file)
		switch {
		case forReading(err, &flag):
			continue
		case err != nil && gone(err) && tries < restoreTries:
			if err := restore(d, name); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, explain("lock", d.Join(name), err)
		case !locked:
			return nil, nil
		}
		if h, err := settle(d, name, verb, file); h != nil || err != nil {
			return h, err
		}
	}
}

// forReading changes how a file is opened, and tells that it did, if it cannot be written
// because its file system is read-only.
func forReading(err error, flag *int) bool {
	if *flag == os.O_RDONLY || !errors.Is(err, syscall.EROFS) {
		return false
	}
	*flag = os.O_RDONLY
	return true
}

// restoreTries bounds how often a file is restored that somebody removes again and again: in a
// folder that was moved away while it is open it does not come back under its name.
const restoreTries = 100

// Make makes the file of a lock, if it is not there, and leaves the lock to others.
func Make(d *files.Dir, name string) error { return restore(d, name) }

// Known tells whether a lock was ever made: its file stays.
func Known(d *files.Dir, name string) bool {
	for _, file := range []string{name, anchorOf(name)} {
		if _, err := d.Lstat(file); !gone(err) {
			return true
		}
	}
	return false
}

// Busy tells whether somebody holds the lock of a file. It makes and changes nothing: a
// lock whose file is not there is held by nobody who could be met.
func Busy(d *files.Dir, name string) (bool, error) {
	if _, err := d.Lstat(name); err != nil {
		if gone(err) {
			return false, nil
		}
		return false, err
	}
	file := flock.New(d.Join(name), flock.SetFlag(os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK))
	free, err := file.TryRLock()
	if err != nil {
		if gone(err) {
			return false, nil
		}
		return false, explain("look at the lock", d.Join(name), err)
	}
	_ = file.Unlock() // also of one that is not held: it closes the file
	return !free, nil
}

// AwaitFree waits, for limit at most, until nobody holds the lock of a file. If it has to,
// blocked is told who holds it. It makes and changes nothing.
func AwaitFree(ctx context.Context, d *files.Dir, name string, limit time.Duration, blocked func(holder string)) error {
	if held, err := Busy(d, name); !held {
		return err
	}
	blocked(Holder(d, name))
	file := flock.New(d.Join(name), flock.SetFlag(os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK))
	err := wait(ctx, file.RLock, file, limit)
	if errors.Is(err, errLate) {
		return timeout(d, name, limit)
	}
	if errors.Is(err, context.Canceled) { // Unlock would wait for what still waits
		return err
	}
	_ = file.Unlock()
	if gone(err) {
		err = nil
	}
	return explain("wait for the lock", d.Join(name), err)
}

// Probe tells whether files in a folder can be locked, by one of its own: the folder itself
// can be locked also where its file system gives no locks. It leaves nothing.
func Probe(folder string) error {
	probe, ours, err := files.Temp(folder, files.TempPrefix+"probe-")
	if err != nil {
		return explain("lock", folder, err)
	}
	file := flock.New(probe.Name(), flock.SetFlag(os.O_RDONLY))
	_, err = file.TryLock()
	return errors.Join(explain("lock", folder, err), file.Close(), probe.Close(), ours.Remove())
}

// explain is files.Explain. File systems without locks say so in several ways.
func explain(op, path string, err error) error {
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EOPNOTSUPP) {
		err = syscall.ENOLCK
	}
	return files.Explain(op, path, err)
}

// settle makes sure that what was locked is what others will lock, and signs it.
// It returns nil without an error if the file has been replaced or removed.
func settle(d *files.Dir, name, verb string, file *flock.Flock) (*Held, error) {
	h := &Held{file}
	same, err := sign(d, name, verb, file)
	if same && err == nil {
		return h, nil
	}
	h.Release()
	if gone(err) {
		err = nil
	}
	return nil, err
}

// restore brings the lock file back from its hidden name, or makes both.
func restore(d *files.Dir, name string) error {
	if err := d.MkdirAll(path.Dir(name)); err != nil {
		return err
	}
	anchor := anchorOf(name)
	for _, file := range []string{anchor, name} {
		err := d.Link(anchor, name)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return nil
		}
		// No anchor yet; or, in the second round, a file system without links.
		f, err := d.OpenFile(file, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

var errLate = errors.New("not in time")

// wait locks file by take, for limit at most. The kernel's queue is fair, polling would
// not be; but a blocked flock cannot be called off, so a late one is abandoned
// and unlocks itself when its turn comes.
func wait(ctx context.Context, take func() error, file *flock.Flock, limit time.Duration) error {
	if limit <= 0 {
		return errLate
	}
	var abandoned atomic.Bool
	done := make(chan error, 1)
	go func() {
		err := take()
		for errors.Is(err, syscall.EINTR) {
			err = take()
		}
		done <- err
		if abandoned.Load() {
			_ = file.Unlock()
		}
	}()
	late := errLate
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			late = ctx.Err()
		}
	}
	abandoned.Store(true)
	select {
	case err := <-done: // it came in just now; the goroutine may not have seen the flag
		_ = file.Unlock()
		_ = err
	default:
	}
	return late
}

// signature is the width of what a holder writes: always the same, so that one
// write replaces the whole of it and a reader never sees two halves.
const signature = 120

// sign writes who we are into the file that has the lock's name, if that is the
// one that we have locked.
func sign(d *files.Dir, name, verb string, locked *flock.Flock) (bool, error) {
	flag := os.O_WRONLY
	f, err := d.OpenFile(name, flag)
	if forReading(err, &flag) {
		f, err = d.OpenFile(name, flag)
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	named, err1 := f.Stat()
	ours, err2 := locked.Stat()
	if err := errors.Join(err1, err2); err != nil {
		return false, explain("lock", d.Join(name), err)
	}
	if !os.SameFile(named, ours) {
		return false, nil
	}
	if flag == os.O_RDONLY || !onlyOurs(d, name, named) {
		return true, nil // it locks all the same
	}
	line := fmt.Sprintf("%d %d %.80q", os.Getpid(), time.Now().UnixMilli(), verb)
	_, err = fmt.Fprintf(f, "%-*s\n", signature-1, line)
	// A full disk must not stop the one who wants to free space, and the name of
	// the holder is for messages only.
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = nil
	}
	return true, explain("lock", d.Join(name), err)
}

// onlyOurs tells whether a lock's file has no name but its own and the hidden one: with
// another it may be somebody else's, into which nothing is written.
func onlyOurs(d *files.Dir, name string, info fs.FileInfo) bool {
	switch files.Names(info) {
	case 1:
		return true
	case 2:
		hidden, err := d.Lstat(anchorOf(name))
		return err == nil && os.SameFile(hidden, info)
	}
	return false
}

// anchorOf is the hidden name of a lock's file.
func anchorOf(name string) string { return path.Join(path.Dir(name), "."+path.Base(name)) }

func timeout(d *files.Dir, name string, waited time.Duration) error {
	holder, pid, since := holder(d, name)
	hint := "see who has that file open"
	if pid > 0 {
		if !since.IsZero() {
			holder += fmt.Sprintf(", for %s,", max(0, time.Since(since)).Round(100*time.Millisecond))
		}
		hint = fmt.Sprintf("look at process %d; it may be stopped or hang", pid)
	}
	return fault.New(fault.LockTimeout, "%s holds the lock %s; gave up after %s", holder, d.Join(name), waited.Round(10*time.Millisecond)).WithHint("%s", hint)
}

// Holder names the process that holds a lock, as far as it is known.
func Holder(d *files.Dir, name string) string {
	who, _, _ := holder(d, name)
	return who
}

// holder names the process that holds a lock, and tells since when if it has signed it;
// pid is 0 if it is not known.
func holder(d *files.Dir, name string) (who string, pid int, since time.Time) {
	pid, verb, since, ok := LastHolder(d, name)
	found := lockers(d, name)
	switch {
	case ok && runs(pid) && (len(found) == 0 || slices.Contains(found, pid)):
		return fmt.Sprintf("process %d (%s)", pid, verb), pid, since
	case len(found) > 0 && found[0] > 0 && runs(found[0]):
		return fmt.Sprintf("process %d", found[0]), found[0], time.Time{}
	}
	return "another process", 0, time.Time{}
}

// runs tells whether a process is there: one that has signed a lock and is gone does not
// hold it.
func runs(pid int) bool {
	_, err := signals.Identify(pid)
	return !errors.Is(err, signals.ErrGone)
}

// LastHolder returns who has signed the lock last, for what, and when; it may have released
// it since.
func LastHolder(d *files.Dir, name string) (pid int, verb string, since time.Time, ok bool) {
	data, err := d.Read(name)
	var ms int64
	n, _ := fmt.Sscanf(string(data), "%d %d %q", &pid, &ms, &verb) // as sign writes it
	return pid, verb, time.UnixMilli(ms), err == nil && n == 3
}

func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
