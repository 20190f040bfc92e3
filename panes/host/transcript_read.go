package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// ReadTranscript returns the last lines of a transcript, also while it is being
// written or after its host is gone; lines ≤ 0 means all that is kept. With plain
// set, escape sequences are removed. The error is that of open if there is no
// transcript (fs.ErrNotExist).
func ReadTranscript(open func(name string, flag int) (*os.File, error), name string, lines int, plain bool) ([]byte, error) {
	text, file, err := lastOf(open, name, lines, plain)
	file.Close() // also of none
	return text, err
}

// lastOf returns the last lines and the current file, read up to its end.
func lastOf(open OpenFunc, name string, lines int, plain bool) ([]byte, *os.File, error) {
	current, err := open(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		current, err = openRotated(open, name)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read transcript: %w", err)
	}
	if lines > 0 && plain {
		if text := lastPart(current, lines); text != nil {
			return text, current, nil
		}
	}
	text, err := readEnd(current, maxRead)
	if err != nil {
		current.Close()
		return nil, nil, fmt.Errorf("read transcript: %w", err)
	}
	if lines <= 0 || bytes.Count(text, []byte{'\n'}) <= lines {
		if older, err := open(previous(name), os.O_RDONLY); err == nil {
			before, err := readEnd(older, maxRead)
			if err == nil && !sameFile(older, current) {
				text = append(before, text...)
			}
			older.Close()
		}
	}
	if plain {
		text = plainText(text)
	}
	return lastLines(text, lines), current, nil
}

// maxRead is the most that is read of one file of a transcript, from its end: more than we
// write.
const maxRead = 64 << 20

// Few lines are looked for in the last part of a file first. More than they must be there: a
// sequence that began before that part may run into it.
const (
	partRead   = 256 << 10
	spareLines = 100
)

// lastPart returns the last lines of a file, nil if its last part does not hold them.
func lastPart(f *os.File, lines int) []byte {
	text, err := readEnd(f, partRead)
	if err != nil || bytes.Count(text, []byte{'\n'}) <= lines+spareLines {
		return nil
	}
	_, text, _ = bytes.Cut(text, []byte{'\n'}) // it may begin within a line
	if text = plainText(text); bytes.Count(text, []byte{'\n'}) <= lines+spareLines {
		return nil
	}
	return lastLines(text, lines)
}

// readEnd reads a file to its end, which is where it stays: all of it, or the last part
// of one that has more than most bytes.
func readEnd(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(max(info.Size()-most, 0), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, 2*most))
}

// openRotated opens the current file when it was not there a moment ago: it is
// missing for an instant while it is rotated, and after a failure to go on.
func openRotated(open OpenFunc, name string) (*os.File, error) {
	older, err := open(previous(name), os.O_RDONLY)
	if err != nil {
		return open(name, os.O_RDONLY)
	}
	if current, err := open(name, os.O_RDONLY); err == nil {
		older.Close()
		return current, nil
	}
	return older, nil
}

func sameFile(a, b *os.File) bool {
	x, errA := a.Stat()
	y, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// followInterval is how often a followed transcript is looked at.
const followInterval = 200 * time.Millisecond

// FollowTranscript writes the last lines and then everything that is added to w,
// through rotations, until ctx ends (nil) or w fails (its error). A transcript
// that does not exist yet is waited for. It is plain text, and comes line by line.
func FollowTranscript(ctx context.Context, open func(name string, flag int) (*os.File, error), name string, lines int, w io.Writer) error {
	text, file, err := lastOf(open, name, lines, true)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := w.Write(text); err != nil {
		file.Close()
		return fmt.Errorf("follow transcript: %w", err)
	}
	f := follower{open: open, name: name, file: file, to: w}
	defer func() { f.file.Close() }() // also of none
	tick := time.Tick(followInterval)
	for {
		if err := f.step(); err != nil {
			return fmt.Errorf("follow transcript: %w", err)
		}
		select {
		case <-ctx.Done():
			return f.put(nil, true)
		case <-tick:
		}
	}
}

type follower struct {
	open OpenFunc
	name string
	file *os.File
	seen os.FileInfo // the file read to its end last
	text plainWriter
	to   io.Writer
}

// step passes on what was added, and goes over to the next file when this one
// has been rotated away and read to its end.
func (f *follower) step() error {
	for {
		fresh, err := f.open(f.name, os.O_RDONLY)
		if err != nil {
			fresh = nil // between two files, or none yet
		}
		if f.file == nil {
			if f.file = fresh; fresh == nil {
				return nil
			}
			fresh = nil
		}
		if err := f.drain(); err != nil {
			fresh.Close()
			return err
		}
		if fresh == nil || sameFile(fresh, f.file) {
			fresh.Close()
			return nil
		}
		f.seen, _ = f.file.Stat()
		f.file.Close()
		f.file = f.between(fresh)
	}
}

// between returns the file that follows the one just read: fresh, or the one
// before it if there were two rotations since the last look.
func (f *follower) between(fresh *os.File) *os.File {
	older, err := f.open(previous(f.name), os.O_RDONLY)
	if err != nil {
		return fresh
	}
	if f.seen != nil {
		if info, err := older.Stat(); err == nil && !os.SameFile(info, f.seen) {
			fresh.Close()
			return older
		}
	}
	older.Close()
	return fresh
}

func (f *follower) drain() error {
	buf := make([]byte, 32<<10)
	for {
		n, err := f.file.Read(buf)
		if n > 0 {
			if err := f.put(buf[:n], false); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// put passes p on; rest also passes on the line begun.
func (f *follower) put(p []byte, rest bool) error {
	f.text.write(p)
	if p = f.text.take(rest); len(p) == 0 {
		return nil
	}
	_, err := f.to.Write(p)
	return err
}
