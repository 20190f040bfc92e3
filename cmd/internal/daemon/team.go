package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Bounds of looking.
const (
	gather    = 20 * time.Millisecond // hints that come together are one look
	lookLimit = 30 * time.Second
)

// parts is what of a team may have changed.
type parts struct {
	all, members, tasks, streams bool
	boxes                        map[string]bool
}

func everything() parts { return parts{all: true} }

func noTeam() changes.Team { return changes.Team{} }

// teamWatch watches one team.
type teamWatch struct {
	*watch
	name string
	wake chan struct{}

	looking sync.Mutex // one look at a time

	mu    sync.Mutex
	dirty parts
	stop  context.CancelFunc
	boxes map[string]context.CancelFunc // watches of mail, by owner
	hosts map[string]context.CancelFunc // followed hosts, by member
}

func newTeamWatch(w *watch, name string) *teamWatch {
	return &teamWatch{watch: w, name: name, wake: make(chan struct{}, 1), stop: func() {},
		boxes: map[string]context.CancelFunc{}, hosts: map[string]context.CancelFunc{}}
}

// touch notes what may have changed.
func (t *teamWatch) touch(p parts) {
	t.mu.Lock()
	d := &t.dirty
	d.all, d.members, d.tasks, d.streams = d.all || p.all, d.members || p.members, d.tasks || p.tasks, d.streams || p.streams
	for owner := range p.boxes {
		if d.boxes == nil {
			d.boxes = map[string]bool{}
		}
		d.boxes[owner] = true
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// run looks after hints until ctx ends.
func (t *teamWatch) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.mu.Lock()
	t.stop = cancel
	t.mu.Unlock()
	hosts, streams := t.stores.Dir.Join(panes.OwnPath(t.name, "hosts")), t.stores.Dir.Join(panes.ObservedFolder(t.name))
	for _, source := range []struct {
		watch func() (<-chan struct{}, error)
		p     parts
	}{
		{func() (<-chan struct{}, error) { return t.stores.Roster.Watch(ctx, t.name) }, parts{members: true}},
		{func() (<-chan struct{}, error) { return t.stores.Tasks.Watch(ctx, t.name) }, parts{tasks: true}},
		{func() (<-chan struct{}, error) { return t.stores.Watcher.Watch(ctx, []string{hosts}, nil) }, parts{members: true}},
		{func() (<-chan struct{}, error) { return t.stores.Watcher.Watch(ctx, []string{streams}, nil) }, parts{streams: true}},
	} {
		t.relay(source.watch, source.p)
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-t.wake:
		case <-ctx.Done():
			return
		}
		timer.Reset(gather)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		t.look(ctx)
		t.follow(ctx)
		t.replace(ctx)
	}
}

// relay turns hints into what they hint at, until they end.
func (t *teamWatch) relay(watch func() (<-chan struct{}, error), p parts) {
	hints, err := watch()
	if err != nil {
		t.log.Warn("watch", "team", t.name, "error", err)
		return
	}
	t.wg.Go(func() {
		for range hints {
			t.touch(p)
		}
	})
}

// look takes a look at what may have changed and tells the hub.
func (t *teamWatch) look(ctx context.Context) {
	t.looking.Lock()
	defer t.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	t.mu.Lock()
	p := t.dirty
	t.dirty = parts{}
	t.mu.Unlock()
	if p.all || p.streams {
		defer t.listen(ctx)
	}
	if !p.all && !p.members && !p.tasks && len(p.boxes) == 0 {
		return
	}
	now, err := t.read(ctx, p)
	switch {
	case fault.CodeOf(err) == fault.TeamNotFound:
		now = noTeam()
	case err != nil:
		if ctx.Err() == nil {
			t.log.Warn("look at a team; the last good look stands", "team", t.name, "error", err)
		}
		return
	}
	if lost(t.hub.ingest(ctx, t.name, now)) {
		if _, err := t.service.Reconcile(ctx, t.name); err != nil {
			t.log.Warn("write down who is lost", "team", t.name, "error", err)
		}
	}
}

// read returns the team as it is, its unchanged parts as they were. A part that
// cannot be read stays, too.
func (t *teamWatch) read(ctx context.Context, p parts) (changes.Team, error) {
	now := t.hub.last(t.name)
	if p.all || p.members || now.Name == "" {
		team, err := t.service.Team(ctx, t.name)
		if err != nil {
			return now, err
		}
		now.Name, now.Description, now.CreatedAt = t.name, team.Description, team.CreatedAt
		lead, teammates := apart(team)
		p.all = p.all || now.Lead == "" // seen for the first time
		now.Lead, now.Members = lead, changes.Known(now.Members, teammates)
	}
	if p.all || p.tasks {
		if list, _, err := t.service.TaskList(ctx, t.name, teams.TaskFilter{}); err == nil {
			now.Tasks = list
		} else if ctx.Err() == nil {
			t.log.Warn("look at the tasks", "team", t.name, "error", err)
		}
	}
	boxes := map[string][]api.Message{}
	for _, owner := range owners(now) {
		box, known := now.Boxes[owner]
		if p.all || p.boxes[owner] || !known {
			if list, err := t.service.Inbox(ctx, t.name, owner, teams.InboxFilter{}); err == nil {
				box = list
			} else if ctx.Err() == nil {
				t.log.Warn("look at an inbox", "team", t.name, "owner", owner, "error", err)
			}
		}
		boxes[owner] = box
	}
	now.Boxes = boxes
	return now, ctx.Err()
}

// apart tells the lead's name from the teammates.
func apart(team api.Team) (lead string, teammates []api.Member) {
	lead, teammates = store.Lead, []api.Member{}
	for _, m := range team.Members {
		if m.Name == store.Lead || m.AgentID == team.LeadAgentID {
			lead = m.Name
			continue
		}
		teammates = append(teammates, m)
	}
	return lead, teammates
}

func owners(t changes.Team) []string {
	out := []string{t.Lead}
	for _, m := range t.Members {
		out = append(out, m.Name)
	}
	return out
}
