// Package history keeps what happened to teams: events in their order, and the
// last state that they were derived from, in one transaction, so that after any
// crash neither is ahead of the other. It is bounded: the oldest events go.
package history

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/teams/db"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// Bounds of what is kept.
const (
	MaxEvents = 100_000
	MaxAge    = 30 * 24 * time.Hour
	pruneStep = 1000 // events between two prunings
)

// Component is history's part of the database.
func Component() db.Component {
	return db.Component{Name: "history", Steps: []string{`
		CREATE TABLE events (
			seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, type TEXT NOT NULL, team TEXT NOT NULL, line TEXT NOT NULL
		) STRICT;
		CREATE INDEX events_at ON events (at);
		CREATE TABLE states (name TEXT PRIMARY KEY, doc TEXT NOT NULL) STRICT;
	`}}
}

// Store is the history. It has one writer at a time; reading is free.
type Store struct {
	db     *sql.DB
	added  int
	maxAge time.Duration
	most   uint64
}

// New returns the history in d, which was opened with its Component.
func New(d *sql.DB) *Store { return &Store{db: d, maxAge: MaxAge, most: MaxEvents} }

// Last is the seq of the newest event, 0 if there has been none.
func (s *Store) Last(ctx context.Context) (uint64, error) {
	return s.seq(ctx, `SELECT coalesce(max(seq), 0) FROM events`)
}

func (s *Store) seq(ctx context.Context, query string) (uint64, error) {
	var seq int64
	err := s.db.QueryRowContext(ctx, query).Scan(&seq)
	return uint64(seq), db.Explain(ctx, s.db, "read the history", err)
}

// States returns the last states whose names begin with prefix.
func (s *Store) States(ctx context.Context, prefix string) (map[string]json.RawMessage, error) {
	type row struct{ name, doc string }
	rows, err := db.All(ctx, s.db, "read the states", func(scan func(...any) error) (r row, err error) {
		err = scan(&r.name, &r.doc)
		return r, db.Explain(ctx, s.db, "read the states", err)
	}, `SELECT name, doc FROM states WHERE substr(name, 1, length(?1)) = ?1`, prefix)
	out := map[string]json.RawMessage{}
	for _, r := range rows {
		out[r.name] = json.RawMessage(r.doc)
	}
	return out, err
}

// Add writes events and, by name, the states that they led to (nil removes one): all or
// nothing.
func (s *Store) Add(ctx context.Context, list []events.Event, states map[string]json.RawMessage) error {
	return db.Explain(ctx, s.db, "write the history", s.add(ctx, list, states))
}

func (s *Store) add(ctx context.Context, list []events.Event, states map[string]json.RawMessage) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, `INSERT INTO events VALUES (?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, e := range list {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, int64(e.Seq), e.At.UnixMilli(), string(e.Type), e.Team, string(line)); err != nil {
			return err
		}
	}
	for name, state := range states {
		if state == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM states WHERE name = ?`, name)
		} else {
			_, err = tx.ExecContext(ctx, `INSERT INTO states VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET doc = excluded.doc`, name, string(state))
		}
		if err != nil {
			return err
		}
	}
	if err := s.prune(ctx, tx, list); err != nil {
		return err
	}
	return tx.Commit()
}

// prune drops the oldest now and then.
func (s *Store) prune(ctx context.Context, tx *sql.Tx, list []events.Event) error {
	if s.added += len(list); s.added < pruneStep || len(list) == 0 {
		return nil
	}
	s.added = 0
	last := list[len(list)-1].Seq
	_, err := tx.ExecContext(ctx, `DELETE FROM events WHERE (seq <= ? OR at < ?) AND seq < ?`,
		int64(last)-int64(s.most), time.Now().Add(-s.maxAge).UnixMilli(), int64(last)) // the last one stays: the numbers go on from it
	return err
}

// Query picks events. The zero value of a field does not restrict, but Until.
type Query struct {
	After, Until uint64 // seq: greater than After, and not than Until (0: any)
	Since        time.Time
	Team         string
	Types        []string // names or their beginnings
	Limit        int
}

// Line is one event as it is kept: its line of JSON.
type Line struct {
	Seq  uint64
	JSON json.RawMessage
}

// Read returns the events that match, in their order.
func (s *Store) Read(ctx context.Context, q Query) ([]Line, error) {
	q.Until = cmp.Or(q.Until, math.MaxInt64)
	if q.Limit <= 0 {
		q.Limit = -1
	}
	where, args := `seq > ? AND seq <= ?`, []any{int64(q.After), int64(q.Until)}
	if !q.Since.IsZero() {
		where += ` AND at >= ?`
		args = append(args, q.Since.UnixMilli())
	}
	if q.Team != "" {
		where += ` AND team = ?`
		args = append(args, q.Team)
	}
	var types []string
	for _, t := range q.Types {
		types = append(types, `substr(type, 1, length(?)) = ?`)
		args = append(args, t, t)
	}
	if len(types) > 0 {
		where += ` AND (` + strings.Join(types, ` OR `) + `)`
	}
	return db.All(ctx, s.db, "read the history", func(scan func(...any) error) (l Line, err error) {
		var line string
		err = scan(&l.Seq, &line)
		l.JSON = json.RawMessage(line)
		return l, db.Explain(ctx, s.db, "read the history", err)
	}, `SELECT seq, line FROM events WHERE `+where+` ORDER BY seq LIMIT ?`, append(args, q.Limit)...)
}

// Oldest is the seq of the oldest event that is kept, 0 if there is none.
func (s *Store) Oldest(ctx context.Context) (uint64, error) {
	return s.seq(ctx, `SELECT coalesce(min(seq), 0) FROM events`)
}
