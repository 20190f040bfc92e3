package teams

import (
	"sync"
	"sync/atomic"
	"time"
)

// all calls f for 0..n-1, all at once, and waits for all. The first is done here: one alone
// needs no other thread, which may have to wait for a processor.
func all(n int, f func(int)) {
	var wg sync.WaitGroup
	for i := 1; i < n; i++ {
		wg.Go(func() { f(i) })
	}
	if n > 0 {
		f(0)
	}
	wg.Wait()
}

// mostAtOnce is how many of a set are looked at at the same time: each takes a few
// descriptors, and memory for what it reads.
const mostAtOnce = 100

// some is all for looks, which may be many: at most mostAtOnce of them run at a time.
func some(n int, f func(int)) {
	var next atomic.Int64
	all(min(n, mostAtOnce), func(int) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	})
}

// How long those that come first wait for others, so that a set is handled at once; each
// time four times as long as before.
const (
	batchFirst = 100 * time.Millisecond
	batchMost  = 4 * time.Second
)

// inBatches receives n values and hands them on in batches, one after the other: those
// that come at about the same time together, so that n slow ones cost few batches and do
// not delay the quick ones.
func inBatches[T any](in <-chan T, n int, handle func([]T)) {
	for wait := batchFirst; n > 0; wait = min(4*wait, batchMost) {
		batch := []T{<-in}
		over := time.After(wait)
		for more := true; more && len(batch) < n; {
			select {
			case v := <-in:
				batch = append(batch, v)
			case <-over:
				more = false
			}
		}
		n -= len(batch)
		handle(batch)
	}
}
