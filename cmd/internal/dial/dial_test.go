package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestXS34_XS44_WhyTheDaemonDidNotComeUp: its last word keeps its code, its file and its
// hint, also where another daemon, which is about to end, has written after it.
func TestXS34_XS44_WhyTheDaemonDidNotComeUp(t *testing.T) {
	for _, c := range []struct {
		last string
		code fault.Code
		text string
		hint string
	}{
		{`{"error":{"code":"CORRUPT_FILE","message":"the database /x.db is damaged","hint":"move it away"}}`, fault.CorruptFile, "the daemon did not come up: the database /x.db is damaged", "move it away"},
		{`{"error":{"code":"DISK_FULL","message":"the database /x.db"}}`, fault.DiskFull, "the daemon did not come up: the database /x.db", ""},
		{`{"error":{"code":"DUPLICATE_NAME","message":"it runs"}}` + "\nlevel=INFO msg=\"daemon ends\"\n", fault.DuplicateName, "the daemon did not come up: it runs", ""},
		{"panic: x", fault.Failed, "the daemon did not come up: exit status 2: panic: x", "leadlight daemon run shows more"},
		{"", fault.Failed, "the daemon did not come up: exit status 2", "leadlight daemon run shows more"},
	} {
		const before = `{"error":{"code":"TIMEOUT","message":"of before"}}` + "\n"
		log := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(log, []byte(before+c.last), 0o600); err != nil {
			t.Fatal(err)
		}
		err := fault.Of(failure(filepath.Dir(log), errors.New("exit status 2"), lastLine(log, int64(len(before)))))
		if err.Code != c.code || err.Message != c.text || err.Hint != c.hint || !errors.Is(err, ErrNone) {
			t.Errorf("%q: %+v", c.last, err)
		}
	}
	// no room to say why: the state folder is what is to be looked at
	err := fault.Of(failure(filepath.Join(t.TempDir(), "gone"), errors.New("exit status 1"), ""))
	if !strings.Contains(err.Message, "gone") || !strings.Contains(err.Hint, "XDG_STATE_HOME") || !errors.Is(err, ErrNone) {
		t.Errorf("%+v", err)
	}
}

// TestXH08_TheLogIsNobodysFile: a link or a second name in the place of the daemon's log is
// neither written to nor cut.
func TestXH08_TheLogIsNobodysFile(t *testing.T) {
	for what, put := range map[string]func(old, path string) error{"a link": os.Symlink, "a name": os.Link} {
		p := Paths{State: t.TempDir(), Key: "k"}
		precious, text := filepath.Join(t.TempDir(), "precious"), strings.Repeat("x", maxLog+1)
		if err := errors.Join(os.WriteFile(precious, []byte(text), 0o600), put(precious, p.Log())); err != nil {
			t.Fatal(err)
		}
		if _, ended, _, err := launch(p, []string{"sh", "-c", "echo said"}, os.Environ()); err == nil {
			<-ended
		}
		if now, err := os.ReadFile(precious); err != nil || string(now) != text {
			t.Errorf("%s: the file has %d bytes: %v", what, len(now), err)
		}
	}
}

// shortDir is a folder whose path leaves room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ll")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestXS14_ADaemonOnItsWayOutIsNoDaemon: one that is started while the last one still ends
// loses to it, and so is started again.
func TestXS14_ADaemonOnItsWayOutIsNoDaemon(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	p := Paths{Base: dir, State: dir, Key: "k", Socket: filepath.Join(dir, "daemon.sock")}
	ends := `{"error":{"code":"DUPLICATE_NAME","message":"a daemon runs already"}}`
	later := `{"error":{"code":"DISK_FULL","message":"this one was the second"}}`
	script := `if mkdir "$1/once" 2>/dev/null; then echo "$2"; else echo "$3"; fi; exit 1`
	_, _, err := Start(t.Context(), p, "", []string{"sh", "-c", script, "sh", dir, ends, later}, os.Environ())
	if fault.CodeOf(err) != fault.DiskFull {
		t.Errorf("%v; the second one was not started", err)
	}
}

// TestXS14_WhoLostStartsFewMore: while another daemon holds the place and does not listen, those
// who wait for it start ever fewer of their own.
func TestXS14_WhoLostStartsFewMore(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	p := Paths{Base: dir, State: dir, Key: "k", Socket: filepath.Join(dir, "daemon.sock")}
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	script := `echo '{"error":{"code":"DUPLICATE_NAME","message":"a daemon runs already"}}'; exit 1`
	if _, _, err := Start(ctx, p, "", []string{"sh", "-c", script}, os.Environ()); err == nil {
		t.Error("what does not listen is reached")
	}
	said, err := os.ReadFile(p.Log())
	if n := strings.Count(string(said), "DUPLICATE_NAME"); err != nil || n > 3 {
		t.Errorf("%d were started; %v", n, err)
	}
}

// TestUX02_AMuteDaemonIsNamed: of a daemon that is stopped or hangs it is said which process it is.
func TestUX02_AMuteDaemonIsNamed(t *testing.T) {
	t.Parallel()
	p := Paths{Socket: filepath.Join(shortDir(t), "daemon.sock")}
	mute, err := net.Listen("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = Connect(ctx, p, "")
	if e := fault.Of(err); e.Code != fault.Timeout || !strings.Contains(e.Hint, fmt.Sprintf("process %d;", os.Getpid())) {
		t.Errorf("%v (%s)", err, e.Hint)
	}
}

// TestSecretsThatAllMayRead are named, and certificates, which are none, are not.
func TestSecretsThatAllMayRead(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := Access{Creds: file("creds", 0o600), Token: file("token", 0o644), Key: file("key", 0o640), Cert: file("cert", 0o644)}
	if open := a.OpenToAll(); len(open) != 1 || open[0] != a.Token {
		t.Errorf("open to all: %q", open)
	}
}

// TestUX02_WhyTheStateFolderIsOfNoUse: where it cannot be, nothing was joined; a full disk is
// not answered by another owner.
func TestUX02_WhyTheStateFolderIsOfNoUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := (Paths{State: filepath.Join(file, "leadlight"), Key: "k"}).Joined(); m != nil || err != nil {
		t.Errorf("below a file: %v, %v", m, err)
	}
	for cause, want := range map[error]string{syscall.ENOSPC: "free some space", syscall.EACCES: "set XDG_STATE_HOME"} {
		if e := fault.Of(noState("make the state folder", &os.PathError{Op: "mkdir", Path: "/x", Err: cause})); !strings.HasPrefix(e.Hint, want) {
			t.Errorf("%v: hint %q", cause, e.Hint)
		}
	}
}
