package tmux

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// aheadLife is how long our own server stays without a session when it was started ahead:
// whoever started it may be killed meanwhile, and may be slow.
const aheadLife = time.Minute

// Ahead gets ready for Open while its caller has other things to do: it starts a server of
// ours that does not run yet, or asks at least for the version. What fails is left to Open,
// which says so. It is for one whose panes are the first of their team: until they are open,
// this process takes the server to be empty. release ends one in which no session was opened.
func (b *Backend) Ahead(ctx context.Context) (release func()) {
	b.starting.Lock()
	defer b.starting.Unlock()
	release = func() {}
	if b.dial() == nil {
		return release // its panes tell the version
	}
	if !b.opt.Own || b.mayStart(ctx) != nil || b.dial() == nil {
		_, _ = b.Version(ctx)
		return release
	}
	life := strconv.FormatFloat(b.opt.AheadLife.Seconds(), 'f', -1, 64)
	out, err := b.run(ctx, command{"start-server"}, command{"display-message", "-p", "#{version}"},
		command{"run-shell", "-b", "-d", life, "-C", strings.Join(exitWhenEmpty("on"), " ")}, exitWhenEmpty("off"))
	end := func() { _, _ = b.run(context.WithoutCancel(ctx), exitWhenEmpty("on")) } // it ends by itself in a moment
	if err != nil {
		if ctx.Err() != nil {
			end() // it may run nevertheless, and nobody will use it
		}
		return release
	}
	v, err := ParseVersion("tmux " + strings.TrimSpace(out))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ahead = true; err == nil && v.Kind == Release && v.check() == nil {
		b.version = v
	}
	return func() {
		if b.tookAhead() {
			end()
		}
	}
}

// startedAhead tells, when Ahead is done, whether it has started the server.
func (b *Backend) startedAhead() bool {
	b.starting.Lock()
	defer b.starting.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ahead
}

// exitWhenEmpty says whether a server ends with its last session.
func exitWhenEmpty(on string) command { return command{"set-option", "-s", "exit-empty", on} }

// tookAhead tells, once, that the server was started ahead.
func (b *Backend) tookAhead() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.ahead
	b.ahead = false
	return was
}
