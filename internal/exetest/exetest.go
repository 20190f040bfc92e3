// Package exetest writes the programs that tests run, so that each can be run at once, whatever
// else begins in the meantime, and tells when one has been stopped.
package exetest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// Write writes a program. No process begins meanwhile: until it becomes another program it
// would hold the file open, and what is open to be written cannot be run (ETXTBSY).
func Write(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o700)
}

// Stopped tells whether a signal has stopped a process: each of its threads stops when its turn
// comes, and until then it goes on.
func Stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if state := bytes.LastIndex(stat, []byte(") ")) + 2; err != nil || !bytes.HasPrefix(stat[state:], []byte("T")) {
			return false
		}
	}
	if len(threads) > 0 {
		return true
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output() // where there is no /proc
	return err == nil && bytes.HasPrefix(state, []byte("T"))
}
