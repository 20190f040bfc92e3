package observe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// sink is a buffer that can be waited on.
type sink struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// await waits until the text appears, at most a minute.
func (s *sink) await(t *testing.T, text string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !strings.Contains(s.String(), text); {
		if time.Now().After(limit) {
			t.Fatalf("%q did not come; have\n%s", text, s.String())
		}
		time.Sleep(time.Millisecond)
	}
}

// running is a Run in the background.
type running struct {
	out, warn sink
	end       context.CancelFunc
	err       chan error
}

func start(t *testing.T, o Options) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{end: cancel, err: make(chan error, 1)}
	o.Out, o.Warn = &r.out, &r.warn
	go func() { r.err <- Run(ctx, o) }()
	t.Cleanup(cancel)
	return r
}

func (r *running) stop(t *testing.T) error {
	t.Helper()
	r.end()
	return r.wait(t)
}

func (r *running) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.err:
		return err
	case <-time.After(time.Minute):
		t.Fatal("Run does not end")
		return nil
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "stream.jsonl")
		lines := join(create("c", "a"), spawn("s", "a", "ann"))
		appendTo(t, path, lines[0]+"\n"+lines[1][:20])
		r := start(t, Options{File: path, Follow: true})
		appendTo(t, path, lines[1][20:]+"\n")
		r.out.await(t, "team:created")
		appendTo(t, path, lines[2]+"\n"+lines[3]+"\n")
		r.out.await(t, `"team:member:joined"`)
		if err := r.stop(t); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
		if w := r.warn.String(); w != "" {
			t.Errorf("warnings: %s", w)
		}
	})
}

func TestFollowTruncated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "stream.jsonl")
		lines := create("c", "a")
		appendTo(t, path, strings.Join(lines, "\n")+"\n"+said(strings.Repeat("long ", 100))+"\n"+`{"torn`)
		r := start(t, Options{File: path, Follow: true})
		r.out.await(t, "team:created")
		if err := os.WriteFile(path, []byte(strings.Join(spawn("s", "a", "ann"), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r.out.await(t, `"ann"`)
		r.warn.await(t, "was truncated")
		r.warn.await(t, "within a line of 6 bytes")
		if err := r.stop(t); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestFollowReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "stream.jsonl")
		lines := spawn("s", "a", "ann")
		appendTo(t, path, strings.Join(create("c", "a"), "\n")+"\n")
		r := start(t, Options{File: path, Follow: true, Emit: EmitState})
		r.out.await(t, `"name":"a"`)
		appendTo(t, path, lines[0]+"\n")                   // read to its end, even after it
		if err := os.Rename(path, path+".1"); err != nil { // is gone; the next file takes its time
			t.Fatal(err)
		}
		appendTo(t, path, lines[1]+"\n")
		r.out.await(t, `"ann"`)
		r.warn.await(t, "was replaced")
		if err := r.stop(t); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

// What was written to the old file between our last read and its replacement is
// read before the new one.
func TestFollowReplacedLate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stream.jsonl")
	appendTo(t, path, "one")
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.follow, f.cut = true, func(string) {}
	defer func() { f.close() }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	next := func() string {
		b := make([]byte, 16)
		n, err := f.read(ctx, b, 0)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	got := next()
	appendTo(t, path, "two")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, "three")
	if again, err := f.renew(); err != nil || !again {
		t.Fatalf("renew: %v, %v", again, err)
	}
	if got += next(); got != "onetwo" {
		t.Errorf("read %q", got)
	}
	if got += next(); got != "onetwothree" {
		t.Errorf("read %q", got)
	}
}

func TestPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, w := io.Pipe()
		path := filepath.Join(t.TempDir(), "state.json")
		r := start(t, Options{File: "-", In: in, StateFile: path, Quiet: time.Minute / 2})
		write := func(s string) {
			if _, err := io.WriteString(w, s); err != nil {
				t.Fatal(err)
			}
		}
		lines := create("c", "a")
		write(lines[0] + "\n" + lines[1])
		write("\n")
		r.out.await(t, "team:created")
		write(use("b", "Bash", object{"command": "rm"}) + "\n")
		r.out.await(t, "team:member:waiting")
		write(result("b", "gone", nil) + "\n")
		r.out.await(t, "team:member:active")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.wait(t); err != nil {
			t.Errorf("ended with %v", err)
		}
		if n := strings.Count(r.out.String(), "waiting"); n < 1 || strings.Count(r.out.String(), `"type":"member_waiting"`) != 1 {
			t.Errorf("waiting was said again and again:\n%s", r.out.String())
		}
		if s, err := LoadState(path); err != nil || s.Team == nil || s.Seq != 3 {
			t.Errorf("state %+v, %v", s, err)
		}
	})
}

func TestCancelWhileReading(t *testing.T) {
	in, w := io.Pipe()
	r := start(t, Options{In: in})
	if err := r.stop(t); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	_ = w.Close()
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		o    Options
		want error
	}{
		{Options{In: strings.NewReader(""), Emit: "everything"}, fault.InvalidArgument},
		{Options{}, fault.InvalidArgument},
		{Options{File: filepath.Join(dir, "none")}, os.ErrNotExist},
		{Options{File: dir}, nil},
	} {
		c.o.Out = new(bytes.Buffer)
		err := Run(context.Background(), c.o)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	broken := errors.New("broken pipe")
	if err := Run(context.Background(), Options{In: &failing{strings.NewReader(""), broken}, Out: io.Discard}); !errors.Is(err, broken) {
		t.Errorf("a stream that breaks: %v", err)
	}
	for _, emit := range Emits() {
		err := Run(context.Background(), Options{In: strings.NewReader(strings.Repeat(strings.Join(story(), "\n")+"\n", 100)), Out: full{}, Emit: emit})
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s to a full disk: %v", emit, err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A last line without its end counts if it is complete, and a supplementary
// message behind it begins on a line of its own.
func TestLastLine(t *testing.T) {
	lines := create("c", "a")
	stream := strings.Join(lines, "\n")
	out, warnings := observed(t, []byte(stream), EmitMessages)
	if !strings.HasPrefix(out, lines[0]+"\n{\"type\":\"team_state_change\"") || !strings.Contains(out, lines[1]+"\n{") || warnings != "" {
		t.Errorf("%s\n%s", out, warnings)
	}
	if out, _ := observed(t, []byte(stream), EmitEvents); !strings.HasPrefix(out, `{"seq":1,"type":"team:created"`) {
		t.Errorf("events %s", out)
	}
	if out, _ := observed(t, []byte(said("x")), EmitMessages); out != said("x") {
		t.Errorf("a line was added: %q", out)
	}
	if _, warnings := observed(t, []byte("noise"), EmitEvents); !strings.Contains(warnings, "not JSON objects: 1") {
		t.Errorf("warnings %s", warnings)
	}
}
