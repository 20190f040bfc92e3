package teammate

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
)

const (
	// personPause is how long after a person's last key nothing is typed for others, and
	// draftPause how long where that person has left an unfinished line.
	personPause = 3 * time.Second
	draftPause  = 30 * time.Second
	// unknownScreen is how long an agent has to be quiet to count as ready although its
	// screen does not show what its profile knows: a newer version may look different.
	unknownScreen = 30 * time.Second
	// screenSettles is how far the screen model may be behind the output.
	screenSettles = 2 * time.Second
	// restPause is how long an agent is quiet before the lead is told.
	restPause = 2 * time.Second
)

// look reads from an agent's screen whether it can be spoken to.
type look struct {
	host                *host.Host
	quiet               time.Duration
	ready, busy, asking []*regexp.Regexp

	last   []string  // the screen at the last look
	lastAt time.Time // of that look
}

// seen is what the screen says.
type seen struct {
	asking string    // the line with which it waits for a person
	free   bool      // it takes text, and nobody types
	since  time.Time // when free: since then nobody has typed
	rested bool      // it has been quiet for a while
}

func newLook(h *host.Host, m profiles.PromptProtocol) (*look, error) {
	l := &look{host: h, quiet: m.Quiet}
	for _, x := range []struct {
		to       *[]*regexp.Regexp
		patterns []string
	}{{&l.ready, m.Ready}, {&l.busy, m.Busy}, {&l.asking, m.Asking}} {
		for _, p := range x.patterns {
			re, err := regexp.Compile(p)
			if err != nil {
				return nil, fmt.Errorf("the profile's pattern %q: %w", p, err)
			}
			*x.to = append(*x.to, re)
		}
	}
	return l, nil
}

// see looks once. Asking wins over busy, and busy over ready.
func (l *look) see(ctx context.Context) seen {
	st := l.host.Status()
	lines := l.sinceOutput(ctx, st.LastOutputAt)
	if line := first(l.asking, lines); line != "" {
		return seen{asking: strings.TrimSpace(line)}
	}
	still := time.Since(later(st.LastOutputAt, st.StartedAt))
	since := time.Now().Add(-personPause)
	if st.Draft {
		since = time.Now().Add(-draftPause)
	}
	switch {
	case st.Agent == nil, first(l.busy, lines) != "", still < l.quiet, st.LastKeyAt.After(since):
		return seen{}
	case len(l.ready) > 0 && first(l.ready, lines) == "" && still < unknownScreen:
		return seen{}
	}
	return seen{free: true, since: since, rested: still >= max(restPause, l.quiet)}
}

// asks tells whether the agent waits for a person just now.
func (l *look) asks(ctx context.Context) bool {
	return len(l.asking) > 0 && first(l.asking, strings.Split(l.capture(ctx).Text, "\n")) != ""
}

// appears waits until the input line has changed from before because text was typed,
// and returns what it shows then; ok is false for a program that shows nothing.
func (l *look) appears(ctx context.Context, text, before string, limit time.Duration) (shown string, ok bool) {
	ok = l.until(ctx, limit, func(now string) bool {
		shown = now
		return now != before && now != "" || stands(text, now)
	})
	return shown, ok
}

// leaves waits until the input line neither holds text nor is as it was when text
// stood in it.
func (l *look) leaves(ctx context.Context, text, shown string, limit time.Duration) bool {
	return l.until(ctx, limit, func(now string) bool { return now != shown && !stands(text, now) })
}

// until waits until the input line is as wanted.
func (l *look) until(ctx context.Context, limit time.Duration, wanted func(now string) bool) bool {
	for end := time.Now().Add(limit); ; {
		if wanted(inputLine(l.capture(ctx))) {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(typingPoll):
		}
	}
}

// sinceOutput is the screen, looked at anew only while it may have changed: an idle
// agent costs next to nothing.
func (l *look) sinceOutput(ctx context.Context, output time.Time) []string {
	if l.lastAt.Sub(output) > screenSettles {
		return l.last
	}
	at := time.Now()
	if l.last = l.lines(ctx); l.last != nil {
		l.lastAt = at
	}
	return l.last
}

func (l *look) lines(ctx context.Context) []string {
	c, err := l.host.Capture(ctx, 0, false)
	if err != nil {
		return nil
	}
	return strings.Split(c.Text, "\n")
}

func (l *look) capture(ctx context.Context) host.Capture {
	c, _ := l.host.Capture(ctx, 0, false) // what cannot be seen is empty
	return c
}

// first is the first line that one of the patterns fits. A screen shows nothing of the
// blank behind a prompt, which a pattern may ask for.
func first(patterns []*regexp.Regexp, lines []string) string {
	for _, line := range lines {
		for _, p := range patterns {
			if p.MatchString(line) || p.MatchString(line+" ") {
				return line
			}
		}
	}
	return ""
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
