package panes

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/leadlight-dev/leadlight/internal/lock"
)

// ownLimit is how long a change of one of our records waits for another.
const ownLimit = 10 * time.Second

// Own is a record of our own about a team, beside those of its hosts.
type Own[T any] struct {
	Name  string                       // its path below OwnPath(team)
	Check func(team string, v T) error // refuses what we never write into it; nil: all that decodes is right
}

// Read returns the record of a team, or its zero value if there is none. One that we
// cannot have written is fault.CorruptFile.
func (o Own[T]) Read(ctx context.Context, r *Records, team string) (T, error) {
	name := OwnPath(team, o.Name)
	v, err := read[T](ctx, r.dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return v, err
	}
	return o.checked(team, v)
}

// Decode reads the record of a team from bytes, as Read does from its file.
func (o Own[T]) Decode(team string, data []byte) (T, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return *new(T), damaged(OwnPath(team, o.Name), err)
	}
	return o.checked(team, v)
}

func (o Own[T]) checked(team string, v T) (T, error) {
	if o.Check != nil {
		if why := o.Check(team, v); why != nil {
			return *new(T), damaged(OwnPath(team, o.Name), why)
		}
	}
	return v, nil
}

// Edit changes the record of a team, one caller after the other. If change says that
// nothing changed, or fails, nothing is written.
func (o Own[T]) Edit(ctx context.Context, r *Records, team, verb string, change func(*T) (changed bool, err error)) error {
	held, err := lock.Acquire(ctx, r.dir, OwnPath(team, "locks", path.Base(o.Name)), verb, ownLimit)
	if err != nil {
		return err
	}
	defer held.Release()
	v, err := o.Read(ctx, r, team)
	if err != nil {
		return err
	}
	if changed, err := change(&v); err != nil || !changed {
		return err
	}
	return write(ctx, OwnPath(team, o.Name), v, r.dir.Write)
}
