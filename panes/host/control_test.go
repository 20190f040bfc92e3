package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

func listening(t *testing.T, o Options) (*Host, *Client) {
	t.Helper()
	o.Socket = filepath.Join(shortDir(t), "h", "s")
	return newHost(t, o), Dial(o.Socket)
}

func TestControl(t *testing.T) {
	h, c := listening(t, Options{})
	ctx := limited(t)
	done := background(t, h, shell("echo up; read x; echo got $x; sleep 0.1; exit 6"))
	eventuallyTail(t, h, "up")
	h.SetState(Shown{State: "active", Task: "7", Reason: "busy"})
	s, err := c.Status(ctx)
	if err != nil || s.ID != h.opt.ID || s.PID != os.Getpid() || s.Agent == nil || s.State != "active" || s.Task != "7" ||
		s.Reason != "busy" || s.Cols != 80 || s.Rows != 24 || s.ExitCode != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if err := c.Keys(ctx, []string{"nokey"}); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("keys: %v", err)
	}
	if err := c.Inject(ctx, Input{Text: "hello"}); err != nil {
		t.Error(err)
	}
	endOf(t, done)
	text, err := c.Capture(ctx, 1, false)
	if err != nil || text.Text != "got hello\n" || !text.Truncated == (text.Screen) {
		t.Errorf("%+v, %v", text, err)
	}
	if s, err := c.Status(ctx); err != nil || s.ExitCode == nil || *s.ExitCode != 6 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestShutdownOverTheSocket(t *testing.T) {
	h, c := listening(t, Options{})
	done := background(t, h, shell("trap '' TERM; setsid sleep 1000 & echo up; while :; do sleep 0.05; done"))
	eventuallyTail(t, h, "up")
	report, err := c.Shutdown(limited(t), ShutdownRequest{Reason: "team is done", Term: 100 * time.Millisecond, Kill: 5 * time.Second})
	if err != nil || !report.Killed || report.Ended < 2 || len(report.Survivors) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	<-h.Closing()
	if h.Cause() != "team is done" {
		t.Errorf("cause %q", h.Cause())
	}
	endOf(t, done)
	if report, err = c.Shutdown(limited(t), ShutdownRequest{}); err != nil || report.Ended != 0 || !report.Killed {
		t.Errorf("once more: %+v, %v", report, err)
	}
	h.Close()
	if _, err := c.Status(limited(t)); !errors.Is(err, ErrNoHost) {
		t.Errorf("after the end: %v", err)
	}
}

func TestNobodyThereAndMute(t *testing.T) {
	dir := shortDir(t)
	mute := filepath.Join(dir, "mute")
	l, err := net.Listen("unix", mute)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dead := filepath.Join(dir, "dead")
	d, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	d.SetUnlinkOnClose(false)
	d.Close()
	for _, tc := range []struct {
		path string
		want error
	}{
		{filepath.Join(dir, "none"), ErrNoHost}, {filepath.Join(dir, "no", "folder"), ErrNoHost}, {dead, ErrNoHost},
		{mute, context.DeadlineExceeded}, {filepath.Join(dir, strings.Repeat("x", 100)), fault.InvalidArgument},
	} {
		limit := time.Minute // a busy machine needs time to say that nobody is there
		if tc.path == mute {
			limit = 50 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := Dial(tc.path).Status(ctx)
		cancel()
		if !errors.Is(err, tc.want) || errors.Is(err, ErrNoHost) != (tc.want == ErrNoHost) {
			t.Errorf("%s: %v, want %v", tc.path, err, tc.want)
		}
	}
}

// talk sends raw bytes and returns the answer.
func talk(t *testing.T, path string, raw []byte) string {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	go func() {
		conn.Write(raw)
		if !bytes.HasSuffix(raw, []byte("\n")) {
			conn.(*net.UnixConn).CloseWrite() // for others that would be hanging up
		}
	}()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatalf("%.40q: %v", raw, err)
	}
	return line
}

func TestBadRequestsAreExplained(t *testing.T) {
	h, c := listening(t, Options{})
	for _, tc := range []struct{ request, code, says string }{
		{"hello\n", "INVALID_ARGUMENT", "no JSON"},
		{"[]\n", "INVALID_ARGUMENT", "no JSON"},
		{`{"v":1,"op":"explode"}` + "\n", "UNSUPPORTED", "explode"},
		{`{"v":2,"op":"status"}` + "\n", "VERSION_TOO_NEW", "version 2"},
		{`{"op":"status"}` + "\n", "VERSION_TOO_NEW", "version 0"},
		{`{"v":1,"op":"capture","params":{"lines":"many"}}` + "\n", "INVALID_ARGUMENT", "parameters"},
		{`{"v":1,"op":"attach","params":[]}` + "\n", "INVALID_ARGUMENT", "parameters"},
		{`{"v":1,"op":"inject","params":{}}` + "\n", "RECIPIENT_INACTIVE", "nothing runs"},
		{`{"v":1,"op":"status","later":{"a":1}}`, `"id"`, h.opt.ID}, // unknown fields, no line break at the end
		{strings.Repeat("x", maxRequest+10), "LIMIT_REACHED", "longer"},
	} {
		got := talk(t, c.socket, []byte(tc.request))
		if !strings.Contains(got, tc.code) || !strings.Contains(got, tc.says) {
			t.Errorf("%.60q: %s", tc.request, got)
		}
	}
	if err := c.Inject(limited(t), Input{Text: strings.Repeat("x", maxRequest)}); fault.CodeOf(err) != fault.LimitReached {
		t.Errorf("too long a text: %.200v", err)
	}
}

func TestSocketModesAndPlace(t *testing.T) {
	h, c := listening(t, Options{})
	for path, mode := range map[string]os.FileMode{c.socket: 0o600, filepath.Dir(c.socket): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if _, err := New(Options{ID: "second", Socket: c.socket}); fault.CodeOf(err) != fault.DuplicateName {
		t.Errorf("over a live host: %v", err)
	}
	if _, err := c.Status(limited(t)); err != nil {
		t.Errorf("the first host was disturbed: %v", err)
	}
	dir := shortDir(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(open, "s"), filepath.Join(link, "s")} {
		if _, err := New(Options{ID: "x", Socket: path}); fault.CodeOf(err) != fault.PermissionDenied {
			t.Errorf("%s: %v", path, err)
		}
	}
	h.Close()
	if _, err := os.Lstat(c.socket); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

func TestSocketIsMadeAgain(t *testing.T) {
	_, c := listening(t, Options{})
	for range 2 {
		if err := os.RemoveAll(filepath.Dir(c.socket)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the socket is back", func() bool { _, err := c.Status(limited(t)); return err == nil })
	}
}

// A host that closes leaves a successor's socket alone.
func TestSuccessorsSocketStays(t *testing.T) {
	h, c := listening(t, Options{})
	if err := os.Remove(c.socket); err != nil {
		t.Fatal(err)
	}
	next := newHost(t, Options{Socket: c.socket})
	h.Close()
	if s, err := c.Status(limited(t)); err != nil || s.ID != next.opt.ID {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestFollowIsCalledOff(t *testing.T) {
	h, c := listening(t, Options{})
	done := background(t, h, shell("sleep 1000"))
	eventually(t, "the program", func() bool { return h.Status().Agent != nil })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Follow(ctx, func(Status) {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	eventually(t, "nobody is served", func() bool { return h.server.socket.Clients() == 0 })
	h.End(limited(t), 0, 5*time.Second)
	endOf(t, done)
}

func FuzzReadRequest(f *testing.F) {
	for _, seed := range []string{`{"v":1,"op":"status"}`, `{"v":1,"op":"inject","params":{"text":"x"}}`, "{}", "[1]", "\n", `{"v":1e99}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		q, err := readRequest(bufio.NewReaderSize(bytes.NewReader(raw), 16))
		if err != nil {
			return
		}
		var in Input
		decodeParams(q.Params, &in)
		var p captureParams
		decodeParams(q.Params, &p)
	})
}

func FuzzFrames(f *testing.F) {
	var seed bytes.Buffer
	writeFrame(&seed, frameInput, []byte("hello"))
	f.Add(seed.Bytes())
	f.Add([]byte{'o', 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := bytes.NewReader(raw)
		for {
			kind, payload, err := readFrame(r)
			if err != nil {
				return
			}
			var again bytes.Buffer
			writeFrame(&again, kind, payload)
			if k, p, err := readFrame(&again); err != nil || k != kind || !bytes.Equal(p, payload) {
				t.Errorf("frame %c does not come back", kind)
			}
		}
	})
}
