package store

import "context"

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
