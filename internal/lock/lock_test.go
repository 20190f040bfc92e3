package lock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
)

// The children are this test binary, with a role in the environment and the
// folder as argument.
const roleVar = "LEADLIGHT_LOCK_ROLE"

func TestMain(m *testing.M) {
	var err error
	switch role := os.Getenv(roleVar); role {
	case "":
		os.Exit(m.Run())
	case "hold":
		err = hold(os.Args[1])
	case "rounds":
		err = rounds(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

const patience = time.Minute

// hold takes the lock, says so, and keeps it until its input ends.
func hold(base string) error {
	d, err := files.Open(base)
	if err != nil {
		return err
	}
	if _, err := lock.Acquire(context.Background(), d, "locks/x", "hold still", patience); err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// rounds takes the lock again and again. Inside it makes a file that must not be
// there yet, which shows a second holder.
func rounds(base, count string) error {
	d, err := files.Open(base)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	inside := filepath.Join(base, "inside")
	for i := range n {
		held, err := lock.Acquire(context.Background(), d, "locks/x", "round", patience)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(inside, os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("round %d: two holders: %w", i, err)
		}
		f.Close()
		if err := os.Remove(inside); err != nil {
			return err
		}
		held.Release()
	}
	return nil
}

func open(t *testing.T) *files.Dir {
	t.Helper()
	d, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func child(t *testing.T, role string, args ...string) (*exec.Cmd, io.WriteCloser, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	in, err := cmd.StdinPipe()
	ok(t, err)
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
		}
	})
	return cmd, in, bufio.NewScanner(out)
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// https://github.com/gofrs/flock/pull/8
func TestLK01_NeverTwoHolders(t *testing.T) {
	d := open(t)
	count := "300"
	if os.Getenv("LEADLIGHT_STORETEST") == "full" {
		count = "34000"
	}
	var all sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		cmd, _, out := child(t, "rounds", d.Path(), count)
		all.Go(func() {
			var said []string
			for out.Scan() {
				said = append(said, out.Text())
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %q", err, said)
			}
		})
	}
	go func() { all.Wait(); close(done) }()
	removed := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(time.Duration(rand.IntN(5)) * time.Millisecond):
			if os.Remove(filepath.Join(d.Path(), "locks/x")) == nil {
				removed++
			}
		}
	}
	if removed == 0 {
		t.Error("the lock file was never removed")
	}
	t.Logf("removed %d times", removed)
}

func TestLK06_TimeoutNamesTheHolder(t *testing.T) {
	d := open(t)
	cmd, in, out := child(t, "hold", d.Path())
	if !out.Scan() || out.Text() != "held" {
		t.Fatalf("the holder says %q", out.Text())
	}
	start := time.Now()
	_, err := lock.Acquire(t.Context(), d, "locks/x", "try", 300*time.Millisecond)
	if took := time.Since(start); fault.CodeOf(err) != fault.LockTimeout || took < 250*time.Millisecond || took > time.Minute {
		t.Errorf("%v after %v", err, took)
	}
	for _, want := range []string{fmt.Sprintf("process %d (hold still), for ", cmd.Process.Pid), filepath.Join(d.Path(), "locks/x")} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if h, err := lock.Try(d, "locks/x", "try"); h != nil || err != nil {
		t.Errorf("Try: %v %v, want neither", h, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lock.Acquire(ctx, d, "locks/x", "try", patience); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	got := make(chan error, 1)
	go func() {
		h, err := lock.Acquire(t.Context(), d, "locks/x", "try", patience)
		if err == nil {
			h.Release()
		}
		got <- err
	}()
	ok(t, in.Close())
	ok(t, <-got) // neither those who gave up nor the dead hold it
	ok(t, cmd.Wait())
}

// TestXS47_WhoIsGoneHoldsNothing: a lock is held, and the last one who signed it has ended,
// as when the holder could not sign. The dead one is not named, nor one that runs and has
// released it, but the holder, where the system tells who that is.
func TestXS47_WhoIsGoneHoldsNothing(t *testing.T) {
	d := open(t)
	cmd, in, out := child(t, "hold", d.Path())
	if !out.Scan() || out.Text() != "held" {
		t.Fatalf("the holder says %q", out.Text())
	}
	ok(t, in.Close())
	ok(t, cmd.Wait())
	file := flock.New(d.Join("locks/x"))
	if locked, err := file.TryLock(); !locked || err != nil {
		t.Fatal(locked, err)
	}
	defer file.Unlock()
	want := "another process"
	if runtime.GOOS == "linux" {
		want = fmt.Sprintf("process %d", os.Getpid())
	}
	for _, signed := range []int{cmd.Process.Pid, os.Getppid()} {
		ok(t, os.WriteFile(d.Join("locks/x"), fmt.Appendf(nil, "%d %d \"hold\"\n", signed, time.Now().UnixMilli()), 0o600))
		_, err := lock.Acquire(t.Context(), d, "locks/x", "try", 10*time.Millisecond)
		if e := fault.Of(err); err == nil || !strings.HasPrefix(e.Message, want+" holds") && runtime.GOOS == "linux" {
			t.Errorf("signed by %d, held by %s: %v", signed, want, err)
		}
		if signed == cmd.Process.Pid && strings.Contains(err.Error(), fmt.Sprint(signed)) {
			t.Errorf("%v names process %d, which has ended", err, signed)
		}
	}
	ok(t, os.WriteFile(d.Join("locks/x"), nil, 0o600))
	told := ""
	err := lock.AwaitFree(t.Context(), d, "locks/x", 10*time.Millisecond, func(holder string) { told = holder })
	if fault.CodeOf(err) != fault.LockTimeout || told != want {
		t.Errorf("%q, %v", told, err)
	}
}

func TestLockFileIsNoLink(t *testing.T) {
	d := open(t)
	precious := filepath.Join(t.TempDir(), "precious")
	ok(t, os.WriteFile(precious, []byte("x"), 0o600))
	ok(t, d.MkdirAll("locks"))
	ok(t, os.Symlink(precious, filepath.Join(d.Path(), "locks/x")))
	if _, err := lock.Acquire(t.Context(), d, "locks/x", "try", patience); fault.CodeOf(err) != fault.PermissionDenied {
		t.Errorf("locked a link: %v", err)
	}
	if got, _ := os.ReadFile(precious); string(got) != "x" {
		t.Errorf("wrote through the link: %q", got)
	}
}

// TestXH08_ALockSignsNoOthersFile: a lock's file that has another name may be somebody's. It
// locks, and stays as it is.
func TestXH08_ALockSignsNoOthersFile(t *testing.T) {
	d := open(t)
	precious := filepath.Join(t.TempDir(), "precious")
	ok(t, os.WriteFile(precious, []byte("x"), 0o600))
	held, err := lock.Acquire(t.Context(), d, "locks/x", "try", patience)
	ok(t, err)
	held.Release()
	for _, names := range [][]string{{"locks/x"}, {"locks/.x", "locks/x"}} {
		for _, name := range names {
			_ = os.Remove(filepath.Join(d.Path(), name))
			ok(t, os.Link(precious, filepath.Join(d.Path(), name)))
		}
		held, err := lock.Acquire(t.Context(), d, "locks/x", "try", patience)
		ok(t, err)
		if again, err := lock.Try(d, "locks/x", "try"); again != nil || err != nil {
			t.Errorf("%q: it is held twice: %v", names, err)
		}
		held.Release()
		if got, _ := os.ReadFile(precious); string(got) != "x" {
			t.Errorf("%q: somebody's file holds %q", names, got)
		}
	}
}

func exists(t *testing.T, d *files.Dir, name string) bool {
	t.Helper()
	_, err := d.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestFolderExcludes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t)
		ok(t, d.MkdirAll("in"))
		f, err := lock.Folder(t.Context(), d, "in/a.json", patience)
		ok(t, err)
		if !exists(t, d, "in/a.json.lock") {
			t.Error("no lock folder")
		}
		if _, err := lock.FolderAlone(t.Context(), d, "in/a.json", 50*time.Millisecond); fault.CodeOf(err) != fault.LockTimeout ||
			!strings.Contains(err.Error(), filepath.Join(d.Path(), "in/a.json.lock")) {
			t.Errorf("a second one: %v", err)
		}
		f.Release()
		f.Release()
		if exists(t, d, "in/a.json.lock") {
			t.Error("the lock folder is still there")
		}
	})
}

// https://github.com/anthropics/claude-code/issues/22166
func TestLK03_FolderLeftBehind(t *testing.T) {
	for _, tc := range []struct {
		name   string
		mode   fs.FileMode
		age    time.Duration
		full   bool
		wait   time.Duration
		broken bool
	}{
		{"of yesterday", 0o755, 24 * time.Hour, false, 0, true},
		{"of yesterday, not empty", 0o755, 24 * time.Hour, true, 0, true},
		{"12 s old", 0o755, 12 * time.Second, false, 0, true},
		{"6 s old", 0o755, 6 * time.Second, false, 0, false},
		{"of now", 0o755, 0, false, 0, false},
		{"of now, by one of us who died", 0o500, 0, false, 0, true},
		{"of tomorrow", 0o755, -24 * time.Hour, false, 0, false},
		{"not renewed while we wait", 0o755, 9500 * time.Millisecond, false, 2 * time.Second, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := open(t)
				path := filepath.Join(d.Path(), "a.json.lock")
				ok(t, os.Mkdir(path, 0o700))
				if tc.full {
					ok(t, os.WriteFile(filepath.Join(path, ".keep"), nil, 0o600))
				}
				at := time.Now().Add(-tc.age)
				ok(t, os.Chtimes(path, at, at))
				ok(t, os.Chmod(path, tc.mode))
				f, err := lock.Folder(t.Context(), d, "a.json", max(tc.wait, 50*time.Millisecond))
				if (err == nil) != tc.broken || err != nil && fault.CodeOf(err) != fault.LockTimeout {
					t.Fatalf("error %v, want it taken over: %t", err, tc.broken)
				}
				if f != nil {
					f.Release()
				}
				if left, _ := os.ReadDir(d.Path()); tc.broken && len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		})
	}
}

func TestReleaseRemovesOnlyOurOwnFolder(t *testing.T) {
	d := open(t)
	f, err := lock.Folder(t.Context(), d, "a.json", patience)
	ok(t, err)
	path := filepath.Join(d.Path(), "a.json.lock")
	ok(t, os.Rename(path, path+".stolen")) // keeps the inode from being used again
	ok(t, os.Mkdir(path, 0o700))
	f.Release()
	if !exists(t, d, "a.json.lock") {
		t.Error("another's lock folder was removed")
	}
}

// TestCR02_AFolderThatWasMovedAway: whoever has it open can lock nothing there, and does not
// try for ever.
func TestCR02_AFolderThatWasMovedAway(t *testing.T) {
	d := open(t)
	ok(t, os.Rename(d.Path(), d.Path()+"-moved"))
	got := make(chan error, 1)
	go func() {
		_, err := lock.Acquire(t.Context(), d, "locks/x", "try", patience)
		got <- err
	}()
	select {
	case err := <-got:
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), d.Join("locks/x")) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it tries for ever")
	}
}
