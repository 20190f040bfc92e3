package signals

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Interrupted is the cause of a context that Interrupts cancelled.
type Interrupted struct{ Signal syscall.Signal }

// Error names the signal.
func (i Interrupted) Error() string { return fmt.Sprintf("interrupted by signal %v", i.Signal) }

// Is makes it a context.Canceled, which leads to exit status 130.
func (Interrupted) Is(target error) bool { return target == context.Canceled }

// asOne is how close two signals come that are one: timeout(1) signals its child, and then the
// child's group. A person who presses ^C twice takes longer.
const asOne = 50 * time.Millisecond

// Interrupts turns INT, TERM and HUP of this process into two steps: the first
// cancels the returned context (its cause is an Interrupted), which means "come to
// an end in order"; the second closes the channel, which means "at once". The
// third has the system's own effect again. A HUP that was ignored when the
// process started (nohup) stays ignored. stop gives the signals back and cancels
// the context; it may be called more than once.
func Interrupts(parent context.Context) (ctx context.Context, force <-chan struct{}, stop func()) {
	t := takeInterrupts(parent)
	t.notify()
	go t.run()
	return t.ctx, t.forced, t.stop(func() bool { return false })
}

// InterruptsAfter is Interrupts for who is done before the delay as a rule: a signal that comes
// before it has the system's own effect. To take the three and to give them back passes the
// processor between threads fifteen times, and where every core is busy each time is a wait.
func InterruptsAfter(parent context.Context, delay time.Duration) (ctx context.Context, force <-chan struct{}, stop func()) {
	t := takeInterrupts(parent)
	late := time.AfterFunc(delay, func() {
		t.notify()
		t.run()
	})
	return t.ctx, t.forced, t.stop(late.Stop)
}

// interrupts is what takes signals until it is done.
type interrupts struct {
	ctx                 context.Context
	cancel              context.CancelCauseFunc
	arrived             chan os.Signal
	forced, done, ended chan struct{}
}

func takeInterrupts(parent context.Context) *interrupts {
	t := &interrupts{arrived: make(chan os.Signal, 2), forced: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancelCause(parent)
	return t
}

func (t *interrupts) notify() {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if sig != syscall.SIGHUP || !signal.Ignored(sig) {
			signal.Notify(t.arrived, sig)
		}
	}
}

func (t *interrupts) run() {
	defer close(t.ended)
	defer signal.Stop(t.arrived)
	twoSteps(t.arrived, t.done, t.cancel, t.forced)
}

// stop waits for the end of run, unless never tells that it has not begun.
func (t *interrupts) stop(never func() bool) func() {
	var once sync.Once
	return func() {
		once.Do(func() {
			close(t.done)
			if !never() {
				<-t.ended
			}
			t.cancel(context.Canceled)
		})
	}
}

// twoSteps cancels at the first signal and closes forced at the second.
func twoSteps(arrived <-chan os.Signal, done <-chan struct{}, cancel context.CancelCauseFunc, forced chan<- struct{}) {
	var first time.Time
	for {
		select {
		case <-done:
			return
		case sig := <-arrived:
			switch number, _ := sig.(syscall.Signal); {
			case first.IsZero():
				first = time.Now()
				cancel(Interrupted{number})
			case time.Since(first) >= asOne:
				close(forced)
				return
			}
		}
	}
}
