package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// maxHeld is how many folders a Dir keeps open between two uses.
const maxHeld = 32

// folder is an open folder. It stays open when nobody uses it, for whoever comes next,
// and its place is looked at each time: see enter.
type folder struct {
	*os.Root
	info  fs.FileInfo
	users int  // guarded by Dir.mu, as is the next
	out   bool // no longer held: its last user closes it
}

func newDir(root *os.Root, path string) *Dir {
	return &Dir{top: &folder{Root: root}, path: path, held: map[string]*folder{}}
}

// Close closes the folder. Files that are open stay open.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.held {
		d.letGo(name)
	}
	if d.above != nil {
		d.above.leave(d.top)
		return nil
	}
	return d.top.Close()
}

// enter opens a folder step by step and looks at each step first, so that no link
// is followed. (One that is put there between the look and the step can lead to
// another place below the same root at most.) A folder that is open from before and
// still stands in that place is not opened again. To be ended by leave.
func (d *Dir) enter(name string, make bool) (*folder, error) {
	if !filepath.IsLocal(name) {
		return nil, Explain("open", d.Join(name), errors.New("leads out of "+d.path))
	}
	current := d.top
	name = path.Clean(name)
	if name == "." {
		return current, nil
	}
	for end := 0; end < len(name); end++ {
		part, _, _ := strings.Cut(name[end:], "/")
		end += len(part)
		next, err := d.step(current, part, name[:end], make)
		d.leave(current)
		if err != nil {
			return nil, Explain("open", d.Join(name[:end]), err)
		}
		current = next
	}
	return current, nil
}

// leave ends the use of a folder.
func (d *Dir) leave(f *folder) {
	if f == d.top {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.users--; f.out && f.users == 0 {
		f.Close()
	}
}

// step goes from a folder to the one in it that is called part; name is the whole name
// of that.
func (d *Dir) step(from *folder, part, name string, make bool) (*folder, error) {
	info, err := from.Lstat(part)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := d.heir.mkdir(from.Root, part, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = from.Lstat(part)
	}
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !info.IsDir():
		return nil, syscall.ENOTDIR
	}
	if f := d.holds(name, info); f != nil {
		return f, nil
	}
	root, err := from.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	if info, err = root.Lstat("."); err != nil {
		root.Close()
		return nil, err
	}
	return d.hold(name, &folder{Root: root, info: info, users: 1}), nil
}

// holds returns the open folder of a name, if it is the one that info describes.
func (d *Dir) holds(name string, info fs.FileInfo) *folder {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.held[name]
	if f == nil || !os.SameFile(f.info, info) {
		return nil
	}
	f.users++
	return f
}

// hold keeps a folder open under its name, in the place of any other.
func (d *Dir) hold(name string, f *folder) *folder {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, taken := d.held[name]; !taken && len(d.held) >= maxHeld {
		for other := range d.held {
			d.letGo(other)
			break
		}
	}
	d.letGo(name)
	d.held[name] = f
	return f
}

// letGo holds a folder no longer. The caller has locked mu.
func (d *Dir) letGo(name string) {
	f := d.held[name]
	if f == nil {
		return
	}
	delete(d.held, name)
	if f.out = true; f.users == 0 {
		f.Close()
	}
}
