package host

import (
	"encoding/binary"
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
	var event [unix.SizeofInotifyEvent]byte // a terminal that is gone has one, too
	_ = control(w.events, func(fd int) error {
		_, err := unix.Read(fd, event[:])
		return err
	})
	return binary.NativeEndian.Uint32(event[4:])&unix.IN_ACCESS != 0 // its mask
}

func (w *readWatch) close() {
	if w != nil {
		_ = w.events.Close()
	}
}
