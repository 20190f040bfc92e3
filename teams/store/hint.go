package store

import (
	"context"
	"sync"
)

type hintKey struct{}

// AfterHint returns a context for a read that follows a hint of Mail.Watch. What had come with
// the hint is enough for it, since what is written later gives another hint. So a store whose
// truth is elsewhere need not ask whether there is more.
func AfterHint(ctx context.Context) context.Context { return context.WithValue(ctx, hintKey{}, true) }

// FollowsHint tells whether ctx is one of AfterHint.
func FollowsHint(ctx context.Context) bool {
	follows, _ := ctx.Value(hintKey{}).(bool)
	return follows
}

// Together are the hints of several watches, until the last of them ends.
func Together(watches ...<-chan struct{}) <-chan struct{} {
	out := make(chan struct{}, 1)
	var open sync.WaitGroup
	for _, hints := range watches {
		open.Go(func() {
			for range hints {
				select {
				case out <- struct{}{}:
				default: // one hint says as much as two
				}
			}
		})
	}
	go func() {
		open.Wait()
		close(out)
	}()
	return out
}
