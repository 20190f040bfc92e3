package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/signals"
)

func TestPaneBothWays(t *testing.T) {
	p := newPane(t, 24, 80)
	p.watch(t)
	before, err := termiosOf(p.tty)
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t, Options{Terminal: p.tty})
	done := background(t, h, shell(`printf '\033[?1049h\033[?2004h'; read line; printf 'got %s\n' "$line"; read more`))
	eventually(t, "the program", func() bool { return strings.Contains(p.out.String(), "\x1b[?1049h") })
	p.press(t, "hello\r")
	eventually(t, "what was typed", func() bool { return strings.Contains(p.out.String(), "got hello\r\n") })
	if h.Status().LastKeyAt.IsZero() {
		t.Error("nobody typed, says the status")
	}
	p.press(t, "\x04")
	if exit := endOf(t, done); exit.Code != 1 {
		t.Errorf("%+v", exit)
	}
	eventually(t, "the program's modes are taken back", func() bool {
		return strings.HasSuffix(p.out.String(), "\x1b[?1049l\x1b[?2004l\x1b[0m")
	})
	done = background(t, h, shell("exec 3<>/dev/tty; echo own terminal; exec sleep 1000"))
	eventuallyTail(t, h, "own terminal") // else the interrupt key reaches nobody
	p.press(t, "\x03")
	if exit := endOf(t, done); exit.Signal != "SIGINT" {
		t.Errorf("%+v", exit)
	}
	h.Write([]byte("own line\n"))
	eventually(t, "the host's own line", func() bool { return strings.Contains(p.out.String(), "own line\r\n") })
	h.Close()
	after, err := termiosOf(p.tty)
	if err != nil || *after != *before {
		t.Errorf("the terminal is not given back as it was: %+v, %v", after, err)
	}
}

func TestSizeIsFollowed(t *testing.T) {
	p := newPane(t, 31, 97)
	p.watch(t)
	h := newHost(t, Options{Terminal: p.tty})
	done := background(t, h, programIn(t, "sizes"))
	eventuallyTail(t, h, "size 31x97")
	if err := setSize(p.master, 40, 132); err != nil {
		t.Fatal(err)
	}
	// The terminal is nobody's controlling one here; in a pane the system sends this.
	syscall.Kill(os.Getpid(), syscall.SIGWINCH)
	eventuallyTail(t, h, "size 40x132")
	if s := h.Status(); s.Rows != 40 || s.Cols != 132 {
		t.Errorf("status %dx%d", s.Rows, s.Cols)
	}
	h.End(limited(t), 0, 5*time.Second)
	endOf(t, done)
}

// A size that the pane gets while a program starts reaches it.
func TestSizeChangesDuringTheStart(t *testing.T) {
	h := newHost(t, Options{})
	p, err := h.start(shell("read x"))
	if err != nil {
		t.Fatal(err)
	}
	h.resize(15, 60)
	h.setProgram(p)
	rows, cols, err := sizeOf(p.master)
	if rows != 15 || cols != 60 || err != nil {
		t.Errorf("its terminal has %d rows of %d, %v", rows, cols, err)
	}
	p.queue.close()
	p.master.Close() // it ends
	p.cmd.Wait()
	h.setProgram(nil)
}

// What the terminal itself sends is not typing.
func TestNobodyTypes(t *testing.T) {
	p := newPane(t, 24, 80)
	p.watch(t)
	h := newHost(t, Options{Terminal: p.tty})
	path := filepath.Join(t.TempDir(), "read")
	done := background(t, h, programIn(t, "raw", "REPORT="+path))
	eventuallyTail(t, h, "ready")
	events := "\x1b[I\x1b[O\x1b[<0;3;4M\x1b[<0;3;4m\x1b[M !!\x1b[?62;c\x1b[24;80R\x1b]11;rgb:0/0/0\x1b\\\x1bP>|tmux 3.3a\x1b\\"
	p.press(t, events)
	eventuallyTail(t, h, fmt.Sprintf("have %d\n", len(events)))
	if err := h.Inject(limited(t), Input{Text: endOfInput, Submit: SubmitNone}); err != nil {
		t.Fatal(err)
	}
	endOf(t, done)
	got, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(got), events) {
		t.Errorf("the program got %q", got)
	}
	if at := h.Status().LastKeyAt; !at.IsZero() {
		t.Error("somebody typed, says the status")
	}
}

// A pane that takes its output slowly slows the program, loses nothing, and keeps
// nobody else waiting.
func TestBurstOnASlowPane(t *testing.T) {
	p := newPane(t, 24, 80)
	dir := t.TempDir()
	open, rename := transcriptFiles(dir)
	h := newHost(t, Options{Terminal: p.tty, Screen: true, Transcript: NewTranscript(open, rename, "t", 128<<20)})
	done := background(t, h, programIn(t, "burst"))
	eventually(t, "the pane is full", func() bool { return h.Status().LastOutputAt.After(time.Time{}) })
	if _, err := h.Capture(limited(t), 5, false); err != nil {
		t.Error(err)
	}
	p.watch(t) // only now somebody reads
	if exit := endOf(t, done); exit.Code != 0 {
		t.Errorf("%+v", exit)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "t"))
	if err != nil || len(kept) < burstSize || !strings.Contains(string(kept[len(kept)-100:]), "sum ") {
		t.Fatalf("the transcript has %d bytes (%v)", len(kept), err)
	}
	eventually(t, "the pane shows it all", func() bool { return p.out.Len() >= len(kept) })
	if p.out.String() != string(kept) {
		t.Error("the pane shows something other than the transcript keeps")
	}
	eventually(t, "the screen catches up", func() bool {
		c, err := h.Capture(limited(t), 3, false)
		return err == nil && c.Screen && strings.Contains(c.Text, "sum ")
	})
}

// A pane that takes nothing at all does not keep the end away.
func TestStuckPane(t *testing.T) {
	p := newPane(t, 24, 80)
	h := newHost(t, Options{Terminal: p.tty})
	done := background(t, h, programIn(t, "burst"))
	eventually(t, "the pane takes no more", func() bool {
		at := h.Status().LastOutputAt
		return !at.IsZero() && time.Since(at) > 300*time.Millisecond
	})
	_, before, _ := h.out.ring.tail(0)
	began := time.Now()
	if _, err := h.End(limited(t), 0, 5*time.Second); err != nil {
		t.Error(err)
	}
	endOf(t, done)
	if _, after, _ := h.out.ring.tail(0); after == before {
		t.Error("what the program still had in its terminal is lost")
	}
	h.Close()
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestPaneGone(t *testing.T) {
	p := newPane(t, 24, 80)
	h := newHost(t, Options{Terminal: p.tty})
	done := background(t, h, shell("trap '' HUP; while :; do echo more || exit; sleep 0.05; done"))
	eventuallyTail(t, h, "more")
	p.master.Close()
	select {
	case <-h.Closing():
	case <-time.After(time.Minute):
		t.Fatal("not noticed")
	}
	if h.Cause() != CausePaneClosed {
		t.Errorf("cause %q", h.Cause())
	}
	before := len(h.Tail(0))
	eventually(t, "output goes on", func() bool { return len(h.Tail(0)) > before })
	if _, err := h.End(limited(t), 0, 5*time.Second); err != nil {
		t.Error(err)
	}
	endOf(t, done)
}

// In a pane of its own: the pane closes, the tree ends, the cause is known.
func TestHostInAPane(t *testing.T) {
	for _, tc := range []struct {
		name, cause string
		end         func(*pane, *os.Process)
	}{
		{"closed by hand", CausePaneClosed, func(p *pane, _ *os.Process) { p.master.Close() }},
		{"terminated", CauseTerminated, func(_ *pane, h *os.Process) { h.Signal(syscall.SIGTERM) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPane(t, 24, 80)
			sock := filepath.Join(shortDir(t), "s")
			id := fmt.Sprintf("in-a-pane-%d-%d", os.Getpid(), time.Now().UnixNano())
			c := hostProcess(t, id, sock, p.tty, "sh", "-c", "trap '' HUP TERM; setsid sleep 1000 & sleep 1000; true")
			p.tty.Close()
			p.watch(t)
			client := Dial(sock)
			eventually(t, "the host", func() bool { s, err := client.Status(limited(t)); return err == nil && s.Agent != nil })
			eventually(t, "the tree", func() bool { p, _ := signals.Marked(id); return len(p) >= 3 })
			tc.end(p, c.Process)
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
			if left, err := signals.Marked(id); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
			if cause, err := os.ReadFile(sock + ".cause"); err != nil || string(cause) != tc.cause {
				t.Errorf("cause %q, %v", cause, err)
			}
		})
	}
}

// A host that was killed leaves a tree that is still known for what it is.
func TestKilledHostLeavesAMarkedTree(t *testing.T) {
	sock := filepath.Join(shortDir(t), "s")
	id := fmt.Sprintf("killed-%d-%d", os.Getpid(), time.Now().UnixNano())
	c := hostProcess(t, id, sock, nil, "sh", "-c", "trap '' HUP; (trap '' HUP; setsid sleep 1000) & sleep 1000; true")
	client := Dial(sock)
	eventually(t, "the host", func() bool { s, err := client.Status(limited(t)); return err == nil && s.Agent != nil })
	eventually(t, "the tree", func() bool { p, _ := signals.Marked(id); return len(p) >= 3 })
	c.Process.Kill()
	c.Wait()
	if left, err := signals.Marked(id); err != nil || len(left) < 3 {
		t.Fatalf("found %v, %v", left, err)
	}
	if _, err := client.Status(limited(t)); err == nil {
		t.Error("a dead host answers")
	}
	// The next host takes the dead one's socket over, and ends its tree.
	h := newHost(t, Options{ID: id, Socket: sock})
	if report, err := h.End(limited(t), 0, 5*time.Second); err != nil || len(report.Ended) < 3 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := client.Status(context.Background()); err != nil {
		t.Error(err)
	}
}
