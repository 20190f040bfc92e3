package host

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

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
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("release the program's pages: %w", err)
	}
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
// the process's own. smaps is the text of proc_pid_smaps(5).
func untouched(smaps []byte, file string) []mapping {
	var all []mapping
	var now mapping
	ours := false
	lines := bufio.NewScanner(bytes.NewReader(smaps))
	for lines.Scan() {
		fields := bytes.Fields(lines.Bytes())
		switch {
		case len(fields) >= 6 && bytes.ContainsRune(fields[0], '-'): // start-end perms offset dev inode path
			path := bytes.TrimSpace(lines.Bytes()[bytes.Index(lines.Bytes(), fields[5]):])
			ours = string(path) == file && !bytes.ContainsRune(fields[1], 'w')
			if ours {
				now, ours = parseRange(fields[0])
			}
		case len(fields) == 5 && bytes.ContainsRune(fields[0], '-'): // without a path
			ours = false
		case ours && len(fields) >= 2 && string(fields[0]) == "Anonymous:":
			if string(fields[1]) == "0" {
				all = append(all, now)
			}
		}
	}
	return all
}

func parseRange(text []byte) (mapping, bool) {
	from, to, _ := bytes.Cut(text, []byte("-"))
	start, err := strconv.ParseUint(string(from), 16, 64)
	if err != nil {
		return mapping{}, false
	}
	end, err := strconv.ParseUint(string(to), 16, 64)
	return mapping{uintptr(start), uintptr(end)}, err == nil && end > start
}
