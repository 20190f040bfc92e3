package scheduler

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/fault"
)

// A good record must not go out of sight because of a bad moment.
func TestOnlyAFaultyRecordIsSetAside(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{fault.New(fault.DiskFull, "write"), true},
		{errors.New("database is locked"), true},
		{syscall.ENOSPC, true},
		{fault.New(fault.InvalidArgument, "no record"), false},
		{fault.New(fault.InvalidName, "team"), false},
	} {
		if got := momentary(tc.err); got != tc.want {
			t.Errorf("%v: momentary %v", tc.err, got)
		}
	}
	path := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(path, []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readRecord(path); err == nil || momentary(err) {
		t.Errorf("half a record: %v", err)
	}
}
