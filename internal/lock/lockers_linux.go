package lock

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/leadlight-dev/leadlight/internal/files"
)

// lockers are the processes that the kernel says hold the lock of a file: whoever took it
// without our program has not signed it. None are known where it does not say.
func lockers(d *files.Dir, name string) (pids []int) {
	info, err := d.Lstat(name)
	table, openErr := os.Open("/proc/locks")
	if err != nil || openErr != nil {
		return nil
	}
	defer table.Close()
	st := info.Sys().(*syscall.Stat_t)
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	for lines := bufio.NewScanner(table); lines.Scan(); {
		var kind, how, access, of string
		var n, pid int
		if _, err := fmt.Sscanf(lines.Text(), "%d: %s %s %s %d %s", &n, &kind, &how, &access, &pid, &of); err == nil && kind == "FLOCK" && strings.EqualFold(of, file) {
			pids = append(pids, pid)
		}
	}
	return pids
}
