package host

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// What a host keeps of memory: there is one for each teammate, and most of the time it
// waits.
const (
	gcPercent   = 50               // that the heap of a busy host may grow between two collections
	settleTime  = 6 * time.Second  // after which a host is at rest that has not been collected meanwhile
	startMemory = 32 << 20         // bytes, from which on it is collected also before
	smallHeap   = 1 << 20          // bytes, up to which a collection would take more than it gives back
	restMemory  = 3 << 20          // bytes that it may take while it rests; the runtime keeps one MiB of them back
	lastPause   = 30 * time.Second // at most, between two times that the pages of the file are given back: 0.3 ms each
)

// TrimMemory keeps this process small, as hosts should be. While it starts nothing is
// collected, unless it becomes much. A host at rest gives back what it has read of the
// program's file, again and again, and is not collected before it has grown: a collection
// reads a large part of that file, for the stacks, and makes lists of its own, and the runtime
// would start one every two minutes. A busy host is collected as usual. What is returned
// stops the watch.
func TrimMemory() (stop func()) { return trimMemory(settleTime).stop }

// memory watches how much this process takes.
type memory struct {
	settle time.Duration

	mu      sync.Mutex // guards the next
	timer   *time.Timer
	stopped bool
	busy    bool          // it has been collected since it rested
	freed   bool          // and what that left was given back
	seen    uint32        // collections, at the last look
	pause   time.Duration // until the pages are released again; 0: it does not rest
}

func trimMemory(settle time.Duration) *memory {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(startMemory)
	m := &memory{settle: settle}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timer = time.AfterFunc(settle, m.look)
	m.watch()
	return m
}

func (m *memory) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped = true
	m.timer.Stop()
}

// watch has m told of the next collection: an object that nobody holds ends with it.
func (m *memory) watch() {
	runtime.AddCleanup(new(*memory), (*memory).collected, m)
}

// collected goes over to the usual collections.
func (m *memory) collected() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped || m.busy {
		return
	}
	m.wake(false)
	m.timer.Reset(m.settle)
}

// wake has the runtime collect as usual.
func (m *memory) wake(freed bool) {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(math.MaxInt64)
	m.busy, m.freed, m.pause = true, freed, 0
}

// look comes to rest when nothing was collected since the last look. The stacks that a
// collection has cut grow again before the program's pages are released: that reads many.
func (m *memory) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	next := m.settle
	switch {
	case m.busy && now.NumGC != m.seen:
	case !m.freed && (m.busy || now.HeapAlloc > smallHeap):
		m.wake(true)
		debug.FreeOSMemory()
		runtime.ReadMemStats(&now)
	default:
		if m.pause == 0 {
			m.rest(int64(now.Sys - now.HeapReleased))
		}
		_ = releaseProgram() // whoever cannot goes on as before
		m.pause = min(2*m.pause, lastPause)
		next = m.pause
	}
	m.seen = now.NumGC
	m.timer.Reset(next)
}

// rest has nothing collected until the process takes more than it does now.
func (m *memory) rest(takes int64) {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(takes + restMemory)
	if m.busy {
		m.busy = false
		m.watch()
	}
	m.pause = m.settle
}
