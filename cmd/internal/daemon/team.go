package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
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
	hostTells    = 12 * time.Second       // the host of one that has ended has told that by then, or cannot
	mute         = 2 * time.Second        // a host that runs but does not listen is left alone for
	restartAgain = time.Second            // until one that is lost is looked at anew
	followAgain  = 250 * time.Millisecond // until a host that has ended is followed anew
	askFar       = 2 * time.Second        // until other machines are asked how theirs are doing
)

// teamWatch is the daemon's watch of one team: besides the files it follows the hosts
// of those who live, and reads what they have seen in the streams of their workers.
type teamWatch struct {
	*watch.Team
	*watcher
	stop  context.CancelFunc
	sleep context.CancelFunc // ends follow
	hosts watch.Group        // by member

	local    atomic.Bool // it is in files: what changes in it shows in its folders
	offering *time.Timer // until the next look at what was offered

	repair func(after time.Duration) // writes down who is lost, without anybody waiting for it
	late   atomic.Bool               // it will, for one whose host may not have reached the engine
	warned string                    // why it could not, as it was logged last

	reading sync.Mutex // one reading of the streams at a time
	looking sync.Mutex // one look at everything at a time
	looked  time.Time  // when the last one began that saw everything
	files   string     // the signature of its files at that look, "" if it has to be taken again
}

// watchTeam begins to watch a team until ctx ends.
func (w *watcher) watchTeam(ctx context.Context, name string) *teamWatch {
	ctx, stop := context.WithCancel(ctx)
	t := &teamWatch{watcher: w, stop: stop, sleep: func() {}}
	source := watch.Source{Service: w.service, Roster: w.stores.Roster, Mail: w.stores.Mail, Tasks: w.stores.Tasks, Log: w.log}
	t.Team = watch.New(name, source, watch.Options{Last: func() changes.Team { return w.hub.last(name) }, Seen: t.seen, After: t.after})
	t.repair = func(after time.Duration) {
		w.wg.Go(func() {
			select {
			case <-ctx.Done():
			case <-time.After(after):
			}
			t.late.Store(false)
			t.reconcile(ctx)
		})
	}
	since := time.Now() // somebody else may look first
	w.wg.Go(func() {
		for t.look(ctx, since); ctx.Err() == nil; {
			if t.rests() {
				t.rest(ctx)
			} else {
				t.follow(ctx)
			}
		}
	})
	return t
}

// follow watches all of a team until ctx ends or it rests.
func (t *teamWatch) follow(ctx context.Context) {
	ctx, t.sleep = context.WithCancel(ctx)
	defer t.sleep()
	t.Begin(ctx)
	folder := func(path string, p watch.Parts) {
		t.Relay(ctx, func(ctx context.Context) (<-chan struct{}, error) {
			return t.stores.Watcher.Watch(ctx, []string{path}, nil)
		}, p)
	}
	folder(t.stores.Dir.Join(panes.OwnPath(t.Name, "hosts")), watch.Parts{Members: true})
	folder(t.stores.Dir.Join(panes.ObservedFolder(t.Name)), watch.Parts{Streams: true})
	t.Run(ctx)
}

// rest waits until somebody lives again in a finished team, or ctx ends. One watch of its
// folders is enough for that, and a look at their times for each hint.
func (t *teamWatch) rest(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select { // whoever waits for the first look comes first
	case <-t.begun:
	case <-ctx.Done():
		return
	}
	var folders []string
	for _, folder := range t.folders() {
		folders = append(folders, t.stores.Dir.Join(folder))
	}
	done, ok := t.pass(ctx)
	if !ok {
		return
	}
	hints, err := t.stores.Watcher.Watch(ctx, folders, t.signature)
	done()
	if err != nil {
		t.log.Warn("watch a finished team", "team", t.Name, "error", err)
		<-ctx.Done()
		return
	}
	for range hints {
		if t.look(ctx, time.Now()); !t.rests() {
			return
		}
	}
}

// seen gives a look to the hub.
func (t *teamWatch) seen(ctx context.Context, v watch.View) {
	t.local.Store(v.Whole.Engine == "")
	switch list := t.hub.ingest(ctx, t.Name, v.Team); {
	case happened(list, events.MemberLost):
		t.repair(0)
	case v.Whole.Engine != "" && happened(list, events.MemberShutdown, events.MemberFailed) && !t.late.Swap(true):
		t.repair(hostTells)
	}
}

// reconcile writes down who is lost, or has ended while the engine was away, and tells the
// lead. Where many teams have lost somebody, one after the other does: each waits for the disk
// several times, and a look for none.
func (t *teamWatch) reconcile(ctx context.Context) {
	t.repairing.Lock()
	defer t.repairing.Unlock()
	if ctx.Err() != nil {
		return
	}
	_, err := t.service.Reconcile(ctx, t.Name)
	if err == nil {
		t.warned = ""
	} else if ctx.Err() == nil {
		if t.warned != err.Error() { // it is tried again every few seconds
			t.warned = err.Error()
			t.log.Warn("write down who is lost", "team", t.Name, "error", err)
		}
		if fault.CodeOf(err) == fault.EngineUnavailable && !t.late.Swap(true) {
			t.repair(hostTells)
		}
	}
	t.Touch(watch.Parts{Members: true}) // they may be started again now
}

// after does what follows from a look.
func (t *teamWatch) after(ctx context.Context, p watch.Parts) {
	if p.All || p.Streams {
		t.readStreams(ctx)
	}
	t.followHosts(ctx)
	t.restartLost(ctx)
	t.offer(ctx)
	if t.rests() {
		t.sleep()
	}
}

// offer frees the tasks of those who cannot be seen for long, and tells the teammates what
// waits for them.
func (t *teamWatch) offer(ctx context.Context) {
	last := t.hub.last(t.Name)
	snap := teams.Snapshot{Members: last.Members, Tasks: last.Tasks}
	if err := t.service.FreeSilent(ctx, t.Name, snap); err != nil && ctx.Err() == nil {
		t.log.Warn("free the tasks of who cannot be seen", "team", t.Name, "error", err)
	}
	again, err := t.service.Offer(ctx, t.Name, snap)
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

// look looks at everything, unless another look has begun after since; at a finished team only
// if its files have changed since the last look: many teams are finished, and each request asks
// for a look at all.
func (t *teamWatch) look(ctx context.Context, since time.Time) {
	t.looking.Lock()
	defer t.looking.Unlock()
	if t.looked.After(since) {
		return
	}
	done, ok := t.pass(ctx)
	if !ok {
		return
	}
	defer done()
	began := time.Now()
	now := ""
	if t.finished() || t.hub.last(t.Name).Name == "" {
		now = t.signature()
	}
	t.looked = began
	if now != "" && now == t.files && t.rests() {
		return
	}
	t.files = now
	if err := t.Look(ctx); err != nil {
		t.files, t.looked = "", time.Time{} // what was not seen is looked for again
		t.log.Debug("look at a team", "team", t.Name, "error", err)
	}
	t.readStreams(ctx)
}

// far stands for all hosts on other machines. It is no name of a member.
const far = " far"

// followHosts follows the hosts of those who live, and leaves those who are gone.
func (t *teamWatch) followHosts(ctx context.Context) {
	live := map[string]bool{}
	for _, m := range t.hub.last(t.Name).Members {
		switch {
		case m.Kind == "" || !m.Live():
		case t.service.Far(m):
			live[far] = true
		default:
			live[m.Name] = true
		}
	}
	t.hosts.Set(ctx, live, func(ctx context.Context, agent string) {
		t.wg.Go(func() {
			pause := askFar
			if agent != far {
				t.followHost(ctx, agent)
				if ctx.Err() == nil {
					t.Touch(watch.Parts{Members: true})
				}
				pause = followAgain // without it nothing else is done where the end cannot be seen
			}
			select {
			case <-ctx.Done(): // it was seen that it has ended
			case <-time.After(pause): // it is followed anew if it lives
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
	err = host.Dial(rec.Socket).Follow(ctx, func(host.Status) { t.Touch(watch.Parts{Members: true}) })
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
	more, err := t.service.RestartLost(ctx, t.Name)
	if err != nil && ctx.Err() == nil {
		t.log.Warn("start the lost again", "team", t.Name, "error", err)
	}
	if more {
		time.AfterFunc(restartAgain, func() { t.Touch(watch.Parts{Members: true}) })
	}
}

// happened tells whether there is an event of one of these types.
func happened(list []events.Event, types ...events.Type) bool {
	return slices.ContainsFunc(list, func(e events.Event) bool { return slices.Contains(types, e.Type) })
}
