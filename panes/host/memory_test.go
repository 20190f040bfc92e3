package host

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestTrimMemory: a host at rest is not collected before it has grown; one that works is
// collected as usual, and rests again after it. What it sets holds for a whole process, so
// it has one of its own.
func TestTrimMemory(t *testing.T) {
	t.Parallel()
	cmd := programIn(t, "memory")
	c := exec.Command(cmd.Argv[0])
	c.Env = cmd.Env
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func restAndWork() error {
	m := trimMemory(10 * time.Millisecond)
	defer m.stop()
	state := func() (resting, busy bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.pause > 0, m.busy
	}
	await := func(what string, ok func() bool) error {
		for range 10_000 { // the program ends before
			if ok() {
				return nil
			}
			time.Sleep(10 * time.Millisecond)
		}
		return errors.New("never " + what)
	}
	resting := func() bool { resting, busy := state(); return resting && !busy }
	usual := func(after string) error { // what is set while it is busy
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.busy {
			return nil
		}
		percent, limit := debug.SetGCPercent(gcPercent), debug.SetMemoryLimit(-1)
		if percent != gcPercent || limit != math.MaxInt64 {
			return fmt.Errorf("busy after %s: it is collected at %d %% and %d bytes", after, percent, limit)
		}
		return nil
	}
	if err := await("at rest", resting); err != nil {
		return err
	}
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	if limit := debug.SetMemoryLimit(-1); now.NumGC > 0 || limit == math.MaxInt64 {
		return fmt.Errorf("at rest it was collected %d times, its limit is %d", now.NumGC, limit)
	}
	const block = 128 << 10 // none of a stack
	take := func() {
		work := make([]byte, block)
		clear(work)
		time.Sleep(time.Millisecond)
	}
	for range smallHeap/block + 1 {
		take()
	}
	collected := func() bool { runtime.ReadMemStats(&now); return now.NumGC > 0 }
	if err := await("collected while it rests", collected); err != nil {
		return err
	}
	if err := usual("what it held was given back"); err != nil {
		return err
	}
	for range 2 {
		if err := await("at rest again", resting); err != nil {
			return err
		}
		if limit := debug.SetMemoryLimit(-1); limit == math.MaxInt64 {
			return errors.New("it rests again, without a limit")
		}
		for took := 0; ; took += block {
			if _, busy := state(); busy {
				break
			}
			if took > 64*restMemory { // even where collections are late
				return fmt.Errorf("it took %d bytes and is still at rest", took)
			}
			take()
		}
		if err := usual("it has grown"); err != nil {
			return err
		}
	}
	return nil
}
