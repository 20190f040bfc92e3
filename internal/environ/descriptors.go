package environ

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// KeepDescriptors keeps what this process was started with, but its input, output and
// error, from every program that it starts: a lock or a pipe that its caller holds would
// be held for as long as they live.
func KeepDescriptors() {
	const first = 3
	if closeRange(first) == nil {
		return
	}
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}

// KeepAccess takes what the owner of a file may do with it out of the umask: what this
// process makes and could not use, not even to remove it, would be left there.
func KeepAccess() { unix.Umask(unix.Umask(0o077) &^ 0o700) }
