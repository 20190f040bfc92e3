package daemon

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Stores is what is watched.
type Stores struct {
	store.Stores
	Dir     *files.Dir // the base directory
	Watcher *files.Watcher
	Panes   *panes.Manager
}

// relist is how often the teams are looked for without a hint: a net below the
// events.
const relist = time.Minute

// watcher looks at every team whenever something hints that it may have changed.
type watcher struct {
	stores  Stores
	service *teams.Service
	hub     *hub
	log     *slog.Logger

	repairing sync.Mutex // one team at a time has its lost written down

	gate  chan struct{} // looks at a time; see newWatcher
	begun chan struct{} // closed after the first look at everything

	mu    sync.Mutex // one listing at a time
	teams map[string]*teamWatch
	wg    sync.WaitGroup
}

// atOnce is how many teams are looked at at a time: a few keep their folders open from one
// file to the next, hundreds would close each other's.
const atOnce = 8

func newWatcher(stores Stores, service *teams.Service, hub *hub, log *slog.Logger) *watcher {
	return &watcher{stores: stores, service: service, hub: hub, log: log, gate: make(chan struct{}, atOnce), begun: make(chan struct{}), teams: map[string]*teamWatch{}}
}

// pass waits for one's turn to look; ok is false if ctx ended meanwhile.
func (w *watcher) pass(ctx context.Context) (done func(), ok bool) {
	select {
	case w.gate <- struct{}{}:
		return func() { <-w.gate }, true
	case <-ctx.Done():
		return nil, false
	}
}

// run watches until ctx ends. ready is called after the first look at everything.
func (w *watcher) run(ctx context.Context, ready func()) error {
	hints, err := w.stores.Roster.Watch(ctx, "")
	if err != nil {
		return err
	}
	w.hub.together(ctx, func() { w.refresh(ctx, time.Now()) })
	ready()
	close(w.begun)
	tick := time.Tick(relist)
	defer w.wg.Wait()
	for {
		select {
		case _, ok := <-hints:
			if !ok {
				return nil
			}
		case <-tick:
		case <-ctx.Done():
			return nil
		}
		w.list(ctx)
	}
}

// list begins to watch new teams, and has another look at those that are gone.
func (w *watcher) list(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	names, err := w.stores.Roster.List(ctx)
	if err != nil {
		w.log.Warn("list the teams", "error", err)
		return
	}
	for _, name := range w.hub.names() {
		if w.teams[name] == nil && !slices.Contains(names, name) {
			w.hub.ingest(ctx, name, changes.Team{}) // deleted while nobody watched
			w.hub.forget(ctx, name, nil)
		}
	}
	for _, name := range names {
		if w.teams[name] == nil && store.CheckTeam(name) == nil {
			w.teams[name] = w.watchTeam(ctx, name)
		}
	}
	for name, t := range w.teams {
		if !slices.Contains(names, name) {
			t.look(ctx, time.Now())
			t.stop()
			delete(w.teams, name)
		}
	}
}

// refresh looks at everything, so that what was done before since is known. Another look that
// has begun after it does as well.
func (w *watcher) refresh(ctx context.Context, since time.Time) {
	w.list(ctx)
	w.mu.Lock()
	all := slices.Collect(maps.Values(w.teams))
	w.mu.Unlock()
	var wg sync.WaitGroup
	for _, t := range all {
		wg.Go(func() { t.look(ctx, since) })
	}
	wg.Wait()
}
