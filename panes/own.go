package panes

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/leadlight-dev/leadlight/internal/lock"
)

// ownLimit is how long a change of one of our records waits for another.
const ownLimit = 10 * time.Second

// ReadOwn returns a record of our own of a team, or its zero value if there is
// none. name is its path below OwnPath(team).
func ReadOwn[T any](ctx context.Context, r *Records, team, name string) (T, error) {
	v, err := read[T](ctx, r.dir, OwnPath(team, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return v, err
}

// EditOwn changes a record of our own of a team, one caller after the other. If
// change says that nothing changed, or fails, nothing is written.
func EditOwn[T any](ctx context.Context, r *Records, team, name, verb string, change func(*T) (changed bool, err error)) error {
	held, err := lock.Acquire(ctx, r.dir, OwnPath(team, "locks", path.Base(name)), verb, ownLimit)
	if err != nil {
		return err
	}
	defer held.Release()
	v, err := ReadOwn[T](ctx, r, team, name)
	if err != nil {
		return err
	}
	if changed, err := change(&v); err != nil || !changed {
		return err
	}
	return r.write(ctx, OwnPath(team, name), v)
}
