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

	"github.com/leadlight-dev/leadlight/teams/store"
)

// Store holds teams, mail and tasks. It is safe for concurrent use. Watchers are
// told of every change, whatever it concerns.
type Store struct {
	mu       sync.Mutex
	teams    map[string]*team
	watchers map[chan struct{}]bool
}

type team struct {
	roster store.Team
	boxes  map[string]*box // by owner
	tasks  map[string]store.Task
	last   int64 // highest id of a task ever used
}

// New returns an empty store.
func New() *Store {
	return &Store{teams: map[string]*team{}, watchers: map[chan struct{}]bool{}}
}

// Roster returns the rosters.
func (s *Store) Roster() store.Roster { return roster{s} }

// Mail returns the mailboxes.
func (s *Store) Mail() store.Mail { return mail{s} }

// Tasks returns the task lists.
func (s *Store) Tasks() store.Tasks { return tasks{s} }

// with runs do on a team, under the lock.
func (s *Store) with(name string, do func(t *team) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := store.CheckTeam(name); err != nil {
		return err
	}
	t, ok := s.teams[name]
	if !ok {
		return store.NoTeam(name)
	}
	return do(t)
}

// change is with for one who changes the team, and tells the watchers.
func (s *Store) change(name string, do func(t *team) error) error {
	return s.with(name, func(t *team) error {
		defer s.changed()
		return do(t)
	})
}

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

// watchTeam is watch for a team that exists.
func (s *Store) watchTeam(ctx context.Context, name string) (<-chan struct{}, error) {
	if err := s.with(name, func(*team) error { return nil }); err != nil {
		return nil, err
	}
	return s.watch(ctx), nil
}

type roster struct{ s *Store }

// Remains is empty: nothing here outlives the process.
func (r roster) Remains(context.Context) ([]store.Remain, error) { return nil, nil }

func (r roster) Create(_ context.Context, t store.Team) error {
	if err := store.CheckCreate(t); err != nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.s.teams[t.Name] != nil {
		return store.TeamExists(t.Name)
	}
	t = t.Clone()
	t.Ours.Schema = store.Schema
	if t.CreatedAt.IsZero() {
		t.CreatedAt = store.Now()
	}
	t.LeadAgentID = cmp.Or(t.LeadAgentID, store.Lead+"@"+t.Name)
	r.s.teams[t.Name] = &team{roster: complete(t), boxes: map[string]*box{}, tasks: map[string]store.Task{}}
	r.s.changed()
	return nil
}

// complete fills what a roster on disk would read back.
func complete(t store.Team) store.Team {
	for i := range t.Members {
		m := &t.Members[i]
		m.AgentID = cmp.Or(m.AgentID, m.Name+"@"+t.Name)
	}
	t.Path = "memory:" + t.Name
	return t
}

func (r roster) Get(_ context.Context, name string) (out store.Team, err error) {
	err = r.s.with(name, func(t *team) error {
		out = t.roster.Clone()
		return nil
	})
	return out, err
}

func (r roster) List(context.Context) ([]string, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return slices.Sorted(maps.Keys(r.s.teams)), nil
}

func (r roster) Update(_ context.Context, name string, change func(*store.Team) error) error {
	return r.s.change(name, func(t *team) error {
		next := t.roster.Clone()
		if err := change(&next); err != nil {
			return err
		}
		if err := store.CheckMembers(t.roster.Members, next.Members); err != nil {
			return err
		}
		next.Name = name
		t.roster = complete(next)
		return nil
	})
}

func (r roster) Delete(_ context.Context, name string) error {
	return r.s.change(name, func(*team) error {
		delete(r.s.teams, name)
		return nil
	})
}

func (r roster) Watch(ctx context.Context, _ string) (<-chan struct{}, error) {
	return r.s.watch(ctx), nil
}
