package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// attached is a viewer of a test.
type attached struct {
	in       *io.PipeWriter
	out      *safeBuffer
	done     chan error
	detached bool
}

func attach(t *testing.T, c *Client, o AttachOptions) *attached {
	t.Helper()
	r, w := io.Pipe()
	a := &attached{in: w, out: &safeBuffer{}, done: make(chan error, 1)}
	o.In, o.Out = r, a.out
	go func() {
		var err error
		a.detached, err = c.Attach(context.Background(), o)
		a.done <- err
	}()
	t.Cleanup(func() { w.Close() })
	return a
}

func (a *attached) result(t *testing.T) error {
	t.Helper()
	select {
	case err := <-a.done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the viewer stays")
		return nil
	}
}

// TestAttachAfterAFlood: in a flood the screen model rests, and what it shows then may be of
// before all that is kept. Who comes in that moment is not too slow.
func TestAttachAfterAFlood(t *testing.T) {
	t.Parallel()
	h, c := listening(t, Options{Screen: true})
	background(t, h, shell(`head -c 3000000 /dev/zero | tr '\0' x; echo; echo the-end; exec cat`))
	eventuallyTail(t, h, "the-end")
	a := attach(t, c, AttachOptions{})
	eventually(t, "it is seen", func() bool { return strings.Contains(a.out.String(), "the-end") })
	a.in.Close()
	if err := a.result(t); err != nil {
		t.Error(err)
	}
}

func TestSeveralViewers(t *testing.T) {
	h, c := listening(t, Options{Screen: true})
	done := background(t, h, shell(`printf '\033[?2004h'; echo up; while read x; do echo "got $x"; done; exit 3`))
	eventuallyTail(t, h, "up")
	one, two, reader := attach(t, c, AttachOptions{}), attach(t, c, AttachOptions{}), attach(t, c, AttachOptions{ReadOnly: true})
	for i, a := range []*attached{one, two, reader} {
		eventually(t, fmt.Sprintf("picture %d", i), func() bool {
			return strings.Contains(a.out.String(), "up") && strings.Contains(a.out.String(), "\x1b[?2004h")
		})
	}
	reader.in.Write([]byte("not to be\r"))
	one.in.Write([]byte("\x1b[9;9R")) // its terminal answers what the screen has answered
	one.in.Write([]byte("hello\r"))
	eventually(t, "all see it", func() bool {
		return strings.Contains(one.out.String(), "got hello") && strings.Contains(two.out.String(), "got hello") &&
			strings.Contains(reader.out.String(), "got hello")
	})
	if strings.Contains(h.Tail(0), "not to be") {
		t.Error("a reader typed")
	}
	if strings.Contains(h.Tail(0), "9;9R") {
		t.Error("a viewer's terminal answered")
	}
	if h.Status().LastKeyAt.IsZero() {
		t.Error("nobody typed, says the status")
	}
	two.in.Write([]byte("\x1c"))
	two.in.Write([]byte("d"))
	if err := two.result(t); err != nil || !two.detached {
		t.Errorf("%+v, %v", two.detached, err)
	}
	if !strings.HasSuffix(two.out.String(), "\x1b[?2004l\x1b[0m") {
		t.Errorf("the viewer's terminal is left in the program's modes: %q", two.out.String())
	}
	reader.in.Close() // the end of input detaches
	if err := reader.result(t); err != nil || !reader.detached {
		t.Errorf("%+v, %v", reader.detached, err)
	}
	one.in.Write([]byte("\x04"))
	endOf(t, done)
	h.Close()
	if err := one.result(t); err != nil || one.detached {
		t.Errorf("detached: %v, %v", one.detached, err)
	}
}

// A banner stands over all that the program shows until a key is typed: then there is a
// picture without it.
func TestBanner(t *testing.T) {
	h, c := listening(t, Options{Screen: true})
	done := background(t, h, shell(`echo first; while read x; do echo "got $x"; done`))
	eventuallyTail(t, h, "first")
	a := attach(t, c, AttachOptions{Banner: "the way out"})
	other := attach(t, c, AttachOptions{})
	eventually(t, "the banner", func() bool { return strings.Contains(a.out.String(), "the way out") })
	eventually(t, "the other one", func() bool { return strings.Contains(other.out.String(), "first") })
	other.in.Write([]byte("more\r"))
	eventually(t, "the banner over what is new", func() bool {
		_, after, ok := strings.Cut(a.out.String(), "got more")
		return ok && strings.Contains(after, "the way out")
	})
	a.in.Write([]byte("end\r"))
	eventually(t, "the picture without it", func() bool {
		out := a.out.String()
		last := out[strings.LastIndex(out, "the way out"):]
		return strings.Contains(last, "\x1b[2J") && strings.Contains(last, "first") && strings.Contains(last, "got end")
	})
	if strings.Contains(other.out.String(), "the way out") {
		t.Error("others have the banner")
	}
	a.in.Write([]byte("\x04"))
	endOf(t, done)
	h.Close()
	for _, v := range []*attached{a, other} {
		if err := v.result(t); err != nil {
			t.Error(err)
		}
	}
}

func TestViewerOnATerminal(t *testing.T) {
	h, c := listening(t, Options{})
	done := background(t, h, programIn(t, "sizes"))
	eventuallyTail(t, h, "size 24x80")
	p := newPane(t, 40, 100)
	p.watch(t)
	before, err := termiosOf(p.tty)
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		detached, err := c.Attach(context.Background(), AttachOptions{Terminal: p.tty})
		if err == nil && !detached {
			err = errors.New("the host has ended")
		}
		result <- err
	}()
	eventually(t, "the viewer's size", func() bool { return strings.Contains(p.out.String(), "size 40x100") })
	other := attach(t, c, AttachOptions{})
	eventually(t, "the second viewer", func() bool { return strings.Contains(other.out.String(), "size 40x100") })
	p.press(t, "\x1cd")
	if err := <-result; err != nil {
		t.Error(err)
	}
	if after, err := termiosOf(p.tty); err != nil || *after != *before {
		t.Errorf("the terminal is not given back: %v", err)
	}
	h.End(limited(t), 0, 5*time.Second)
	endOf(t, done)
}

// A viewer that takes nothing is cut; the program goes on.
func TestSlowViewerIsCut(t *testing.T) {
	h, c := listening(t, Options{})
	_, _, hangUp, err := c.begin(limited(t), opAttach, attachParams{})
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp()
	eventually(t, "the viewer", func() bool { h.server.mu.Lock(); defer h.server.mu.Unlock(); return len(h.server.viewers) == 1 })
	exit := endOf(t, background(t, h, programIn(t, "burst")))
	if exit.Code != 0 || !strings.Contains(h.Tail(1), "sum ") {
		t.Errorf("%+v, %q", exit, h.Tail(1))
	}
	eventually(t, "the cut", func() bool { return h.server.socket.Clients() == 0 })
}

// What a viewer has typed before it hangs up is typed, also while a flood of output finds
// nobody there any more.
func TestTypedBeforeHangingUp(t *testing.T) {
	t.Parallel()
	const pieces = 40
	h, c := listening(t, Options{})
	background(t, h, shell(`stty -echo; echo listens; { while :; do echo flood; done; } & flood=$!; head -n `+fmt.Sprint(pieces)+` >/dev/null; kill $flood; echo all-is-read; exec sleep 1000`))
	eventually(t, "it listens", func() bool { return strings.Contains(h.Tail(0), "flood") })
	conn, _, hangUp, err := c.begin(limited(t), opAttach, attachParams{})
	if err != nil {
		t.Fatal(err)
	}
	for range pieces {
		if err := writeFrame(conn, frameInput, []byte("x\r")); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	eventuallyTail(t, h, "all-is-read")
}

// deaf fails each write.
type deaf struct{ error }

func (d deaf) Write([]byte) (int, error) { return 0, d.error }

// TestAHostThatHangsUp: a connection that ends without a word was closed by a host, also when
// it had not read all that was typed; nobody knows that there is no host. A viewer whose own
// output is gone says that.
func TestAHostThatHangsUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		read int // of the frame with what is typed
		out  io.Writer
		want error
	}{
		"all is read": {len("12345typed"), io.Discard, ErrHungUp}, "something is not": {1, io.Discard, ErrHungUp},
		"nobody sees it": {len("12345typed"), deaf{syscall.EPIPE}, syscall.EPIPE},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("unix", filepath.Join(shortDir(t), "s"))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return // the viewer tells
				}
				defer conn.Close()
				r := bufio.NewReaderSize(conn, 16)
				_, _ = readRequest(r)
				writeAnswer(conn, nil, nil)
				_, _ = io.ReadFull(conn, make([]byte, tc.read))
				_ = writeFrame(conn, frameOutput, []byte("shown"))
			}()
			in, typed := io.Pipe()
			defer typed.Close()
			go func() { _, _ = io.WriteString(typed, "typed") }()
			_, err = Dial(l.Addr().String()).Attach(limited(t), AttachOptions{In: in, Out: tc.out})
			if !errors.Is(err, tc.want) || errors.Is(err, ErrNoHost) || errors.Is(err, ErrHungUp) != (tc.want == ErrHungUp) {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
}

func TestDetacher(t *testing.T) {
	for _, tc := range []struct {
		pieces  []string
		through string
		detach  bool
	}{
		{[]string{"ab"}, "ab", false},
		{[]string{"a\x1cd", "never"}, "a", true},
		{[]string{"\x1c", "d"}, "", true},
		{[]string{"\x1c\x1cd"}, "\x1cd", false},
		{[]string{"\x1cx"}, "\x1cx", false},
		{[]string{"a\x1b[92;5u", "\x1b[92;5:3u", "d"}, "a", true}, // as reports of keys
		{[]string{"\x1b[92::92;133:1u\x1b[92;1:3ud"}, "", true},
		{[]string{"\x1b[27;5;92~d"}, "", true},
		{[]string{"\x1b[92;3ud\x1b[99;5u"}, "\x1b[92;3ud\x1b[99;5u", false},
	} {
		var d detacher
		var through []byte
		detach := false
		for _, p := range tc.pieces {
			var part []byte
			if part, detach = d.read([]byte(p)); !detach {
				through = append(through, part...)
				continue
			}
			through = append(through, part...)
			break
		}
		if string(through) != tc.through || detach != tc.detach {
			t.Errorf("%q: %q %v", tc.pieces, through, detach)
		}
	}
}
