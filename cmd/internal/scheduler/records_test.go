package scheduler

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
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

// TestNoRecordIsLost: whatever goes wrong while a record is taken in, it stays, and so
// does a later one that is left ignoreChanged.
func TestNoRecordIsLost(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(r.Records, "r1.json")
	leave := func(status string) {
		t.Helper()
		rec := fmt.Sprintf(`{"id":"r1","team":"t","status":%q,"startedAt":1,"members":[],"tasks":[]}`, status)
		if err := os.WriteFile(path, []byte(rec), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	status := func(want string) {
		t.Helper()
		if run, err := r.store.Run(t.Context(), "r1"); err != nil || run.Status != want {
			t.Errorf("the run is %q, want %q: %v", run.Status, want, err)
		}
	}
	leave(api.RunRunning)
	r.do(`ALTER TABLE run_places RENAME TO away`)
	r.takeIn(t.Context())
	r.do(`ALTER TABLE away RENAME TO run_places`)
	r.takeIn(t.Context())
	status(api.RunRunning)

	leave(api.RunPaused)
	busy, err := r.DB.BeginTx(t.Context(), nil) // nobody else can write
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); r.takeIn(t.Context()) }()
	for limit := time.After(time.Minute); ; {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			break
		}
		select {
		case <-limit:
			t.Fatal("it is not being taken in")
		case <-time.After(time.Millisecond):
		}
	}
	leave(api.RunCompleted)
	if err := busy.Rollback(); err != nil {
		t.Fatal(err)
	}
	<-done
	status(api.RunPaused)
	r.takeIn(t.Context())
	status(api.RunCompleted)

	if err := os.WriteFile(path, []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.takeIn(t.Context())
	if left, err := os.ReadDir(r.Records); err != nil || len(left) != 1 || left[0].Name() != "r1.json.bad" {
		t.Errorf("left are %v: %v", left, err)
	}
}
