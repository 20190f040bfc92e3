// Package runs keeps teams as they are defined, their runs, and each run's
// checklist, in the daemon's database. It holds the rules: what may refer to what,
// and which status may follow which. Who carries items out lies elsewhere.
package runs

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/db"
)

// Store is the definitions, runs and items in one database. It is safe for
// concurrent use; it has one writer at a time. Every change is made whole or not
// at all, and is emitted after it was made, in the order of the changes.
//
// What is referred to and is not there is fault.TeamNotFound, MemberNotFound,
// RunNotFound, ItemNotFound or, for a role, ProfileNotFound. What the rules forbid
// is fault.Rejected, and nothing is changed then.
type Store struct {
	db   *sql.DB
	emit func([]api.TeamRunEvent)
	mu   sync.Mutex
}

// New returns the store in d, which was opened with the Component. emit is called
// what each change was, while no other can be made: it must not wait.
func New(d *sql.DB, emit func([]api.TeamRunEvent)) *Store { return &Store{db: d, emit: emit} }

// change is one transaction under way.
type change struct {
	ctx    context.Context
	tx     *sql.Tx
	now    int64
	events []api.TeamRunEvent
}

// change makes a change: all or nothing.
func (s *Store) change(ctx context.Context, what string, f func(*change) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return explain(ctx, s.db, what, err)
	}
	defer tx.Rollback()
	c := &change{ctx: ctx, tx: tx, now: time.Now().UnixMilli()}
	if err = f(c); err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return explain(ctx, s.db, what, err)
	}
	for i := range c.events {
		c.events[i].Timestamp = c.now
	}
	if len(c.events) > 0 {
		s.emit(c.events)
	}
	return nil
}

// exec makes a change that is one statement.
func (s *Store) exec(ctx context.Context, what, query string, args ...any) error {
	return s.change(ctx, what, func(c *change) error { return c.exec(query, args...) })
}

// exec runs a statement.
func (c *change) exec(query string, args ...any) error {
	_, err := c.tx.ExecContext(c.ctx, query, args...)
	return err
}

func (c *change) say(e api.TeamRunEvent) { c.events = append(c.events, e) }

func newID() string { return uuid.NewString() }

type querier = db.Querier

// all reads every row of a query.
func all[T any](ctx context.Context, q querier, scan func(func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	return db.All(ctx, q, "read the runs", scan, query, args...)
}

// one reads the row with an id; none is the error where there is no such row.
func one[T any](ctx context.Context, q querier, scan func(func(...any) error) (T, error), none func(id string) error, query, id string) (T, error) {
	v, err := scan(q.QueryRowContext(ctx, query, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = none(id)
	}
	return v, err
}

// null is a text or a moment as it is kept: nothing if it is empty.
func null[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

// Loaded calls f with each run, the open ones with their items, while no change can
// be made: whoever begins to listen inside f misses nothing and hears nothing
// twice.
func (s *Store) Loaded(ctx context.Context, filter api.TeamRunFilter, f func([]api.TeamRunEvent)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := all(ctx, s.db, scanRun, `SELECT `+runColumns+` FROM agent_team_runs
		WHERE (?1 = '' OR team_id = ?1) AND (?2 = '' OR id = ?2) ORDER BY started_at, id`, filter.TeamID, filter.TeamRunID)
	if err != nil {
		return explain(ctx, s.db, "load the runs", err)
	}
	events := make([]api.TeamRunEvent, len(list))
	for i, run := range list {
		events[i] = api.TeamRunEvent{Type: api.EvRunLoaded, Timestamp: time.Now().UnixMilli(), TeamID: run.TeamID, TeamRunID: run.ID, Run: &list[i]}
		if run.Final() {
			continue
		}
		if events[i].Items, err = items(ctx, s.db, run.ID); err != nil {
			return explain(ctx, s.db, "load the runs", err)
		}
	}
	f(events)
	return nil
}
