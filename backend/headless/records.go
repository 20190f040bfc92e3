package headless

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/signals"
)

// record is what is known of one pane.
type record struct {
	ID      backend.ID       `json:"id"`
	Mark    backend.Mark     `json:"mark"`
	Process signals.Identity `json:"process"`
}

const suffix = ".json"

func (b *Backend) file(id backend.ID) string { return filepath.Join(b.opt.Dir, string(id)+suffix) }

// read returns the record of a pane, whether its process runs or not.
func (b *Backend) read(id backend.ID) (record, error) {
	data, err := files.ReadFile(b.file(id), 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return record{}, gone(id)
	case err == nil:
		if err := b.private(); err != nil {
			return record{}, fmt.Errorf("read what is known of pane %s: %w", id, err)
		}
	}
	var r record
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && (r.ID != id || idOf(r.Mark) != id) {
		err = errors.New("it speaks of another pane")
	}
	if err == nil {
		err = r.Process.Check()
	}
	if err != nil {
		return record{}, fault.New(fault.BackendUnavailable, "read what is known of pane %s: %w", id, err).
			WithHint("%s is kept; leadlight ps shows whether its teammate runs", b.file(id))
	}
	return r, nil
}

func isGone(err error) bool { return errors.Is(err, backend.ErrGone) }

// write keeps a record: whole or not at all. Whoever closes the last pane removes the
// empty folder, maybe between its making and its use: then it is made again.
func (b *Backend) write(r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode pane %s: %w", r.ID, err)
	}
	if err = b.private(); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = files.ReplaceVolatile(b.file(r.ID), data)
	}
	if err != nil {
		return fmt.Errorf("note pane %s: %w", r.ID, err)
	}
	return nil
}

// forget removes a record, and the folder when it was the last one.
func (b *Backend) forget(id backend.ID) {
	_ = files.Remove(b.opt.Dir, string(id)+suffix, 0)
	_ = files.RemoveEmpty(b.opt.Dir)
}

// private checks that nobody else can write into the folder or put another one in its
// place.
func (b *Backend) private() error {
	for _, dir := range []string{filepath.Dir(b.opt.Dir), b.opt.Dir} {
		if err := files.CheckPrivate(dir); err != nil {
			return err
		}
	}
	return nil
}
