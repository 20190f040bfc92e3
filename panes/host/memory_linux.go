package host

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// releaseProgram unmaps the pages of the program's file that are resident. The kernel
// brings 16 of them in for each that is touched, and a start touches many all over a
// program of 30 MiB; what goes on needs few, and finds them in the page cache. Only
// mappings are released of which this process has changed no page: those can always be
// read again. See madvise(2), MADV_DONTNEED, and proc_pid_smaps(5).
func releaseProgram() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("release the program's pages: %w", err)
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("release the program's pages: %w", err)
	}
	defer smaps.Close()
	for _, m := range untouched(smaps, program) {
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED); errno != 0 {
			err = errors.Join(err, fmt.Errorf("release the program's pages: %w", errno))
		}
	}
	return err
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// untouched lists the mappings of a file that cannot be written to and hold no page of
// the process's own. smaps is the text of proc_pid_smaps(5); hundreds of its lines say
// nothing about that, so they are not taken apart.
func untouched(smaps io.Reader, file string) []mapping {
	var all []mapping
	var now mapping
	ours, whole := false, false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		line := lines.Bytes()
		name, rest, _ := bytes.Cut(line, []byte(" "))
		switch {
		case bytes.ContainsRune(name, '-'): // start-end perms offset dev inode path
			fields := bytes.Fields(rest)
			ours = len(fields) >= 5 && !bytes.ContainsRune(fields[0], 'w') &&
				string(bytes.TrimSpace(rest[bytes.Index(rest, fields[4]):])) == file
			if whole = false; ours {
				now, ours = parseRange(name)
			}
		case ours && string(name) == "Anonymous:":
			whole = string(bytes.TrimSpace(rest)) == "0 kB"
		case ours && string(name) == "Swap:": // pages of the process's own as well
			if whole && string(bytes.TrimSpace(rest)) == "0 kB" {
				all = append(all, now)
			}
		}
	}
	return all
}

func parseRange(text []byte) (m mapping, ok bool) {
	n, _ := fmt.Sscanf(string(text), "%x-%x", &m.start, &m.end)
	return m, n == 2 && m.end > m.start
}
