package claudefs

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/leadlight-dev/leadlight/teams/store"
)

func listDir(p *place) string { return "tasks/" + p.folder }

func taskFile(p *place, id string) file {
	return file{name: listDir(p) + "/" + id + ".json", check: checkObject}
}

// softTask is the file of a task for a write that does not sync its folder.
func softTask(p *place, id string) file {
	x := taskFile(p, id)
	x.soft = true
	return x
}

// taskCache remembers the parsed files of one list. A file is read again when its
// signature changes; what is claimed or changed is always read under its lock.
type taskCache struct {
	mu    sync.Mutex
	files map[string]*cached // by id
	view  *view              // the last look, for claims
}

// cached is one file as it was read. It is never changed, so that lists can share
// it.
type cached struct {
	num  int64 // the id
	sig  signature
	task store.Task // Open is not filled
	bad  error      // why it cannot be used
}

func (f *FS) cacheOf(p *place) *taskCache {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.lists[p.team]
	if c == nil {
		c = &taskCache{files: map[string]*cached{}}
		f.lists[p.team] = c
	}
	return c
}

// look returns a task as it is now: from memory, if its file has not changed.
// fs.ErrNotExist if there is none.
func (c *taskCache) look(ctx context.Context, f *FS, p *place, id string, info fs.FileInfo) (*cached, error) {
	sig := signatureOf(info)
	c.mu.Lock()
	known, ok := c.files[id]
	c.mu.Unlock()
	if ok && known.sig == sig {
		return known, nil
	}
	now := &cached{num: store.IDNumber(id), sig: sig}
	data, err := f.read(ctx, taskFile(p, id))
	switch {
	case missing(err):
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		now.task, _, err = p.openTask(id, data)
	}
	now.bad, now.task.ID = err, id
	if now.task.UpdatedAt.IsZero() {
		now.task.UpdatedAt = info.ModTime()
	}
	c.mu.Lock()
	c.files[id] = now
	c.mu.Unlock()
	return now, nil
}

// status tells the status of a task that is there, for its dependants; of one that
// cannot be read it is "".
func (f *FS) status(ctx context.Context, p *place) func(id string) (string, bool) {
	c := f.cacheOf(p)
	return func(id string) (string, bool) {
		if store.IDNumber(id) < 0 {
			return "", false
		}
		info, err := f.dir.Lstat(taskFile(p, id).name)
		if err != nil {
			return "", false
		}
		now, err := c.look(ctx, f, p, id, info)
		if missing(err) {
			return "", false
		}
		if err != nil || now.bad != nil {
			return "", true
		}
		return now.task.Status, true
	}
}

// snapshot is a list as it was found.
type snapshot struct {
	list     []*cached // in numeric order, the unreadable ones included
	tasks    map[string]*cached
	links    *store.Links
	warnings []string
}

func (s *snapshot) status(id string) (string, bool) {
	c, ok := s.tasks[id]
	if !ok || c.bad != nil {
		return "", ok
	}
	return c.task.Status, true
}

// open returns a copy of a task with the links that others say, and Open filled.
func (s *snapshot) open(c *cached) store.Task {
	t := c.task.Clone()
	s.links.Join(&t, s.status)
	return t
}

// scan reads a list.
func (f *FS) scan(ctx context.Context, p *place) (*snapshot, error) {
	entries, err := f.entries(listDir(p))
	if err != nil {
		return nil, err
	}
	s := &snapshot{list: make([]*cached, 0, len(entries)), tasks: make(map[string]*cached, len(entries))}
	c := f.cacheOf(p)
	for _, e := range entries {
		id, ok := taskID(e.Name())
		if !ok {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // gone meanwhile
		}
		now, err := c.look(ctx, f, p, id, info)
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if now.bad != nil {
			s.warnings = append(s.warnings, fmt.Sprintf("%s.json was passed over: %v", id, now.bad))
		}
		s.list = append(s.list, now)
		s.tasks[id] = now
	}
	c.keep(s.tasks)
	slices.SortFunc(s.list, func(a, b *cached) int { return cmp.Compare(a.num, b.num) })
	highest, warning, err := f.waterMark(p)
	if err != nil {
		warning = err.Error()
	}
	if warning != "" {
		s.warnings = append(s.warnings, warning)
	}
	var whole []*store.Task
	for _, x := range s.list {
		if highest = max(highest, x.num); x.bad == nil {
			whole = append(whole, &x.task)
		}
	}
	s.links = store.NewLinks(highest, whole)
	return s, nil
}

// keep forgets the files that are gone.
func (c *taskCache) keep(there map[string]*cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.files) == len(there) {
		return
	}
	maps.DeleteFunc(c.files, func(id string, _ *cached) bool { return there[id] == nil })
}

// taskID returns the id that a file name stands for.
func taskID(name string) (string, bool) {
	id, ok := strings.CutSuffix(name, ".json")
	return id, ok && store.IDNumber(id) >= 0
}

const highWaterFile = ".highwatermark"

// highWater returns the highest id that was ever used: by a file, whether it can
// be read or not, or as the client's .highwatermark says.
func (f *FS) highWater(p *place) (int64, error) {
	entries, err := f.entries(listDir(p))
	if err != nil {
		return 0, err
	}
	var highest int64
	for _, e := range entries {
		if id, ok := taskID(e.Name()); ok {
			highest = max(highest, store.IDNumber(id))
		}
	}
	mark, _, err := f.waterMark(p)
	return max(highest, mark), err
}

// waterMark is what the client's .highwatermark says. One that is no number is passed over,
// with a warning if it is not empty.
func (f *FS) waterMark(p *place) (int64, string, error) {
	data, err := f.dir.Read(path.Join(listDir(p), highWaterFile))
	if missing(err) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	text := strings.Trim(string(data), " \t\r\n\"\ufeff")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > store.MaxID {
		if text == "" {
			return 0, "", nil
		}
		return 0, fmt.Sprintf("%s holds %q, which is no id, and was passed over", highWaterFile, store.Shown(text)), nil
	}
	return n, "", nil
}
