// Package scheduler carries runs out: it gives the items of their checklists to
// teammates, as tasks of a live team, and writes down what becomes of them. It
// serves definitions, runs and items to programs.
//
// What it has begun stands in the database before it is done, so that after any
// crash it goes on where it was: a teammate works on through that, and its task
// says how it ended.
package scheduler

import (
	"cmp"
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/runs"
)

// Options are what a scheduler is made of.
type Options struct {
	DB       *sql.DB
	Serve    func() (*teams.Service, error) // the verbs, in the lead's name
	Publish  func(context.Context, []events.Event)
	Beside   func(func(context.Context))
	Hold     func() (release func())
	Log      *slog.Logger
	Profiles profiles.Set
	Models   map[string]map[string]string // the model of a profile for a preference
	Limit    int                          // items of all runs that are under way at a time
	Records  string                       // folder of the records that other processes leave
}

// queue is how many events a subscriber may lie behind before it is cut.
const queue = 4096

// Scheduler is the runs of one daemon.
type Scheduler struct {
	Options
	store *runs.Store
	slots *slots
	bus   *events.Bus[api.TeamRunEvent]
	wg    sync.WaitGroup

	taking sync.Mutex // records in

	mu          sync.Mutex
	names       map[string]string // of teams, by id
	controllers map[string]*runController
	ctx         context.Context // while the daemon serves
}

// New returns the scheduler. Its work begins beside the daemon's serving.
func New(o Options) *Scheduler {
	s := &Scheduler{Options: o, slots: newSlots(o.Limit), bus: events.NewBus[api.TeamRunEvent](), names: map[string]string{}, controllers: map[string]*runController{}}
	s.store = runs.New(o.DB, s.emit)
	if o.DB != nil { // else only the methods are asked for, as by daemon schema
		// The roles are there before anybody can ask; what fails here is tried again.
		if err := s.store.KeepProfiles(context.Background(), o.Profiles.Names()); err != nil {
			o.Log.Warn("keep the profiles as roles", "error", err)
		}
	}
	o.Beside(s.run)
	return s
}

// run carries out what is created from now on, and what is open since before, until
// ctx ends.
func (s *Scheduler) run(ctx context.Context) {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	s.goOn(ctx)
	<-ctx.Done()
	s.wg.Wait()
}

// Pauses between two tries to find what is open.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 30 * time.Second
)

// goOn finds what is open, sooner or later. After the first try the daemon may end by
// itself: the next one tries again.
func (s *Scheduler) goOn(ctx context.Context) {
	release := s.Hold()
	defer release()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := s.begin(ctx)
		release()
		if err == nil || ctx.Err() != nil {
			return
		}
		s.Log.Error("open runs cannot be carried out yet; it is tried again", "error", err, "in", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

func (s *Scheduler) begin(ctx context.Context) error {
	if err := s.store.KeepProfiles(ctx, s.Profiles.Names()); err != nil {
		return err
	}
	list, err := s.store.Teams(ctx, api.AgentTeamsParams{})
	if err != nil {
		return err
	}
	open, err := s.store.Open(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range list {
		s.names[t.ID] = cmp.Or(s.names[t.ID], t.Name)
	}
	for _, p := range open {
		s.control(p.RunID)
	}
	return nil
}

// control begins to carry a run out. It is called with s.mu held.
func (s *Scheduler) control(id string) {
	if s.ctx == nil || s.ctx.Err() != nil || s.controllers[id] != nil {
		return
	}
	c := newRunController(s, id)
	c.hold(true) // until its first look: whoever created the run may have hung up by then
	s.controllers[id] = c
	s.wg.Go(func() {
		c.run(s.ctx)
		s.mu.Lock()
		delete(s.controllers, id)
		s.mu.Unlock()
		close(c.done)
	})
}

// emit hands out what a change was. The store calls it, one change at a time.
func (s *Scheduler) emit(list []api.TeamRunEvent) {
	out := make([]events.Event, len(list))
	s.mu.Lock()
	for i, e := range list {
		if e.Team != nil {
			s.names[e.TeamID] = e.Team.Name
		}
		out[i] = hint(e, s.names[e.TeamID])
		if c := s.controllers[e.TeamRunID]; c != nil {
			c.wake()
		}
	}
	s.mu.Unlock()
	for _, e := range list {
		s.bus.Publish(e)
	}
	s.Publish(context.Background(), out)
}

// hint is a change as an event of the history.
func hint(e api.TeamRunEvent, team string) events.Event {
	d := &events.Run{Head: events.Head{Type: e.Type}, TeamID: e.TeamID, RunID: e.TeamRunID}
	switch {
	case e.Item != nil:
		d.ItemID, d.Title, d.Status = e.Item.ID, e.Item.Title, e.Item.Status
	case e.Run != nil:
		d.Status = e.Run.Status
	case e.Member != nil:
		d.MemberID, d.Title = e.Member.ID, e.Member.AgentRoleID
	}
	return events.Event{At: time.UnixMilli(e.Timestamp), Type: eventNames[e.Type], Team: team, Data: d}
}

var eventNames = map[string]events.Type{
	api.EvTeamCreated: events.RunTeamCreated, api.EvTeamUpdated: events.RunTeamUpdated, api.EvTeamDeleted: events.RunTeamDeleted,
	api.EvMemberAdded: events.RunMemberAdded, api.EvMemberUpdated: events.RunMemberUpdated, api.EvMemberRemoved: events.RunMemberRemoved,
	api.EvMembersReordered: events.RunMembersMoved, api.EvRunCreated: events.RunCreated, api.EvRunUpdated: events.RunUpdated,
	api.EvItemCreated: events.RunItemCreated, api.EvItemUpdated: events.RunItemUpdated, api.EvItemDeleted: events.RunItemDeleted,
	api.EvItemMoved: events.RunItemMoved, api.EvItemSpawned: events.RunItemSpawned,
}

// created has a new run carried out. It cannot fail: the run is there.
func (s *Scheduler) created(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.control(id)
}
