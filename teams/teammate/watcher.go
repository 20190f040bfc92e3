package teammate

import (
	"context"
	"time"

	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/screen"
)

const (
	// personPause is how long after a person's last key nothing is typed for others.
	personPause = 3 * time.Second
	// patience is how long a quiet screen may be unknown before others are told, and how long
	// after a person's last key nothing is typed where that has left a line unfinished.
	patience = 30 * time.Second
	// screenSettles is how far the screen model may be behind the output.
	screenSettles = 2 * time.Second
	// restPause is how long an agent is quiet before the lead is told.
	restPause = 2 * time.Second
)

// watcher follows an agent's screen.
type watcher struct {
	host    *host.Host
	quiet   time.Duration
	unknown string        // what to do when the screen is not recognized
	patient time.Duration // patience, but in tests
	reader  *screen.Reader

	last   screen.Reading
	lastAt time.Time // of that reading
	cooked bool      // the terminal edited lines then
	typed  time.Time // when a text was typed last: its echo may come later
	blank  string    // what the input shows while nobody has typed: a placeholder
}

// observation is what was made out at one look.
type observation struct {
	asking  string    // the question with which it waits for a person
	unknown bool      // its screen has not been recognized for long
	free    bool      // it takes text, and nobody types
	full    bool      // when free: what stands in its input must be submitted or erased first
	half    bool      // a person has left a line there that is not submitted
	since   time.Time // when free: since then nobody has typed
	rested  bool      // it has been quiet for a while
}

func newWatcher(h *host.Host, p profiles.PromptProtocol) (*watcher, error) {
	r, err := screen.NewReader(p.Screen())
	if err != nil {
		return nil, err
	}
	return &watcher{host: h, quiet: p.Quiet, unknown: p.OnUnknown, patient: patience, reader: r}, nil
}

// observe looks once.
func (w *watcher) observe(ctx context.Context) observation {
	st := w.host.Status()
	r := w.sinceOutput(ctx, st)
	still := time.Since(later(later(st.LastOutputAt, st.StartedAt), w.typed))
	known, half := r.State != screen.Unknown && r.State != screen.Starting, false
	if still >= w.quiet {
		half = w.host.HalfLine(ctx)
	}
	switch {
	case st.Agent == nil, r.State == screen.Busy:
		return observation{}
	case r.State == screen.Asking:
		return observation{asking: r.Ask()}
	case still < w.quiet:
		return observation{}
	case !known && still < w.patient:
		return observation{}
	case !known && w.unknown != profiles.Type:
		return observation{unknown: true, half: half}
	}
	since := time.Now().Add(-personPause)
	if st.Draft && (r.Input == "" || r.Input != w.blank) {
		since = time.Now().Add(-w.patient)
	} else if !st.Draft {
		w.blank = r.Input
	}
	if st.LastKeyAt.After(since) {
		return observation{}
	}
	return observation{free: true, full: half || !r.MayType().Valid(), half: half, since: since, rested: still >= max(restPause, w.quiet)}
}

// read reads the screen of this moment.
func (w *watcher) read(ctx context.Context) screen.Reading {
	c, err := w.host.Capture(ctx, 0, false)
	if err != nil || !c.Screen {
		return screen.Reading{State: screen.Unknown}
	}
	return w.reader.Read(screen.Screen{Text: c.Text, Cursor: c.Cursor, Cooked: w.host.Status().Cooked})
}

// until reads the screen until it is as wanted, and returns the last reading.
func (w *watcher) until(ctx context.Context, limit time.Duration, wanted func(screen.Reading) bool) screen.Reading {
	for end := time.Now().Add(limit); ; {
		r := w.read(ctx)
		if wanted(r) || time.Now().After(end) {
			return r
		}
		select {
		case <-ctx.Done():
			return r
		case <-time.After(typingPoll):
		}
	}
}

// sinceOutput is the last reading, read anew only while it may be another by now: an idle
// agent costs next to nothing. What was not recognized is looked at each time, since an
// agent may begin to listen without a word.
func (w *watcher) sinceOutput(ctx context.Context, st host.Status) screen.Reading {
	known := w.last.State != screen.Unknown && w.last.State != screen.Starting
	if known && w.cooked == st.Cooked && w.lastAt.Sub(later(st.LastOutputAt, st.StartedAt)) > screenSettles {
		return w.last
	}
	w.lastAt, w.cooked = time.Now(), st.Cooked
	w.last = w.read(ctx)
	return w.last
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
