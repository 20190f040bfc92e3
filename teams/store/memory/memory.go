// Package memory keeps teams, mail and tasks in memory. It is a whole store, held
// to the same suite as those on disk, for programs that need no files and for
// tests of what lies above a store.
package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Store holds teams, mail and tasks. It is safe for concurrent use. Watchers are
// told of every change, whatever it concerns.
type Store struct {
	mu       sync.Mutex
	teams    map[string]store.Team
	boxes    map[address]*box
	lists    map[string]*list
	watchers map[chan struct{}]bool
}

type address struct{ team, owner string }

type box struct {
	messages []store.Message
	archive  []store.Message
}

type list struct {
	tasks map[string]store.Task
	last  int64 // highest id ever used
}

// New returns an empty store.
func New() *Store {
	return &Store{teams: map[string]store.Team{}, boxes: map[address]*box{}, lists: map[string]*list{}, watchers: map[chan struct{}]bool{}}
}

// Roster returns the rosters.
func (s *Store) Roster() store.Roster { return roster{s} }

// Mail returns the mailboxes.
func (s *Store) Mail() store.Mail { return mail{s} }

// Tasks returns the task lists.
func (s *Store) Tasks() store.Tasks { return tasks{s} }

// now is the time in the precision of the stores on disk.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// changed tells the watchers. Called with s.mu held.
func (s *Store) changed() {
	for c := range s.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (s *Store) watch(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	c <- struct{}{}
	s.mu.Lock()
	s.watchers[c] = true
	s.mu.Unlock()
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, c)
		close(c)
	})
	return c
}

// known checks a team's name and that there is one. Called with s.mu held.
func (s *Store) known(team string) error {
	if err := store.CheckTeam(team); err != nil {
		return err
	}
	if _, ok := s.teams[team]; !ok {
		return store.NoTeam(team)
	}
	return nil
}

type roster struct{ s *Store }

// Remains is empty: nothing here outlives the process.
func (r roster) Remains(context.Context) ([]store.Remain, error) { return nil, nil }

func (r roster) Create(_ context.Context, t store.Team) error {
	if err := store.CheckNewTeam(t.Name); err != nil {
		return err
	}
	if err := store.CheckMembers(nil, t.Members); err != nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if _, ok := r.s.teams[t.Name]; ok {
		return fault.New(fault.TeamExists, "team %q exists already", t.Name)
	}
	t = t.Clone()
	t.Ours.Schema = store.Schema
	if t.CreatedAt.IsZero() {
		t.CreatedAt = now()
	}
	t.LeadAgentID = cmp.Or(t.LeadAgentID, store.Lead+"@"+t.Name)
	r.s.teams[t.Name] = complete(t)
	r.s.changed()
	return nil
}

// complete fills what a roster on disk would read back.
func complete(t store.Team) store.Team {
	for i := range t.Members {
		if m := &t.Members[i]; m.AgentID == "" {
			m.AgentID = m.Name + "@" + t.Name
		}
	}
	t.Path = "memory:" + t.Name
	return t
}

func (r roster) Get(_ context.Context, team string) (store.Team, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if err := r.s.known(team); err != nil {
		return store.Team{}, err
	}
	t := r.s.teams[team]
	return t.Clone(), nil
}

func (r roster) List(context.Context) ([]string, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return slices.Sorted(maps.Keys(r.s.teams)), nil
}

func (r roster) Update(_ context.Context, team string, change func(*store.Team) error) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if err := r.s.known(team); err != nil {
		return err
	}
	old := r.s.teams[team]
	t := old.Clone()
	if err := change(&t); err != nil {
		return err
	}
	if err := store.CheckMembers(old.Members, t.Members); err != nil {
		return err
	}
	t.Name = team
	r.s.teams[team] = complete(t)
	r.s.changed()
	return nil
}

func (r roster) Delete(_ context.Context, team string) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if err := r.s.known(team); err != nil {
		return err
	}
	delete(r.s.teams, team)
	delete(r.s.lists, team)
	for a := range r.s.boxes {
		if a.team == team {
			delete(r.s.boxes, a)
		}
	}
	r.s.changed()
	return nil
}

func (r roster) Watch(ctx context.Context, _ string) (<-chan struct{}, error) {
	return r.s.watch(ctx), nil
}
