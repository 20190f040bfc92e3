package iterm2

import (
	"context"
	"time"

	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// watchPause is how long a lost iTerm2 is left alone before it is looked for again.
const watchPause = time.Second

// Watch hints when a session began or ended or a tab was divided otherwise, and when the
// connection was lost or is there again.
func (b *Backend) Watch(ctx context.Context) (<-chan struct{}, error) {
	hints := make(chan struct{}, 1)
	l := b.link
	l.mu.Lock()
	l.watchers[hints] = true
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		delete(l.watchers, hints)
		l.mu.Unlock()
		close(hints)
	}
	lost, err := b.subscribe(ctx)
	if err != nil {
		leave()
		return nil, err
	}
	go func() {
		defer leave()
		for {
			select {
			case <-ctx.Done():
				return
			case <-lost:
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(watchPause):
			}
			if lost, err = b.subscribe(ctx); err != nil {
				closed := make(chan struct{})
				close(closed)
				lost = closed
				continue
			}
			l.hint()
		}
	}()
	return hints, nil
}

// subscribe asks for notifications on the connection there is; lost is closed when that is
// over.
func (b *Backend) subscribe(ctx context.Context) (lost <-chan struct{}, err error) {
	c, err := b.link.connected(ctx, b.timeout)
	if err != nil {
		return nil, err
	}
	for _, kind := range []int{wire.OnTerminateSession, wire.OnNewSession, wire.OnLayoutChange} {
		a, err := b.ask(ctx, &wire.Request{Notification: &wire.NotificationRequest{Subscribe: true, Kind: kind}})
		switch {
		case err != nil:
			return nil, err
		case a.Subscribed == nil:
			return nil, odd("notifications")
		case a.Subscribed.Status != wire.OK && a.Subscribed.Status != wire.AlreadySubscribed:
			return nil, refused("notify", a.Subscribed.Status)
		}
	}
	return c.done, nil
}
