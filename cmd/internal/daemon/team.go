package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/watch"
)

// Times of following hosts.
const (
	mute         = 2 * time.Second // a host that runs but does not listen is left alone for
	restartAgain = time.Second     // until one that is lost is looked at anew
)

// teamWatch is the daemon's watch of one team: besides the files it follows the hosts
// of those who live, and reads what they have seen in the streams of their workers.
type teamWatch struct {
	*watch.Team
	*watcher
	stop  context.CancelFunc
	hosts watch.Group // by member

	offering *time.Timer // until the next look at what was offered

	reading sync.Mutex // one reading of the streams at a time
	files   string     // the signature of its files at the last look at everything
}

// watchTeam begins to watch a team until ctx ends.
func (w *watcher) watchTeam(ctx context.Context, name string) *teamWatch {
	ctx, stop := context.WithCancel(ctx)
	t := &teamWatch{watcher: w, stop: stop}
	source := watch.Source{Service: w.service, Roster: w.stores.Roster, Mail: w.stores.Mail, Tasks: w.stores.Tasks, Log: w.log}
	t.Team = watch.New(name, source, watch.Options{Last: func() changes.Team { return w.hub.last(name) }, Seen: t.seen, After: t.after})
	t.Begin(ctx)
	folder := func(path string, p watch.Parts) {
		t.Relay(ctx, func(ctx context.Context) (<-chan struct{}, error) {
			return w.stores.Watcher.Watch(ctx, []string{path}, nil)
		}, p)
	}
	folder(w.stores.Dir.Join(panes.OwnPath(name, "hosts")), watch.Parts{Members: true})
	folder(w.stores.Dir.Join(panes.ObservedFolder(name)), watch.Parts{Streams: true})
	w.wg.Go(func() { t.Run(ctx) })
	return t
}

// seen gives a look to the hub.
func (t *teamWatch) seen(ctx context.Context, v watch.View) {
	if !lost(t.hub.ingest(ctx, t.Name, v.Team)) {
		return
	}
	if _, err := t.service.Reconcile(ctx, t.Name); err != nil {
		t.log.Warn("write down who is lost", "team", t.Name, "error", err)
	}
}

// after does what follows from a look.
func (t *teamWatch) after(ctx context.Context, p watch.Parts) {
	if p.All || p.Streams {
		t.readStreams(ctx)
	}
	t.followHosts(ctx)
	t.restartLost(ctx)
	t.offer(ctx)
}

// offer tells the teammates what waits for them.
func (t *teamWatch) offer(ctx context.Context) {
	last := t.hub.last(t.Name)
	again, err := t.service.Offer(ctx, t.Name, teams.Snapshot{Members: last.Members, Tasks: last.Tasks})
	if err != nil && ctx.Err() == nil {
		t.log.Warn("offer tasks", "team", t.Name, "error", err)
	}
	if t.offering != nil {
		t.offering.Stop()
	}
	if again > 0 {
		t.offering = time.AfterFunc(again, func() { t.Touch(watch.Parts{Members: true}) })
	}
}

// look looks at everything now.
func (t *teamWatch) look(ctx context.Context) {
	if t.quiet() {
		return
	}
	if err := t.Look(ctx); err != nil {
		t.reading.Lock()
		t.files = "" // what was not seen is looked for again
		t.reading.Unlock()
		t.log.Debug("look at a team", "team", t.Name, "error", err)
	}
	t.readStreams(ctx)
}

// followHosts follows the hosts of those who live, and leaves those who are gone.
func (t *teamWatch) followHosts(ctx context.Context) {
	live := map[string]bool{}
	for _, m := range t.hub.last(t.Name).Members {
		if m.Kind != "" && m.Live() {
			live[m.Name] = true
		}
	}
	t.hosts.Set(ctx, live, func(ctx context.Context, agent string) {
		t.wg.Go(func() {
			t.followHost(ctx, agent)
			if ctx.Err() == nil { // it is followed anew if it lives
				t.hosts.Ended(agent)
				t.Touch(watch.Parts{Members: true})
			}
		})
	})
}

// followHost touches the members each time the host of one reports something, and
// returns when that host is gone. A host that does not listen is watched as a
// process.
func (t *teamWatch) followHost(ctx context.Context, agent string) {
	limited, cancel := context.WithTimeout(ctx, mute)
	defer cancel()
	rec, err := t.stores.Panes.Records().Host(ctx, t.Name, agent)
	if err != nil || rec.Ended != nil {
		<-limited.Done() // it starts, or has ended and is about to write that into the roster
		return
	}
	err = t.stores.Panes.Client(rec).Follow(ctx, func(host.Status) { t.Touch(watch.Parts{Members: true}) })
	if ctx.Err() != nil {
		return
	}
	if !errors.Is(err, host.ErrNoHost) {
		t.log.Debug("follow a host", "team", t.Name, "member", agent, "error", err)
	}
	limited, cancel = context.WithTimeout(ctx, mute)
	defer cancel()
	_ = rec.Process.Wait(limited) // if it runs, or nothing is known of it, it is followed anew
}

// restartLost starts those again who are lost and whose restart policy allows it.
func (t *teamWatch) restartLost(ctx context.Context) {
	if !slices.ContainsFunc(t.hub.last(t.Name).Members, func(m api.Member) bool { return m.State == api.StateLost }) {
		return
	}
	_, more, err := t.service.RestartLost(ctx, t.Name)
	if err != nil && ctx.Err() == nil {
		t.log.Warn("start the lost again", "team", t.Name, "error", err)
	}
	if more {
		time.AfterFunc(restartAgain, func() { t.Touch(watch.Parts{Members: true}) })
	}
}

// lost tells whether somebody was lost just now.
func lost(list []events.Event) bool {
	return slices.ContainsFunc(list, func(e events.Event) bool { return e.Type == events.MemberLost })
}
