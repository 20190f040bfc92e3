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
	ctx, cancel := context.WithCancelCause(parent)
	arrived := make(chan os.Signal, 2)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if sig != syscall.SIGHUP || !signal.Ignored(sig) {
			signal.Notify(arrived, sig)
		}
	}
	forced, done, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer signal.Stop(arrived)
		twoSteps(arrived, done, cancel, forced)
	}()
	var once sync.Once
	return ctx, forced, func() {
		once.Do(func() { close(done) })
		<-ended
		cancel(context.Canceled)
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
