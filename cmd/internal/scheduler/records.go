package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// maxRecord bounds the record of one run, in bytes.
const maxRecord = 16 << 20

// taken is put behind the name of a record that is being taken in: a later one of the
// same run has its own name then, and is not lost with it.
const taken = ".taken"

// takeIn moves the records that other processes have left into the database. One
// that is no record is set aside; one that cannot be taken in just now, because the
// disk is full or the database is busy, stays for the next time, or until a later one
// of the same run comes.
func (s *Scheduler) takeIn(ctx context.Context) {
	s.taking.Lock() // two would fight over a file
	defer s.taking.Unlock()
	entries, err := os.ReadDir(s.Records)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Log.Warn("look for the records of runs", "error", err)
		}
		return
	}
	paths := map[string]bool{} // without taken
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), taken); strings.HasSuffix(name, ".json") && e.Type().IsRegular() {
			paths[filepath.Join(s.Records, name)] = true
		}
	}
	for path := range paths {
		if err := s.takeInOne(ctx, path); err != nil && ctx.Err() == nil {
			s.Log.Warn("take the record of a run in", "file", path, "error", err)
		}
	}
}

func (s *Scheduler) takeInOne(ctx context.Context, path string) error {
	if err := os.Rename(path, path+taken); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	rec, err := readRecord(path + taken)
	if err == nil {
		err = s.store.Import(ctx, rec)
	}
	switch {
	case err == nil:
		return files.Remove(s.Records, filepath.Base(path)+taken, 0)
	case ctx.Err() == nil && !momentary(err):
		s.Log.Warn("the record of a run is set aside", "file", path+".bad", "error", err)
		return os.Rename(path+taken, path+".bad")
	}
	return err
}

// momentary tells whether the moment is to blame, or may be, and not the record. What
// has no code of its own, as a busy database, is fault.Failed.
func momentary(err error) bool {
	return slices.Contains([]fault.Code{fault.DiskFull, fault.PermissionDenied, fault.LockTimeout, fault.Timeout, fault.Failed}, fault.CodeOf(err))
}

func readRecord(path string) (rec api.RunRecord, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return rec, err
	}
	if info.Size() > maxRecord {
		return rec, fault.New(fault.LimitReached, "it has %d bytes", info.Size())
	}
	data, err := files.ReadFile(path, 0)
	if err != nil {
		return rec, err
	}
	if err := json.Unmarshal(data, &rec); err != nil {
		return rec, fault.New(fault.InvalidArgument, "it is no record: %w", err)
	}
	return rec, nil
}

// taking is a method that knows what other processes have left.
func taking[P, R any](s *Scheduler, f func(context.Context, P) (R, error)) func(context.Context, P) (R, error) {
	return func(ctx context.Context, p P) (R, error) {
		s.takeIn(ctx)
		return f(ctx, p)
	}
}
