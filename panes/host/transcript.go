package host

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// OpenFunc opens a file for a transcript below some root of the caller's, with
// mode 0600 when flag creates it. RenameFunc renames within the same root.
type (
	OpenFunc   = func(name string, flag int) (*os.File, error)
	RenameFunc = func(old, new string) error
)

// previous is where a full transcript file is moved.
func previous(name string) string { return name + ".1" }

// retryAfter is the pause after a failure to write, so that a full disk does not
// cost an attempt for every piece of output.
const retryAfter = time.Second

// Transcript keeps raw output in a file of limited size: when it is half full, it
// becomes name.1 in place of the one before. A failure to write never reaches the
// program: those bytes are lost, Err tells the first reason, and it is tried again
// later. It may be used by several goroutines at once.
type Transcript struct {
	open   OpenFunc
	rename RenameFunc
	name   string
	half   int64

	mu    sync.Mutex
	file  *os.File
	size  int64
	err   error
	again time.Time
	over  bool
}

// NewTranscript keeps at most about maxBytes in name and name.1 together. The
// files are opened at the first write; a file that is there is continued.
func NewTranscript(open func(name string, flag int) (*os.File, error), rename func(old, new string) error, name string, maxBytes int64) *Transcript {
	return &Transcript{open: open, rename: rename, name: name, half: max(maxBytes/2, 1)}
}

// Write keeps p. It always reports success, see Err.
func (t *Transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.err != nil && time.Now().Before(t.again) {
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		n, err := t.put(rest)
		rest = rest[n:]
		if err != nil {
			t.fail(err)
			break
		}
	}
	return len(p), nil
}

// put writes as much of p as the file may still take.
func (t *Transcript) put(p []byte) (int, error) {
	if t.file != nil && t.size >= t.half {
		if err := t.rotate(); err != nil {
			return 0, err
		}
	}
	if t.file == nil {
		if err := t.begin(); err != nil {
			return 0, err
		}
	}
	if room := t.half - t.size; int64(len(p)) > room {
		p = p[:max(room, 1)]
	}
	n, err := t.file.Write(p)
	t.size += int64(n)
	return n, err
}

func (t *Transcript) begin() error {
	f, err := t.open(t.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	t.file, t.size = f, info.Size()
	if t.size >= t.half {
		return t.rotate()
	}
	return nil
}

func (t *Transcript) rotate() error {
	t.file.Close()
	t.file, t.size = nil, 0
	if err := t.rename(t.name, previous(t.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return t.begin()
}

func (t *Transcript) fail(err error) {
	if t.err == nil {
		t.err = err
	}
	t.again = time.Now().Add(retryAfter)
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// Err returns the first failure.
func (t *Transcript) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Close closes the file. What is written later is lost.
func (t *Transcript) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}
