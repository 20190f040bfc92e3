package mcp

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Bounds of watching.
const (
	gather     = 30 * time.Millisecond // hints that come together are one look
	lookLimit  = 30 * time.Second
	busyLook   = time.Second // while somebody waits: states that no file tells
	quietLook  = time.Minute // a net below the hints
	keptEvents = 1000        // of one team
)

// view is what one look at a team has shown; without a name there is no team.
type view struct {
	changes.Team
	whole api.Team // with its lead, and all that is said of it
}

// looked is told after each look at a team.
type looked func(ctx context.Context, team string, v view)

// watcher watches the teams that somebody has asked about, as long as the server
// runs.
type watcher struct {
	svc    *teams.Service
	stores Stores
	log    *slog.Logger

	ctx    context.Context
	looked looked // told after each look
	wg     sync.WaitGroup

	mu    sync.Mutex
	over  bool
	teams map[string]*teamWatch
}

func newWatcher(svc *teams.Service, stores Stores, log *slog.Logger) *watcher {
	return &watcher{svc: svc, stores: stores, log: log, teams: map[string]*teamWatch{}, looked: func(context.Context, string, view) {}}
}

// begin lets the watcher work until ctx ends. It comes before everything else.
func (w *watcher) begin(ctx context.Context, looked looked) { w.ctx, w.looked = ctx, looked }

// end waits until all work has ended; the context of begin has.
func (w *watcher) end() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.wg.Wait()
}

// work runs f beside the rest, with the lock held, unless the end has come.
func (w *watcher) work(f func()) bool {
	if w.over || w.ctx == nil {
		return false
	}
	w.wg.Go(f)
	return true
}

// start watches a team from now on. What happens after it returned is an event.
func (w *watcher) start(ctx context.Context, team string) error {
	w.mu.Lock()
	t := w.teams[team]
	if t == nil {
		t = &teamWatch{watcher: w, name: team, wake: make(chan struct{}, 1), news: make(chan struct{}), boxes: map[string]bool{}, first: make(chan struct{})}
		if w.ctx != nil {
			t.ctx, t.stop = context.WithCancel(w.ctx)
		}
		if !w.work(t.run) {
			w.mu.Unlock()
			return nil // nobody waits for events any more
		}
		w.teams[team] = t
	}
	w.mu.Unlock()
	select {
	case <-t.first:
	case <-ctx.Done():
		return ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// forget has a last look at a team that was deleted and watches it no more.
func (w *watcher) forget(team string) {
	w.mu.Lock()
	t := w.teams[team]
	delete(w.teams, team)
	w.mu.Unlock()
	if t != nil {
		t.look()
		t.stop()
	}
}

func (w *watcher) get(team string) *teamWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.teams[team]
}

// teamWatch watches one team.
type teamWatch struct {
	*watcher
	name  string
	ctx   context.Context
	stop  context.CancelFunc
	wake  chan struct{}
	first chan struct{} // closed after the first look

	looking sync.Mutex // one look at a time; guards last, based and boxes
	last    changes.Team
	based   bool
	boxes   map[string]bool // whose mail is watched

	mu     sync.Mutex
	err    error // of the first look
	events []events.Event
	seq    uint64
	news   chan struct{} // closed when there are more events
	keen   int           // how many wait
}

func (t *teamWatch) hint() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *teamWatch) run() {
	t.relay(func() (<-chan struct{}, error) { return t.stores.Roster.Watch(t.ctx, t.name) })
	t.relay(func() (<-chan struct{}, error) { return t.stores.Tasks.Watch(t.ctx, t.name) })
	if t.stores.Hosts != nil {
		t.relay(func() (<-chan struct{}, error) { return t.stores.Hosts(t.ctx, t.name) })
	}
	err := t.look()
	t.mu.Lock()
	t.err = err
	t.mu.Unlock()
	close(t.first)
	if err != nil {
		t.watcher.mu.Lock()
		if t.watcher.teams[t.name] == t {
			delete(t.watcher.teams, t.name)
		}
		t.watcher.mu.Unlock()
		t.stop()
		return
	}
	timer := time.NewTimer(gather)
	defer timer.Stop()
	for {
		wait := time.NewTimer(t.pause())
		select {
		case <-t.wake:
			timer.Reset(gather)
			select {
			case <-timer.C:
			case <-t.ctx.Done():
			}
		case <-wait.C:
		case <-t.ctx.Done():
		}
		wait.Stop()
		if t.ctx.Err() != nil {
			return
		}
		if err := t.look(); err != nil {
			t.log.Warn("look at a team; the last good look stands", "team", t.name, "error", err)
		}
	}
}

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
	t.hint()
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.keen--
	}
}

func (t *teamWatch) relay(watch func() (<-chan struct{}, error)) {
	hints, err := watch()
	if err != nil {
		t.log.Warn("watch", "team", t.name, "error", err)
		return
	}
	t.watcher.mu.Lock()
	defer t.watcher.mu.Unlock()
	t.work(func() {
		for range hints {
			t.hint()
		}
	})
}

// look compares the team with the last look and keeps what has happened.
func (t *teamWatch) look() error {
	t.looking.Lock()
	defer t.looking.Unlock()
	ctx, cancel := context.WithTimeout(t.ctx, lookLimit)
	defer cancel()
	now, err := t.now(ctx)
	if fault.CodeOf(err) == fault.TeamNotFound && t.based {
		now, err = view{}, nil
	}
	if err != nil {
		return err
	}
	if t.based {
		t.keep(changes.Between(t.last, now.Team, time.Now()))
	}
	t.looked(ctx, t.name, now)
	for owner, box := range now.Boxes {
		if now.Boxes[owner] = changes.Slim(box); !t.boxes[owner] {
			t.boxes[owner] = true
			t.relay(func() (<-chan struct{}, error) { return t.stores.Mail.Watch(t.ctx, t.name, owner) })
		}
	}
	t.last, t.based = now.Team, true
	return nil
}

// now is the team as it is. A part that cannot be read stays as it was.
func (t *teamWatch) now(ctx context.Context) (view, error) {
	team, err := t.svc.Team(ctx, t.name)
	if err != nil {
		return view{}, err
	}
	now := view{whole: team}
	now.Team = changes.Team{Name: t.name, Description: team.Description, CreatedAt: team.CreatedAt, Lead: store.Lead, Tasks: t.last.Tasks, Boxes: map[string][]api.Message{}}
	for _, m := range team.Members {
		if m.AgentID == team.LeadAgentID {
			now.Lead = m.Name
		} else {
			now.Members = append(now.Members, m)
		}
	}
	now.Members = changes.Known(t.last.Members, now.Members)
	if list, _, err := t.svc.TaskList(ctx, t.name, teams.TaskFilter{}); err == nil {
		now.Tasks = list
	}
	owners := []string{now.Lead}
	for _, m := range now.Members {
		owners = append(owners, m.Name)
	}
	for _, owner := range owners {
		if box, err := t.svc.Inbox(ctx, t.name, owner, teams.InboxFilter{}); err == nil {
			now.Boxes[owner] = box
		} else if last, known := t.last.Boxes[owner]; known {
			now.Boxes[owner] = last
		}
	}
	return now, ctx.Err()
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
