package mcp

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/watch"
)

// Bounds of watching.
const (
	busyLook   = time.Second // while somebody waits: states that no file shows
	quietLook  = time.Minute // when hints are lost
	keptEvents = 1000        // of one team
)

// watcher watches the teams that somebody has asked about, as long as the server
// runs.
type watcher struct {
	o Options

	ctx  context.Context
	seen func(ctx context.Context, team string, v watch.View) // called after each look
	wg   sync.WaitGroup

	mu    sync.Mutex
	over  bool
	teams map[string]*teamWatch
}

func newWatcher(o Options) *watcher {
	return &watcher{o: o, teams: map[string]*teamWatch{}}
}

// begin lets the watcher work until ctx ends. It comes before everything else.
func (w *watcher) begin(ctx context.Context, seen func(context.Context, string, watch.View)) {
	w.ctx, w.seen = ctx, seen
}

// end waits until all work has ended; the context of begin has.
func (w *watcher) end() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.wg.Wait()
}

// start watches a team from now on. What happens after it returned is an event.
func (w *watcher) start(ctx context.Context, team string) error {
	w.mu.Lock()
	t := w.teams[team]
	if t == nil {
		if w.over || w.ctx == nil {
			w.mu.Unlock()
			return nil // nobody waits for events any more
		}
		t = w.newTeam(team)
		w.teams[team] = t
		w.wg.Go(t.run)
	}
	w.mu.Unlock()
	select {
	case <-t.first:
	case <-ctx.Done():
		return ctx.Err()
	}
	return t.err
}

// forget has a last look at a team that was deleted and watches it no more.
func (w *watcher) forget(team string) {
	w.mu.Lock()
	t := w.teams[team]
	delete(w.teams, team)
	w.mu.Unlock()
	if t != nil {
		_ = t.Look(t.ctx) // there is nothing to look at any more
		t.stop()
	}
}

func (w *watcher) get(team string) *teamWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.teams[team]
}

// teamWatch watches one team and keeps what has happened in it.
type teamWatch struct {
	*watch.Team
	watcher *watcher
	ctx     context.Context
	stop    context.CancelFunc
	first   chan struct{} // closed after the first look
	err     error         // of that one

	mu     sync.Mutex
	last   changes.Team
	based  bool // last is a look
	events []events.Event
	seq    uint64
	news   chan struct{} // closed when there are more events
	keen   int           // how many wait
}

func (w *watcher) newTeam(name string) *teamWatch {
	t := &teamWatch{watcher: w, news: make(chan struct{}), first: make(chan struct{})}
	t.ctx, t.stop = context.WithCancel(w.ctx)
	t.Team = watch.New(name, w.o.Source, watch.Options{Last: t.state, Seen: t.take, Pause: t.pause, WithRoster: true})
	return t
}

func (t *teamWatch) run() {
	t.Begin(t.ctx)
	if t.watcher.o.Hosts != nil {
		t.Relay(t.ctx, func(ctx context.Context) (<-chan struct{}, error) { return t.watcher.o.Hosts(ctx, t.Name) }, watch.Parts{Members: true})
	}
	t.err = t.Look(t.ctx)
	close(t.first)
	if t.err != nil {
		t.watcher.mu.Lock()
		if t.watcher.teams[t.Name] == t {
			delete(t.watcher.teams, t.Name)
		}
		t.watcher.mu.Unlock()
		t.stop()
	}
	t.Run(t.ctx)
}

func (t *teamWatch) state() changes.Team {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// pause is how long the watch waits for a hint.
func (t *teamWatch) pause() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keen > 0 {
		return busyLook
	}
	return quietLook
}

// await makes the watch look more often until release is called.
func (t *teamWatch) await() (release func()) {
	t.mu.Lock()
	t.keen++
	t.mu.Unlock()
	t.Touch(watch.Parts{All: true})
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.keen--
	}
}

// take compares a look with the last one and keeps what has happened.
func (t *teamWatch) take(ctx context.Context, v watch.View) {
	t.mu.Lock()
	old, based := t.last, t.based
	t.mu.Unlock()
	if based {
		t.keep(changes.Between(old, v.Team, time.Now()))
	}
	v.Boxes = changes.TrimBoxes(v.Boxes)
	t.watcher.seen(ctx, t.Name, v)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.based = v.Team, true
}

// keep numbers events and wakes those who wait.
func (t *teamWatch) keep(list []events.Event) {
	if len(list) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range list {
		t.seq++
		e.Seq = t.seq
		t.events = append(t.events, e)
	}
	if over := len(t.events) - keptEvents; over > 0 {
		t.events = slices.Delete(t.events, 0, over)
	}
	close(t.news)
	t.news = make(chan struct{})
}

// since returns the kept events after a number, the newest number, whether some
// were lost, and a channel that is closed when there are more.
func (t *teamWatch) since(after uint64) (list []events.Event, newest uint64, missed bool, more <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if after > t.seq {
		after = 0 // it was another team of that name
	}
	for _, e := range t.events {
		if e.Seq > after {
			list = append(list, e)
		}
	}
	missed = after < t.seq && uint64(len(list)) < t.seq-after
	return list, t.seq, missed, t.news
}
