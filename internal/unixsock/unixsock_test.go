package unixsock

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// folder is a short one: t.TempDir's are too long for a socket on macOS.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ll")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// greeter answers each connection with a word and then waits until it is closed.
func greeter(t *testing.T, path string, most int) *Listener {
	t.Helper()
	l, err := Open(Options{Path: path, Most: most, Log: slog.New(slog.DiscardHandler), Full: func(c *net.UnixConn) { io.WriteString(c, "full") }})
	if err != nil {
		t.Fatal(err)
	}
	l.Start(func(c *net.UnixConn) {
		io.WriteString(c, "here")
		io.Copy(io.Discard, c)
	})
	t.Cleanup(func() { l.Close(); l.HangUp(); l.Wait() })
	return l
}

// call connects and reads the greeting; the connection stays open.
func call(t *testing.T, path string) string {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err.Error()
	}
	t.Cleanup(func() { conn.Close() })
	word := make([]byte, 4)
	if _, err := io.ReadFull(conn, word); err != nil {
		return err.Error()
	}
	return string(word)
}

func TestServesSoManyAndNoMore(t *testing.T) {
	path := filepath.Join(folder(t), "run", "s")
	l := greeter(t, path, 2)
	if a, b, c := call(t, path), call(t, path), call(t, path); a != "here" || b != "here" || c != "full" || l.Clients() != 2 {
		t.Errorf("%s, %s, %s, %d are served", a, b, c, l.Clients())
	}
	for path, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	l.Close()
	l.HangUp()
	l.Wait()
	if _, err := os.Lstat(path); !os.IsNotExist(err) || l.Clients() != 0 {
		t.Errorf("left: %v, %d served", err, l.Clients())
	}
	if err := l.Mend(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("made again after the end: %v", err)
	}
}

func TestIsMadeAgain(t *testing.T) {
	path := filepath.Join(folder(t), "run", "s")
	l := greeter(t, path, 5)
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := l.Mend(); err != nil {
		t.Fatal(err)
	}
	if got := call(t, path); got != "here" {
		t.Error(got)
	}
}

// TestSaysTheWayOut: where no socket can be made, the error has a hint, as that of any file.
func TestSaysTheWayOut(t *testing.T) {
	file := filepath.Join(folder(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(Options{Path: filepath.Join(file, "run", "s"), Most: 1})
	if f := fault.Of(err); f == nil || !strings.Contains(f.Message, file) || f.Hint == "" {
		t.Errorf("below a file: %v", err)
	}
}

// What is in the way stays as it is; a dead socket gives way.
func TestOpen(t *testing.T) {
	dir := folder(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	greeter(t, at("live"), 1)
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: at("dead"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	for name, want := range map[string]fault.Code{
		"file": fault.PermissionDenied, "live": fault.DuplicateName, strings.Repeat("x", 200): fault.InvalidArgument,
	} {
		if l, err := Open(Options{Path: at(name), Most: 1}); fault.CodeOf(err) != want {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	if raw, err := os.ReadFile(at("file")); string(raw) != "keep" {
		t.Error(string(raw), err)
	}
	greeter(t, at("dead"), 1)
	if got := call(t, at("dead")); got != "here" {
		t.Error(got)
	}
}
