package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// readWatch tells whether somebody has read from a terminal. nil: it cannot be told.
type readWatch struct{ events *os.File }

// watchReads begins to look.
func watchReads(tty string) *readWatch {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	events := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, tty, unix.IN_ACCESS); err != nil {
		_ = events.Close()
		return nil
	}
	return &readWatch{events}
}

func (w *readWatch) seen() bool {
	if w == nil {
		return false
	}
	n := 0
	_ = control(w.events, func(fd int) (err error) {
		n, err = unix.Read(fd, make([]byte, unix.SizeofInotifyEvent))
		return err
	})
	return n > 0
}

func (w *readWatch) close() {
	if w != nil {
		_ = w.events.Close()
	}
}
