// Package watch watches one team: hints about its files become looks, and a look the
// state of the team. Package changes says what happened between two states.
//
// Whoever watches keeps the state, because it is also written, numbered or shown with it.
package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Bounds of looking.
const (
	gather    = 20 * time.Millisecond // hints that come together are one look
	lookLimit = 30 * time.Second
	askAgain  = 5 * time.Second // until what an engine could not tell is looked at again
)

// Hints begins to watch something and returns a channel with a value for each change.
type Hints func(ctx context.Context) (<-chan struct{}, error)

// Source is where the state of teams comes from.
type Source struct {
	Service *teams.Service
	Roster  store.Roster
	Mail    store.Mail
	Tasks   store.Tasks
	Log     *slog.Logger
}

// View is what one look at a team has shown. Without a name there is no team.
type View struct {
	changes.Team
	Whole api.Team // with its lead, as it was when the roster was last read
}

// Options say who watches a team, and how.
type Options struct {
	Last       func() changes.Team          // the state at the last look
	Seen       func(context.Context, View)  // takes the state of a look; one look at a time
	After      func(context.Context, Parts) // after each look of Run
	Pause      func() time.Duration         // until a look at everything without a hint; nil: never
	WithRoster bool                         // each look reads the roster, too
}

// Parts is what of a team may have changed.
type Parts struct {
	All, Members, Tasks, Streams bool
	Boxes                        map[string]bool
}

// add puts other parts to these.
func (p *Parts) add(q Parts) {
	p.All, p.Members, p.Tasks, p.Streams = p.All || q.All, p.Members || q.Members, p.Tasks || q.Tasks, p.Streams || q.Streams
	for owner := range q.Boxes {
		if p.Boxes == nil {
			p.Boxes = map[string]bool{}
		}
		p.Boxes[owner] = true
	}
}

func (p Parts) files() bool { return p.All || p.Members || p.Tasks || len(p.Boxes) > 0 }

// Team watches one team.
type Team struct {
	Source
	Options
	Name string

	wake  chan struct{}
	boxes Group // watches of mail, by owner
	wg    sync.WaitGroup

	looking sync.Mutex // one look at a time; guards whole and found
	whole   api.Team
	found   bool // it was there at a look

	again *time.Timer // runs while something is owed

	mu    sync.Mutex
	dirty Parts
	owed  *Parts // what Run looks at when the timer has run off
}

// New returns the watch of a team. It begins with Begin.
func New(name string, s Source, o Options) *Team {
	t := &Team{Source: s, Options: o, Name: name, wake: make(chan struct{}, 1), again: time.NewTimer(askAgain)}
	t.again.Stop()
	return t
}

// Begin watches the roster and the tasks until ctx ends: what changes after it returned is
// looked at by Run.
func (t *Team) Begin(ctx context.Context) {
	t.Relay(ctx, func(ctx context.Context) (<-chan struct{}, error) { return t.Roster.Watch(ctx, t.Name) }, Parts{Members: true})
	t.Relay(ctx, func(ctx context.Context) (<-chan struct{}, error) { return t.Tasks.Watch(ctx, t.Name) }, Parts{Tasks: true})
}

// Relay touches p at each hint, until the hints end.
func (t *Team) Relay(ctx context.Context, hints Hints, p Parts) {
	c, err := hints(ctx)
	if err != nil {
		t.Log.Warn("watch", "team", t.Name, "error", err)
		return
	}
	t.wg.Go(func() {
		for range c {
			t.Touch(p)
		}
	})
}

// Touch notes what may have changed.
func (t *Team) Touch(p Parts) {
	t.mu.Lock()
	t.dirty.add(p)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// owe has Run look again at a part that could not be read because the engine was away: that it
// is back is no change of the team, so there need be no hint.
func (t *Team) owe(p Parts, err error) {
	if fault.CodeOf(err) != fault.EngineUnavailable {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owed == nil {
		t.owed = &Parts{}
		t.again.Reset(askAgain)
	}
	t.owed.add(p)
}

// payOff has the next look look at what is owed.
func (t *Team) payOff() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dirty.add(*t.owed)
	t.owed = nil
}

// Run looks after hints until ctx, which is also Begin's, ends. Then nothing of the watch
// runs any more.
func (t *Team) Run(ctx context.Context) {
	defer t.wg.Wait()
	defer t.boxes.Set(ctx, nil, nil) // a later Run watches them anew
	for t.wait(ctx) {
		p, err := t.look(ctx)
		if err != nil && ctx.Err() == nil && fault.CodeOf(err) != fault.TeamNotFound {
			t.Log.Warn("look at a team; the last good look stands", "team", t.Name, "error", err)
		}
		t.watchBoxes(ctx)
		if t.After != nil {
			t.After(ctx, p)
		}
	}
}

// wait waits for hints, gathers those that come together, and is false when ctx ends.
func (t *Team) wait(ctx context.Context) bool {
	var pause <-chan time.Time
	if t.Pause != nil {
		pause = time.After(t.Pause())
	}
	select {
	case <-t.wake:
	case <-t.again.C:
		t.payOff()
	case <-pause:
		t.Touch(Parts{All: true})
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
	select {
	case <-time.After(gather):
		return true
	case <-ctx.Done():
		return false
	}
}

// watchBoxes watches the mail of everybody in the team.
func (t *Team) watchBoxes(ctx context.Context) {
	wanted := map[string]bool{}
	if now := t.Last(); now.Name != "" {
		for _, owner := range owners(now) {
			wanted[owner] = true
		}
	}
	t.boxes.Set(ctx, wanted, func(ctx context.Context, owner string) {
		t.Relay(ctx, func(ctx context.Context) (<-chan struct{}, error) { return t.Mail.Watch(ctx, t.Name, owner) }, Parts{Boxes: map[string]bool{owner: true}})
	})
}

// Look looks at everything now.
func (t *Team) Look(ctx context.Context) error {
	t.Touch(Parts{All: true})
	_, err := t.look(ctx)
	return err
}

// look looks at what may have changed, and returns what that was.
func (t *Team) look(ctx context.Context) (Parts, error) {
	t.looking.Lock()
	defer t.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	t.mu.Lock()
	p := t.dirty
	t.dirty = Parts{}
	t.mu.Unlock()
	if !p.files() {
		return p, nil
	}
	now, err := t.read(ctx, p)
	if fault.CodeOf(err) == fault.TeamNotFound && (t.found || t.Last().Name != "") {
		now, t.whole, err = changes.Team{}, api.Team{}, nil
	}
	if err != nil {
		t.owe(p, err)
		return p, err
	}
	t.found = true
	t.Seen(ctx, View{now, t.whole})
	return p, nil
}

// read returns the team as it is, its unchanged parts as they were. A part that
// cannot be read stays, too.
func (t *Team) read(ctx context.Context, p Parts) (changes.Team, error) {
	now := t.Last()
	if p.All || now.Lead == "" { // seen for the first time
		return t.readAll(ctx, now)
	}
	if p.Tasks {
		if list, _, err := t.Service.TaskList(ctx, t.Name, teams.TaskFilter{}); err == nil {
			now.Tasks = list
		} else {
			t.missed(ctx, "look at the tasks", err, Parts{Tasks: true})
		}
	}
	if p.Members || t.WithRoster {
		team, err := t.Service.TeamWith(ctx, t.Name, now.Tasks)
		if err != nil {
			return now, err
		}
		t.take(&now, team)
	}
	boxes := map[string][]api.Message{}
	for _, owner := range owners(now) {
		box, known := now.Boxes[owner]
		if p.Boxes[owner] || !known {
			if list, err := t.Service.Inbox(ctx, t.Name, owner, teams.InboxFilter{}); err == nil {
				box = list
			} else {
				t.missed(ctx, "look at the inbox of "+owner, err, Parts{Boxes: map[string]bool{owner: true}})
			}
		}
		boxes[owner] = box
	}
	now.Boxes = boxes
	return now, ctx.Err()
}

// missed notes that a part could not be read.
func (t *Team) missed(ctx context.Context, op string, err error, p Parts) {
	if ctx.Err() == nil {
		t.Log.Warn(op, "team", t.Name, "error", err)
		t.owe(p, err)
	}
}

// readAll reads everything, each file once.
func (t *Team) readAll(ctx context.Context, now changes.Team) (changes.Team, error) {
	w, err := t.Service.Whole(ctx, t.Name)
	if err != nil {
		return now, err
	}
	for _, err := range w.Missed {
		t.missed(ctx, "look at a team", err, Parts{All: true})
	}
	t.take(&now, w.Team)
	if w.Tasks != nil {
		now.Tasks = w.Tasks
	}
	boxes := map[string][]api.Message{}
	for _, owner := range owners(now) {
		if boxes[owner] = now.Boxes[owner]; w.Boxes[owner] != nil {
			boxes[owner] = w.Boxes[owner]
		}
	}
	now.Boxes = boxes
	return now, ctx.Err()
}

// take writes a roster that was read into the state.
func (t *Team) take(now *changes.Team, team api.Team) {
	t.whole = team
	now.Name, now.Description, now.CreatedAt = t.Name, team.Description, team.CreatedAt
	lead, teammates := split(team)
	now.Lead, now.Members = lead, changes.Known(now.Members, teammates)
}

// split returns the lead's name and the teammates.
func split(team api.Team) (lead string, teammates []api.Member) {
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
