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

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/fault"
)

// maxRecord bounds the record of one run, in bytes.
const maxRecord = 16 << 20

// takeIn moves the records that other processes have left into the database. One
// that is no record is set aside; one that cannot be taken in just now, because the
// disk is full or the database is busy, stays for the next time.
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
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(s.Records, e.Name())
		rec, err := readRecord(path)
		if err == nil {
			err = s.store.Import(ctx, rec)
		}
		if ctx.Err() != nil {
			return
		}
		switch {
		case err == nil:
			err = os.Remove(path)
		case !momentary(err):
			s.Log.Warn("the record of a run is set aside", "file", path, "error", err)
			err = os.Rename(path, path+".bad")
		}
		if err != nil {
			s.Log.Warn("take the record of a run in", "file", path, "error", err)
		}
	}
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
	data, err := os.ReadFile(path)
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
