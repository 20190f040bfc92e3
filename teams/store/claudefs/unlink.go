package claudefs

import (
	"context"
	"io/fs"
	"path"
	"strconv"

	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// isLink tells whether a task's file is a link. It is not followed; to delete the
// task is to remove the link.
func (t tasks) isLink(p *place, id string) (bool, error) {
	if store.IDNumber(id) < 0 {
		return false, store.NoTask(p.team, id)
	}
	info, err := t.f.dir.Lstat(taskFile(p, id).name)
	if missing(err) {
		return false, store.NoTask(p.team, id)
	}
	return err == nil && info.Mode()&fs.ModeSymlink != 0, err
}

// raise makes sure that the high-water mark is no lower than id.
func (t tasks) raise(ctx context.Context, p *place, id int64) error {
	mark, err := t.f.dir.Prepare(path.Join(listDir(p), highWaterFile), []byte(strconv.FormatInt(id, 10)))
	if err != nil {
		return err
	}
	defer mark.Discard()
	folder, err := lock.Folder(ctx, t.f.dir, path.Join(listDir(p), ".lock"), t.f.opts.LockTimeout)
	if err != nil {
		return err
	}
	now, _, err := t.f.waterMark(p)
	if err == nil && now < id {
		err = mark.Swap()
	}
	folder.Release()
	if err != nil {
		return err
	}
	return mark.Sync()
}

// unlink removes the file of a task.
func (t tasks) unlink(ctx context.Context, p *place, id string) error {
	held, err := t.f.lock(ctx, p.team, taskLock(id), "delete task")
	if err != nil {
		return err
	}
	defer held.Release()
	folder, err := lock.Folder(ctx, t.f.dir, taskFile(p, id).name, t.f.opts.LockTimeout)
	if err != nil {
		return err
	}
	err = t.f.dir.Remove(taskFile(p, id).name)
	folder.Release()
	if err != nil {
		return err
	}
	return t.f.dir.Sync(listDir(p))
}
