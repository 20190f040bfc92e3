package host

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	getTermiosRequest = unix.TCGETS

	unreadRequest = unix.TIOCINQ

	// cookedLine is the longest line a terminal takes in canonical mode before it
	// drops what follows, see termios(3).
	cookedLine = 4095
)

// ttyName returns the path of the terminal behind f, "" if it has none here.
func ttyName(f *os.File) string {
	var name string
	err := control(f, func(fd int) (err error) {
		name, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		return err
	})
	if err != nil || !strings.HasPrefix(name, "/dev/") {
		return ""
	}
	return name
}
