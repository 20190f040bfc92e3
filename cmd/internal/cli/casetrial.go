package cli

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend/backendtest"
)

// caseLimit is how long one case of a suite may take.
const caseLimit = 2 * time.Minute

// caseRun is one case at work: it is the case's backendtest.T.
type caseRun struct {
	ctx context.Context

	mu       sync.Mutex // guards the next
	cleanups []func()
	output   []string
	failed   bool
}

var _ backendtest.T = (*caseRun)(nil)

// run runs one case in a goroutine of its own, which Fatal ends, and then what it left to
// be cleaned up, last things first. A case that hangs is left behind.
func (t *trial) run(ctx context.Context, c backendtest.Case) caseReport {
	ctx, cancel := context.WithTimeout(ctx, caseLimit)
	defer cancel()
	r := &caseRun{ctx: ctx}
	began := time.Now()
	guarded := func(f func()) <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() {
				if p := recover(); p != nil {
					r.Errorf("panic: %v", p)
				}
			}()
			f()
		}()
		return done
	}
	wait := func(what string, done <-chan struct{}) {
		select {
		case <-done:
		case <-time.After(caseLimit + 10*time.Second):
			r.Errorf("%s took longer than %s", what, caseLimit)
		}
	}
	wait("the case", guarded(func() { c.Run(r) }))
	for f := r.last(); f != nil; f = r.last() {
		wait("cleaning up", guarded(f))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return caseReport{Name: c.Name, OK: !r.failed, DurationMS: time.Since(began).Milliseconds(), Output: r.output}
}

// last takes the last cleanup, nil when there is none.
func (r *caseRun) last() func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.cleanups)
	if n == 0 {
		return nil
	}
	f := r.cleanups[n-1]
	r.cleanups = r.cleanups[:n-1]
	return f
}

// Context is done when the case has taken too long, or leadlight is interrupted.
func (r *caseRun) Context() context.Context { return r.ctx }

// Cleanup has f called when the case is over.
func (r *caseRun) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// Helper does nothing: no places in the source are told.
func (r *caseRun) Helper() {}

// Error notes a failure.
func (r *caseRun) Error(args ...any) {
	text := strings.TrimSuffix(fmt.Sprintln(args...), "\n")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.output = append(r.output, strings.Split(text, "\n")...)
}

// Errorf notes a failure.
func (r *caseRun) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }

// Fatal notes a failure and ends the goroutine.
func (r *caseRun) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

// Fatalf notes a failure and ends the goroutine.
func (r *caseRun) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }
