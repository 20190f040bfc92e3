package host

import (
	"math"
	"runtime/debug"
	"time"
)

// What a host keeps of memory: there is one for each teammate, and most of the time it
// waits.
const (
	gcPercent   = 50              // that the heap may grow between two collections
	afterStart  = 3 * time.Second // what only the start needed is given back then
	startMemory = 32 << 20        // bytes, from which on it is collected also before
)

// TrimMemory keeps this process small, as hosts should be: its heap grows by little, and what
// only its start needed is given back soon, of the heap as of the program's file. Until
// then nothing is collected, unless it becomes much. The timer is to be stopped.
func TrimMemory() *time.Timer {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(startMemory)
	return time.AfterFunc(afterStart, func() {
		debug.SetGCPercent(gcPercent)
		debug.SetMemoryLimit(math.MaxInt64)
		debug.FreeOSMemory()
		_ = releaseProgram() // whoever cannot goes on as before
	})
}
