package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Pauses between two polls: they double from the first to the last, and begin
// anew after each change.
const (
	firstPoll = time.Second
	lastPoll  = time.Minute
)

// Watcher turns changes of folders into hints. Where the file system reports
// them (inotify, kqueue) it listens; where it does not, or where the system's
// limit of watches is reached, it polls by itself and warns once. A process
// needs one Watcher: the system allows few of the kind. The zero value works.
type Watcher struct {
	Log *slog.Logger // nil: no warnings

	far    func(path string) bool // whether events do not come from there; nil: the system is asked
	mu     sync.Mutex
	events *fsnotify.Watcher
	warned bool
	subs   map[*subscription]bool
}

type subscription struct {
	file     string // if not "", only events of this file in its folder matter
	folders  func() []string
	poll     func() string
	hints    chan struct{}
	wake     chan struct{} // an event in one of the folders
	watched  map[string]bool
	distrust bool // events alone will not do
}

// Watch hints at changes in dirs, absolute paths of folders which need not exist
// yet, until ctx ends; the channel is then closed. The first hint comes at once,
// after the watches are in place. Hints may be late, doubled or about nothing.
//
// Poll describes the state that matters in a few bytes; it is asked instead of
// events where those do not come, every second at first and every minute at
// last. With nil, the entries of dirs are compared.
func (w *Watcher) Watch(ctx context.Context, dirs []string, poll func() string) (<-chan struct{}, error) {
	return w.WatchSet(ctx, func() []string { return dirs }, poll)
}

// WatchFile hints at changes of one file, which need not exist yet, nor its
// folder. What happens to its neighbours is passed over.
func (w *Watcher) WatchFile(ctx context.Context, path string, poll func() string) (<-chan struct{}, error) {
	return w.watchSet(ctx, path, func() []string { return []string{filepath.Dir(path)} }, poll)
}

// WatchSet is Watch for a set of folders that changes: it is asked again after
// every event.
func (w *Watcher) WatchSet(ctx context.Context, dirs func() []string, poll func() string) (<-chan struct{}, error) {
	return w.watchSet(ctx, "", dirs, poll)
}

func (w *Watcher) watchSet(ctx context.Context, file string, dirs func() []string, poll func() string) (<-chan struct{}, error) {
	for _, dir := range dirs() {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("watch %s: not an absolute path", dir)
		}
	}
	s := &subscription{file: file, folders: dirs, poll: poll, hints: make(chan struct{}, 1), wake: make(chan struct{}, 1), watched: map[string]bool{}}
	if s.poll == nil {
		s.poll = func() string { return entriesOf(dirs()) }
	}
	w.join(s)
	state := s.poll()
	notify(s.hints)
	go w.run(ctx, s, state)
	return s.hints, nil
}

// Polling tells whether it looks for itself at least at something, because no events
// come from there.
func (w *Watcher) Polling() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.subs {
		if s.distrust {
			return true
		}
	}
	return false
}

func (w *Watcher) silent(dir string) bool {
	if w.far != nil {
		return w.far(dir)
	}
	return remote(dir)
}

func (w *Watcher) run(ctx context.Context, s *subscription, state string) {
	defer close(s.hints)
	defer w.leave(s)
	pause := firstPoll
	timer := time.NewTimer(s.pause(pause))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			w.lookAgain(s)
			state = s.poll()
			notify(s.hints)
			pause = firstPoll
			timer.Reset(firstPoll) // nothing tells the end of a folder that somebody, such as we, has open
			continue
		case <-timer.C:
			w.lookAgain(s)
			now := s.poll()
			if now != state {
				notify(s.hints)
			}
			pause = backOff(pause, now != state)
			state = now
		}
		timer.Reset(s.pause(pause))
	}
}

func (w *Watcher) lookAgain(s *subscription) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arm(s)
}

// backOff is the pause after a poll: as short as possible where something changed,
// else twice the one before, up to the longest.
func backOff(pause time.Duration, changed bool) time.Duration {
	if changed {
		return firstPoll
	}
	return min(2*pause, lastPoll)
}

// pause is the time to the next poll. Where events can be trusted a poll a minute
// stays, as a net below them.
func (s *subscription) pause(backoff time.Duration) time.Duration {
	if s.distrust {
		return backoff
	}
	return lastPoll
}

func (w *Watcher) join(s *subscription) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.subs == nil {
		w.subs = map[*subscription]bool{}
	}
	w.subs[s] = true
	if w.events == nil {
		events, err := fsnotify.NewWatcher()
		if err != nil {
			w.warn(err)
		} else {
			w.events = events
			go w.listen(events)
		}
	}
	w.arm(s)
}

func (w *Watcher) leave(s *subscription) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.subs, s)
	for dir := range s.watched {
		w.unwatch(dir)
	}
	if len(w.subs) == 0 && w.events != nil {
		// Close fails only if it is closed already.
		_ = w.events.Close()
		w.events = nil
	}
}

// arm watches the subscription's folders, or the nearest folders above those
// that do not exist yet. Called with w.mu held.
func (w *Watcher) arm(s *subscription) {
	s.distrust = w.events == nil
	if w.events == nil {
		return
	}
	// A folder made between the look and the watch above it would be missed, so
	// the look is repeated until it shows nothing new.
	want := map[string]bool{}
	for range 5 {
		next := map[string]bool{}
		for _, dir := range s.folders() {
			next[nearest(dir)] = true
		}
		if maps.Equal(next, want) {
			break
		}
		want = next
		for dir := range want {
			w.watch(s, dir)
		}
	}
	for dir := range s.watched {
		if !want[dir] {
			delete(s.watched, dir)
			w.unwatch(dir)
		}
	}
}

// watch adds one folder. One that was removed and made again has lost its watch,
// so a watched one is added again; the system takes it for the same.
func (w *Watcher) watch(s *subscription, dir string) {
	s.distrust = s.distrust || w.silent(dir)
	if err := w.events.Add(dir); err != nil {
		s.distrust = true
		if !errors.Is(err, fs.ErrNotExist) {
			w.warn(err)
		}
		return
	}
	s.watched[dir] = true
}

// unwatch ends the watch over a folder that no subscription watches any more.
func (w *Watcher) unwatch(dir string) {
	for s := range w.subs {
		if s.watched[dir] {
			return
		}
	}
	if w.events != nil {
		// It fails if the folder is gone, and its watch with it.
		_ = w.events.Remove(dir)
	}
}

func (w *Watcher) listen(events *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-events.Events:
			if !ok {
				return
			}
			if tempName(filepath.Base(e.Name)) {
				continue
			}
			w.wakeUp(filepath.Dir(e.Name), e.Name)
		case err, ok := <-events.Errors:
			if !ok {
				return
			}
			// Events were lost: everybody looks again.
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				w.mu.Lock()
				w.warn(err)
				w.mu.Unlock()
			}
			w.wakeUp("", "")
		}
	}
}

// wakeUp tells those who watch dir or the folder name itself; "" tells all.
func (w *Watcher) wakeUp(dir, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.subs {
		neighbour := s.file != "" && name != s.file && dir == filepath.Dir(s.file)
		if dir == "" || s.watched[name] || s.watched[dir] && !neighbour {
			notify(s.wake)
		}
	}
}

// tempName tells names whose coming and going changes nothing: temporary files and
// lock folders, ours and Claude Code's.
func tempName(base string) bool {
	return strings.HasPrefix(base, TempPrefix) || strings.Contains(base, ".tmp.") || strings.HasSuffix(base, ".lock")
}

// warn says once that events do not come. Called with w.mu held.
func (w *Watcher) warn(err error) {
	if w.warned || w.Log == nil {
		return
	}
	w.warned = true
	hint := "changes are noticed within seconds instead of at once"
	switch {
	case errors.Is(err, syscall.ENOSPC):
		hint += "; raise fs.inotify.max_user_watches"
	case errors.Is(err, syscall.EMFILE):
		hint += "; raise fs.inotify.max_user_instances or the limit of open files"
	}
	w.Log.Warn("no file events, polling instead", "error", err, "hint", hint)
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// nearest returns the deepest existing folder on the way to dir.
func nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

// entriesOf describes what is in the folders: names, sizes and times.
func entriesOf(dirs []string) string {
	var b strings.Builder
	for _, dir := range dirs {
		fmt.Fprintf(&b, "%s\n", dir)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && !tempName(e.Name()) {
				fmt.Fprintf(&b, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String()
}
