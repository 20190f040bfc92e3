package mate

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
	// personPause is how long after a person's last key nothing is typed for others.
	personPause = 3 * time.Second
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
	asking string // the line with which it waits for a person
	free   bool   // it takes text, and nobody types
	rested bool   // it has been quiet for a while
}

func newLook(h *host.Host, m profiles.Manner) (*look, error) {
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
	switch {
	case st.Agent == nil, first(l.busy, lines) != "", still < l.quiet, time.Since(st.LastKeyAt) < personPause:
		return seen{}
	case len(l.ready) > 0 && first(l.ready, lines) == "" && still < unknownScreen:
		return seen{}
	}
	return seen{free: true, rested: still >= max(restPause, l.quiet)}
}

// stands waits until text is to be seen in the input line, which is the last one that
// is not empty, apart from frames.
func (l *look) stands(ctx context.Context, text string, limit time.Duration) bool {
	end := tailOf(text)
	return end != "" && l.until(ctx, limit, func(line string) bool { return strings.Contains(line, end) })
}

// taken waits until text no longer stands in the input line.
func (l *look) taken(ctx context.Context, text string, limit time.Duration) bool {
	end := tailOf(text)
	return l.until(ctx, limit, func(line string) bool { return !strings.Contains(line, end) })
}

// until waits until the input line is as wanted.
func (l *look) until(ctx context.Context, limit time.Duration, wanted func(line string) bool) bool {
	for end := time.Now().Add(limit); ; {
		if wanted(lastText(l.lines(ctx))) {
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

// tailOf is the end of a text as an input line shows it.
func tailOf(text string) string {
	tail := []rune(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
	return string(tail[max(0, len(tail)-12):])
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

// lastText is the last line that holds more than a frame.
func lastText(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Trim(lines[i], " \t│┃|─━═╭╮╰╯└┘┌┐-") != "" {
			return lines[i]
		}
	}
	return ""
}

func first(patterns []*regexp.Regexp, lines []string) string {
	for _, line := range lines {
		for _, p := range patterns {
			if p.MatchString(line) {
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
