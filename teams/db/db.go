// Package db opens the one SQLite file of a base directory: what the daemon
// remembers. Those who keep something in it, events and runs, each bring a
// Component with its own tables and migrations.
//
// Only the daemon opens the file. It is a memory, never the truth: teams live in
// their files.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

// Component is a part of the file with a history of its own.
type Component struct {
	Name  string
	Steps []string // SQL from nothing to version 1, from 1 to 2, …; never changed, only added to
}

// Open opens the file, made with mode 0600 in a folder of mode 0700 if there is
// none, and brings every component to its newest version. What is committed outlives
// a power cut. A component with a
// version that this program does not know is fault.VersionTooNew, a file that is no
// database fault.CorruptFile; the file is then left as it was.
func Open(ctx context.Context, path string, components ...Component) (*sql.DB, error) {
	fresh, err := prepare(path)
	if err != nil {
		return nil, err
	}
	if !fresh { // looked at before anything, even the journal's mode, is written
		if err := inspect(ctx, path, components); err != nil {
			return nil, err
		}
	}
	d, err := open(path, "rwc", "journal_mode(wal)", "synchronous(full)", "busy_timeout(5000)", "foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	d.SetMaxOpenConns(4)
	d.SetMaxIdleConns(1)
	if err := migrate(ctx, d, components); err != nil {
		d.Close()
		return nil, explain(path, err)
	}
	return d, nil
}

func open(path, mode string, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"mode": {mode}, "_txlock": {"immediate"}}
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	d, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return d, nil
}

// look opens the file for one who only reads. SQLite takes the files that it makes beside it away
// when the last one closes it who may write. What a daemon has left there that was killed stays
// as it is.
func look(path string) (*sql.DB, error) {
	mode := "rw"
	if _, err := os.Lstat(path + "-wal"); err == nil {
		mode = "ro"
	}
	return open(path, mode, "busy_timeout(5000)")
}

// prepare makes the file, so that it is private from its first byte on.
func prepare(path string) (fresh bool, err error) {
	err = files.MakeFolders(filepath.Dir(path))
	if err == nil {
		err = files.Make(path)
	}
	if err != nil {
		return false, explain(path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return false, fault.New(fault.CorruptFile, "the history database %s is a link, and links are not followed here", path).WithHint("look where it leads, and move it away")
	}
	if err != nil {
		return false, explain(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, explain(path, err)
	}
	if !info.Mode().IsRegular() { // it could be waited for without an end
		return false, fault.New(fault.CorruptFile, "the history database %s is no regular file", path).WithHint("look what it is, and move it away")
	}
	return info.Size() == 0, nil
}

// inspect refuses what a newer program has written, without writing.
func inspect(ctx context.Context, path string, components []Component) error {
	d, err := look(path)
	if err != nil {
		return err
	}
	defer d.Close()
	var tables int
	if err := d.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'components'`).Scan(&tables); err != nil {
		return explain(path, err)
	}
	if tables == 0 {
		return nil
	}
	for _, c := range components {
		v, err := version(ctx, d, c.Name)
		if err != nil {
			return explain(path, err)
		}
		if v > len(c.Steps) {
			return fault.New(fault.VersionTooNew, "%s holds %s in version %d; this leadlight knows up to %d", path, c.Name, v, len(c.Steps)).
				WithHint("use the newer leadlight, or move the file away to start a new one")
		}
	}
	return nil
}

// Check reads the whole file, if there is one, without writing. A damaged one is fault.CorruptFile.
func Check(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if fresh, err := prepare(path); fresh || err != nil {
		return err
	}
	d, err := look(path)
	if err != nil {
		return err
	}
	defer d.Close()
	var found string
	if err := d.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return unread(path, err)
	}
	if found != "ok" {
		return damaged(path, errors.New(strings.TrimPrefix(found, "*** in database main ***\n")))
	}
	return nil
}

// Querier is the database, or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// All reads every row of a query. what says in an error what was to be done.
func All[T any](ctx context.Context, q Querier, what string, scan func(func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, Explain(ctx, q, what, err)
	}
	defer rows.Close()
	out := []T{}
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, Explain(ctx, q, what, err)
	}
	return out, nil
}

func version(ctx context.Context, q Querier, name string) (int, error) {
	var v int
	err := q.QueryRowContext(ctx, `SELECT version FROM components WHERE name = ?`, name).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return v, err
}

// migrate takes every component's missing steps, all or none.
func migrate(ctx context.Context, d *sql.DB, components []Component) error {
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS components (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT`); err != nil {
		return err
	}
	for _, c := range components {
		v, err := version(ctx, tx, c.Name)
		if err != nil {
			return err
		}
		if v >= len(c.Steps) {
			continue
		}
		for i, step := range c.Steps[v:] {
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return fmt.Errorf("bring %s to version %d: %w", c.Name, v+i+1, err)
			}
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO components VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version`, c.Name, len(c.Steps)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Codes of SQLite, see https://sqlite.org/rescode.html: what the file itself, or its disk, is.
const (
	sqliteReadOnly = 8
	sqliteIO       = 10
	sqliteCorrupt  = 11
	sqliteFull     = 13
	sqliteNoOpen   = 14
	sqliteNotADB   = 26

	sqliteRead        = sqliteIO | 1<<8
	sqliteShortRead   = sqliteIO | 2<<8
	sqliteDamagedDisk = sqliteIO | 33<<8
)

// Code is SQLite's code of an error, as it is extended; 0 if it is none of SQLite's.
func Code(err error) int {
	if coded, ok := errors.AsType[interface {
		error
		Code() int
	}](err); ok {
		return coded.Code()
	}
	return 0
}

// Explain gives an error of an open database its code, and names the file where that is
// what has to be mended. What has no code of the database's keeps its own, and nil is nil.
func Explain(ctx context.Context, q Querier, what string, err error) error {
	if err == nil {
		return nil
	}
	switch Code(err) & 0xff {
	case sqliteCorrupt, sqliteNotADB, sqliteFull, sqliteIO, sqliteReadOnly:
		path := "of the daemon"
		if q.QueryRowContext(context.WithoutCancel(ctx), `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&path) != nil {
			path = "of the daemon" // leadlight daemon status names it
		}
		return fmt.Errorf("%s: %w", what, explain(path, err))
	}
	return fmt.Errorf("%s: %w", what, err)
}

const away = "move it away: events and runs begin anew, teams are not touched"

func damaged(path string, why error) error {
	return fault.New(fault.CorruptFile, "the database %s is damaged: %w", path, why).WithHint(away)
}

// unread is why not the whole file could be read. Only a failed read of the file itself says that it,
// or its disk, is damaged: reading also makes files beside it, for which there may be no room.
func unread(path string, err error) error {
	if slices.Contains([]int{sqliteRead, sqliteShortRead, sqliteDamagedDisk}, Code(err)) {
		return damaged(path, err)
	}
	return explain(path, err)
}

// explain gives an error of the database its code.
func explain(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fault.New(fault.PermissionDenied, "open the database %s: %w", path, err).WithHint("set XDG_STATE_HOME to a folder of yours")
	}
	if errors.Is(err, syscall.EISDIR) {
		return fault.New(fault.CorruptFile, "the database %s is a folder", path).WithHint(away)
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("open the database: %w", files.Explain("open", path, err))
	}
	switch code := Code(err) & 0xff; code {
	case sqliteCorrupt, sqliteNotADB:
		return damaged(path, err)
	case sqliteFull, sqliteIO, sqliteReadOnly, sqliteNoOpen: // it does not say why, but its folder does
		if why := files.Writable(filepath.Dir(path)); why != nil {
			return fault.New(fault.CodeOf(why), "the database %s: %w: %w", path, err, why).WithHint("%s", fault.Of(why).Hint)
		}
		if code == sqliteFull {
			return fault.New(fault.DiskFull, "the database %s: %w", path, err).WithHint("free some space on that file system and try again")
		}
	}
	return fmt.Errorf("open the database %s: %w", path, err)
}
