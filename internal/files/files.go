// Package files keeps durable files under one folder.
//
// Every access goes through an os.Root and follows no link below it: a name
// whose folders, or which itself, turns out to be a link is refused with
// fault.PermissionDenied. The root itself may be reached through links.
//
// A write is a temporary file, an fsync, a rename and an fsync of the folder, so
// that a reader sees the old bytes or the new ones, and a nil error means that
// the new ones survive a power failure. Temporary files have names that begin
// with TempPrefix and end in ".tmp"; no *.json glob matches them, and watchers
// pass over them.
//
// Names are slash paths relative to the root. All methods are safe for
// concurrent use.
package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

const (
	fileMode   = 0o600
	folderMode = 0o700
)

// AppendFlags are the flags of OpenFile that open a file, made if there is none,
// for writing at its end.
const AppendFlags = os.O_WRONLY | os.O_APPEND | os.O_CREATE

// Dir is a folder below which files are kept.
type Dir struct {
	top   *folder // the folder itself
	path  string
	above *Dir // whose folder top is, nil if it is its own
	heir  *heir

	mu   sync.Mutex         // guards the next, and the users of every folder
	held map[string]*folder // folders below that are open, by their names
}

// Open opens the folder at path and makes it, with mode 0700, if there is none.
func Open(path string) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, Explain("open", path, err)
	}
	if err := MakeFolders(abs); err != nil {
		if errors.Is(err, fs.ErrExist) { // and yet there is no folder
			err = errNowhere
		}
		return nil, Explain("make folder", abs, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, Explain("open", abs, err)
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil, Explain("open", abs, errors.Join(err, root.Close()))
	}
	d := newDir(root, abs)
	d.heir = heirOf(info)
	return d, nil
}

// Path returns the absolute path of the folder.
func (d *Dir) Path() string { return d.path }

// Join returns the absolute path of name, for messages and for Watch.
func (d *Dir) Join(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// Sub returns a folder below d as a Dir of its own, for several works in it. It
// must exist, and is to be closed once.
func (d *Dir) Sub(name string) (*Dir, error) {
	f, err := d.enter(name, false)
	if err != nil {
		return nil, err
	}
	return &Dir{top: f, path: f.Name(), above: d, heir: d.heir, held: map[string]*folder{}}, nil
}

// Read returns the content of a file, in one try. A byte order mark is kept.
func (d *Dir) Read(name string) ([]byte, error) {
	f, err := d.OpenFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, 0)
}

// readAll returns what is in f, never nil. More than limit bytes are an error, before
// anything is read if the size says so.
func readAll(f *os.File, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = MaxFile
	}
	info, err := f.Stat()
	if err != nil {
		return nil, Explain("read", f.Name(), err)
	}
	if info.Size() > limit {
		return nil, TooLarge(f.Name(), info.Size(), limit)
	}
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	switch n, err := b.ReadFrom(io.LimitReader(f, limit+1)); {
	case err != nil:
		return nil, Explain("read", f.Name(), err)
	case n > limit:
		return nil, TooLarge(f.Name(), n, limit)
	}
	return b.Bytes(), nil
}

// TooLarge is the error for a file that no program of this kind writes.
func TooLarge(path string, size, limit int64) error {
	return fault.New(fault.CorruptFile, "%s is too large to be read: %d bytes or more, at most %d", path, size, limit).
		WithHint("its bytes are kept; look what it is, and move it away")
}

// Holds tells whether a file has exactly that content; nil is no file.
func (d *Dir) Holds(name string, data []byte) (bool, error) {
	f, err := d.OpenFile(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return data == nil, nil
	}
	if err != nil || data == nil {
		return false, err
	}
	defer f.Close()
	chunk := make([]byte, min(len(data)+1, 64<<10))
	for {
		n, err := f.Read(chunk)
		if !bytes.HasPrefix(data, chunk[:n]) {
			return false, nil
		}
		data = data[n:]
		if err == io.EOF {
			return len(data) == 0, nil
		}
		if err != nil {
			return false, Explain("read", d.Join(name), err)
		}
	}
}

// How long ReadRetry waits for a writer: a file that stayed the same for quiet
// is not being written, and no writer gets longer than patience.
const (
	quiet    = 300 * time.Millisecond
	patience = time.Second
)

// ReadRetry returns the content of a file that satisfies ok. Another program may
// be rewriting it in place, so while ok fails the file is read again: for 300 ms
// after its last change, one second at most. Then the last error of ok is
// returned, with the bytes that caused it. A missing file is an error at once.
func (d *Dir) ReadRetry(ctx context.Context, name string, ok func([]byte) error) ([]byte, error) {
	var last []byte
	start := time.Now()
	changed, pause := start, 2*time.Millisecond
	for {
		data, err := d.Read(name)
		if err != nil {
			return nil, err
		}
		bad := ok(data)
		if bad == nil {
			return data, nil
		}
		now := time.Now()
		if !bytes.Equal(data, last) {
			last, changed = data, now
		}
		if now.Sub(changed) >= quiet || now.Sub(start) >= patience {
			return data, bad
		}
		select {
		case <-ctx.Done():
			return data, errors.Join(ctx.Err(), bad)
		case <-time.After(pause):
		}
		pause = min(2*pause, 25*time.Millisecond)
	}
}

// Append writes data at the end of a file (made with mode 0600) and syncs it.
func (d *Dir) Append(name string, data []byte) error {
	if err := d.MkdirAll(path.Dir(name)); err != nil {
		return err
	}
	f, err := d.OpenFile(name, AppendFlags)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = settle(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return Explain("append to", d.Join(name), err)
	}
	return nil
}

// OpenFile opens a file with the flags of os.OpenFile; a new one gets mode 0600.
// The folder must exist. What is to be appended to, and has other names, is copied first:
// it may be somebody else's file.
func (d *Dir) OpenFile(name string, flag int) (*os.File, error) {
	f, err := d.openFile(name, flag)
	if err != nil || flag&os.O_APPEND == 0 {
		return f, err
	}
	if info, err := f.Stat(); err != nil || Names(info) < 2 {
		return f, nil
	}
	f.Close()
	data, err := d.Read(name)
	if err == nil {
		err = d.WriteVolatile(context.Background(), name, data)
	}
	if err != nil {
		return nil, err
	}
	return d.openFile(name, flag)
}

// Names is how many names a file has, 0 if that is not known.
func Names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0
}

func (d *Dir) openFile(name string, flag int) (*os.File, error) {
	var f *os.File
	err := d.within(name, "open", func(r *os.Root, base string) (err error) {
		if d.heir != nil && flag&os.O_CREATE != 0 {
			f, err = d.heir.create(r, base, flag)
		} else {
			f, err = openPlain(r, base, flag)
		}
		return err
	})
	return f, err
}

// openPlain opens a regular file, never through a link and never waiting (a
// named pipe would make it wait for a peer).
func openPlain(r *os.Root, base string, flag int) (*os.File, error) {
	if info, err := r.Lstat(base); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	return regular(r.OpenFile(base, flag|syscall.O_NONBLOCK, fileMode))
}

// regular closes what was opened and is no regular file.
func regular(f *os.File, err error) (*os.File, error) {
	if errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.EISDIR) { // a socket or pipe without a peer; a folder
		return nil, errNotRegular
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var (
	errLink       = errors.New("is a link, and links are not followed here")
	errNotRegular = errors.New("is not a regular file")
	errNowhere    = errors.New("a link stands there that leads to nothing")
)

// within runs do in the folder of name. The error is explained with name's path.
func (d *Dir) within(name, op string, do func(r *os.Root, base string) error) error {
	f, err := d.enter(path.Dir(name), false)
	if err != nil {
		return err
	}
	defer d.leave(f)
	if err := do(f.Root, path.Base(name)); err != nil {
		return Explain(op, d.Join(name), err)
	}
	return nil
}
