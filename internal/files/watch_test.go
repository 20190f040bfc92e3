package files_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/files"
)

func hint(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case _, open := <-c:
		if !open {
			t.Fatalf("%s: the watch has ended", what)
		}
	case <-time.After(30 * time.Second): // in a minute the watch looks by itself
		t.Fatalf("%s: no hint within 30 s", what)
	}
}

// quiet does something, each time under another name, of which no hint comes. One of before
// may be late: what gives a hint gives it every time.
func quiet(t *testing.T, what string, c <-chan struct{}, do func(n string)) {
	t.Helper()
	for n := range 10 {
		drain(c)
		do(strconv.Itoa(n))
		select {
		case <-c:
		case <-time.After(200 * time.Millisecond):
			return
		}
	}
	t.Errorf("%s: a hint", what)
}

// drain takes hints until none comes for a while.
func drain(c <-chan struct{}) {
	for {
		select {
		case <-c:
		case <-time.After(100 * time.Millisecond):
			return
		}
	}
}

func TestDL05_WatchSeesSavesOfEveryKind(t *testing.T) {
	d, base := open(t)
	c, err := new(files.Watcher).Watch(t.Context(), []string{base}, nil)
	ok(t, err)
	hint(t, "first", c)
	for i := range 50 {
		ok(t, d.Write(t.Context(), "f.json", fmt.Append(nil, i)))
		hint(t, "rename", c)
	}
	drain(c)
	ok(t, os.WriteFile(filepath.Join(base, "f.json"), []byte("in place"), 0o600))
	hint(t, "write in place", c)
	drain(c)
	ok(t, os.Remove(filepath.Join(base, "f.json")))
	hint(t, "removal", c)
	quiet(t, "locks and temporary files", c, func(n string) {
		ok(t, os.Mkdir(filepath.Join(base, "f"+n+".json.lock"), 0o700))
		ok(t, os.WriteFile(filepath.Join(base, "f.json.tmp.0a1b2c3"+n), nil, 0o600))
		ok(t, os.WriteFile(filepath.Join(base, files.TempPrefix+n+".tmp"), nil, 0o600))
	})
}

func TestDL04_WatchOfFoldersThatAppearLater(t *testing.T) {
	_, base := open(t)
	dir := filepath.Join(base, "teams", "alpha", "inboxes")
	c, err := new(files.Watcher).Watch(t.Context(), []string{dir}, nil)
	ok(t, err)
	hint(t, "first", c)
	for range 3 {
		ok(t, os.MkdirAll(dir, 0o700))
		ok(t, os.WriteFile(filepath.Join(dir, "a.json"), []byte("[]"), 0o600))
		hint(t, "the folder with its file", c)
		drain(c)
		ok(t, os.WriteFile(filepath.Join(dir, "b.json"), []byte("[]"), 0o600))
		hint(t, "a file in the new folder", c)
		ok(t, os.RemoveAll(filepath.Join(base, "teams")))
		hint(t, "removal", c)
		drain(c)
	}
}

// TestDL04_AFolderThatIsOpenIsRemoved: the system does not tell of the end of a folder while
// somebody has it open, as readers of a mailbox have. What is made in its place is seen.
func TestDL04_AFolderThatIsOpenIsRemoved(t *testing.T) {
	_, base := open(t)
	dir := filepath.Join(base, "inboxes")
	path := filepath.Join(dir, "a.json")
	c, err := new(files.Watcher).WatchFile(t.Context(), path, func() string { _, err := os.Lstat(path); return fmt.Sprint(err) })
	ok(t, err)
	for range 2 {
		drain(c)
		ok(t, os.MkdirAll(dir, 0o700))
		ok(t, os.WriteFile(path, []byte("[]"), 0o600))
		hint(t, "the folder with its file", c)
		held, err := os.Open(dir)
		ok(t, err)
		defer held.Close()
		drain(c)
		ok(t, os.Remove(path))
		hint(t, "the removal of the file", c)
		drain(c) // the folder is still there when it is looked at
		ok(t, os.Remove(dir))
	}
}

func TestWatchersShareAndEnd(t *testing.T) {
	_, base := open(t)
	var w files.Watcher
	for _, dir := range []string{"a", "b"} {
		ok(t, os.Mkdir(filepath.Join(base, dir), 0o700))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := w.Watch(ctx, []string{filepath.Join(base, "a")}, nil)
	ok(t, err)
	short, end := context.WithCancel(t.Context())
	b, err := w.Watch(short, []string{filepath.Join(base, "a"), filepath.Join(base, "b")}, nil)
	ok(t, err)
	quiet(t, "a", a, func(n string) {
		drain(b)
		ok(t, os.WriteFile(filepath.Join(base, "b", n), nil, 0o600))
		hint(t, "b", b)
	})
	end()
	deadline := time.After(time.Minute)
	for open := true; open; {
		select {
		case _, open = <-b:
		case <-deadline:
			t.Fatal("the channel is not closed")
		}
	}
	ok(t, os.WriteFile(filepath.Join(base, "a", "x"), nil, 0o600))
	hint(t, "a after the other has ended", a)
	if _, err := w.Watch(ctx, []string{"relative"}, nil); err == nil {
		t.Error("a relative path is watched")
	}
}

func TestWatchFilePassesNeighboursOver(t *testing.T) {
	_, base := open(t)
	var w files.Watcher
	path := filepath.Join(base, "inboxes", "a.json")
	c, err := w.WatchFile(t.Context(), path, func() string { return "" })
	ok(t, err)
	drain(c)
	if w.Polling() {
		t.Skip("the system has no room for inotify")
	}
	ok(t, os.Mkdir(filepath.Join(base, "inboxes"), 0o700))
	ok(t, os.WriteFile(path, []byte("[]"), 0o600))
	hint(t, "the file in its new folder", c)
	quiet(t, "a neighbour", c, func(n string) {
		ok(t, os.WriteFile(filepath.Join(base, "inboxes", "b"+n+".json"), []byte("[]"), 0o600))
	})
	ok(t, os.WriteFile(path, []byte("[1]"), 0o600))
	hint(t, "the file", c)
	drain(c)
	ok(t, os.RemoveAll(filepath.Join(base, "inboxes")))
	hint(t, "the removal", c)
}

// pollAlone watches in a process that gets no events: see the children in
// limits_linux_test.go.
func pollAlone(base string, log *bytes.Buffer) error {
	var mu sync.Mutex
	state := "before"
	poll := func() string { mu.Lock(); defer mu.Unlock(); return state }
	w := files.Watcher{Log: slog.New(slog.NewTextHandler(log, nil))}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := w.Watch(ctx, []string{base}, poll)
	if err != nil {
		return err
	}
	<-c
	for _, next := range []string{"changed", "changed again"} {
		mu.Lock()
		state = next
		mu.Unlock()
		select {
		case <-c:
		case <-time.After(30 * time.Second):
			return fmt.Errorf("%s: no hint within 30 s", next)
		}
	}
	return nil
}
