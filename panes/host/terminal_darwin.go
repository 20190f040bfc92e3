package host

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	getTermiosRequest = unix.TIOCGETA

	unreadRequest = 0x4004667f // FIONREAD of sys/filio.h

	// cookedLine is the longest line a terminal takes in canonical mode before it
	// drops what follows (MAX_CANON of sys/syslimits.h, less the line break).
	cookedLine = 1023
)

// ttyName returns the path of the terminal behind f, "" if it has none: the
// device with the same number.
func ttyName(f *os.File) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	own, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	names, _ := filepath.Glob("/dev/ttys*")
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Rdev == own.Rdev {
			return name
		}
	}
	return ""
}
