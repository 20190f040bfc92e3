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
	var seq sql.NullInt64
	err := s.db.QueryRowContext(ctx, `SELECT max(seq) FROM events`).Scan(&seq)
	if err != nil {
		return 0, db.Explain(ctx, s.db, "read the history", err)
	}
	return uint64(seq.Int64), nil
}

// States returns the last states whose names begin with prefix.
func (s *Store) States(ctx context.Context, prefix string) (map[string]json.RawMessage, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT name, doc FROM states WHERE substr(name, 1, length(?1)) = ?1`, prefix)
	if err != nil {
		return nil, db.Explain(ctx, s.db, "read the states", err)
	}
	defer rows.Close()
	out := map[string]json.RawMessage{}
	for rows.Next() {
		var name, doc string
		if err := rows.Scan(&name, &doc); err != nil {
			return nil, db.Explain(ctx, s.db, "read the states", err)
		}
		out[name] = json.RawMessage(doc)
	}
	return out, rows.Err()
}

// Add writes events and, by name, the states that they led to (nil removes one): all or
// nothing.
func (s *Store) Add(ctx context.Context, list []events.Event, states map[string]json.RawMessage) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return db.Explain(ctx, s.db, "write the history", err)
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, `INSERT INTO events VALUES (?, ?, ?, ?, ?)`)
	if err != nil {
		return db.Explain(ctx, s.db, "write the history", err)
	}
	defer insert.Close()
	for _, e := range list {
		line, err := json.Marshal(e)
		if err != nil {
			return db.Explain(ctx, s.db, "write the history", err)
		}
		if _, err := insert.ExecContext(ctx, int64(e.Seq), e.At.UnixMilli(), string(e.Type), e.Team, string(line)); err != nil {
			return db.Explain(ctx, s.db, "write the history", err)
		}
	}
	for name, state := range states {
		if state == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM states WHERE name = ?`, name)
		} else {
			_, err = tx.ExecContext(ctx, `INSERT INTO states VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET doc = excluded.doc`, name, string(state))
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = s.prune(ctx, tx, list)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return db.Explain(ctx, s.db, "write the history", err)
	}
	return nil
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
	rows, err := s.db.QueryContext(ctx, `SELECT seq, line FROM events WHERE `+where+` ORDER BY seq LIMIT ?`, append(args, q.Limit)...)
	if err != nil {
		return nil, db.Explain(ctx, s.db, "read the history", err)
	}
	defer rows.Close()
	out := []Line{}
	for rows.Next() {
		var seq int64
		var line string
		if err := rows.Scan(&seq, &line); err != nil {
			return nil, db.Explain(ctx, s.db, "read the history", err)
		}
		out = append(out, Line{uint64(seq), json.RawMessage(line)})
	}
	if err := rows.Err(); err != nil {
		return nil, db.Explain(ctx, s.db, "read the history", err)
	}
	return out, nil
}

// Oldest is the seq of the oldest event that is kept, 0 if there is none.
func (s *Store) Oldest(ctx context.Context) (uint64, error) {
	var seq sql.NullInt64
	if err := s.db.QueryRowContext(ctx, `SELECT min(seq) FROM events`).Scan(&seq); err != nil {
		return 0, db.Explain(ctx, s.db, "read the history", err)
	}
	return uint64(seq.Int64), nil
}
