package host

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A line that waits in a terminal and is thrown away, as a program does that asks for a password
// or begins to edit its lines itself, has not been read. One that a program took has, also if
// the program has ended right after.
func TestALineThatIsThrownAwayIsNotRead(t *testing.T) {
	t.Parallel()
	w := watchReads(os.DevNull)
	if w == nil {
		t.Skip("the system has no room for inotify: reads cannot be told")
	}
	w.close()
	typed := func(script string, what func(ctx context.Context, h *Host, turn *InputLock) bool) (read bool) {
		h := newHost(t, Options{})
		h.input.reads = time.Minute
		background(t, h, shell("echo up; "+script))
		eventuallyTail(t, h, "up")
		err := h.LockInput(limited(t), time.Time{}, func(turn *InputLock) error {
			if err := turn.enter(limited(t), requested(), Input{Text: "a line"}); err != nil {
				return err
			}
			read = what(limited(t), h, turn)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return read
	}
	if typed("exec sleep 1000", func(ctx context.Context, _ *Host, turn *InputLock) bool {
		time.AfterFunc(20*DefaultPause, func() {
			f, err := os.OpenFile(turn.to.tty, os.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			raw, err := termiosOf(f)
			if err != nil {
				t.Error(err)
				return
			}
			raw.Lflag &^= unix.ICANON | unix.ECHO
			if err := control(f, func(fd int) error { return unix.IoctlSetTermios(fd, unix.TCSETSF, raw) }); err != nil {
				t.Error(err)
			}
		})
		read, err := turn.LineIsRead(ctx, DefaultPause)
		if err != nil {
			t.Error(err)
		}
		return read
	}) {
		t.Error("a line that was thrown away was read")
	}
	afterItsEnd := func(ctx context.Context, h *Host, turn *InputLock) bool {
		if _, err := waitFor(ctx, h); err != nil {
			t.Error(err)
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		read, err := turn.LineIsRead(over, DefaultPause)
		if read != (err == nil) {
			t.Error(err)
		}
		return read
	}
	if !typed("read -r l", afterItsEnd) {
		t.Error("a line that a program has read before its end was not read")
	}
	over := filepath.Join(t.TempDir(), "over")
	if typed("until [ -e "+over+" ]; do sleep 0.05; done", func(ctx context.Context, h *Host, turn *InputLock) bool {
		if err := os.WriteFile(over, nil, 0o600); err != nil {
			t.Error(err)
		}
		return afterItsEnd(ctx, h, turn)
	}) {
		t.Error("a line that a program has not read before its end was read")
	}
}
