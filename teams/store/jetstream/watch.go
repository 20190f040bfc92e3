package jetstream

import (
	"context"
)

// watch hints at changes of what part names of a team, and goes on with the next team of
// that name.
func (e *Engine) watch(ctx context.Context, name string, part func(*teamCopy) (*mirror, func(string) bool, error)) (<-chan struct{}, error) {
	in, err := e.team(ctx, name, true)
	if err != nil {
		return nil, err
	}
	all, err := e.rosters(ctx)
	if err != nil {
		return nil, err
	}
	m, match, err := part(in)
	if err != nil {
		return nil, err
	}
	subject := e.key("team", name)
	rosters := all.watch(ctx, func(s string) bool { return s == subject })
	once, stop := context.WithCancel(ctx)
	hints := m.watch(once, match)
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		defer func() { stop() }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-hints:
			case <-rosters:
				if next, err := e.team(ctx, name, false); err == nil && next.id != in.id {
					if m, match, err := part(next); err == nil {
						stop()
						once, stop = context.WithCancel(ctx)
						in, hints = next, m.watch(once, match)
					}
				}
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out, nil
}
