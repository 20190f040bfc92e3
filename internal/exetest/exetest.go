// Package exetest writes the programs that tests run, so that each can be run at once, whatever
// else begins in the meantime.
package exetest

import (
	"os"
	"syscall"
)

// Write writes a program. No process begins meanwhile: until it becomes another program it
// would hold the file open, and what is open to be written cannot be run (ETXTBSY).
func Write(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o700)
}
