package teams_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
)

// TestXD04_DeleteWaitsForAHostThatGoes: a host that has written its end down, and that its roster
// has forgotten, still runs for a moment. The team is deleted all the same.
func TestXD04_DeleteWaitsForAHostThatGoes(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", stopped("eve"))
	rec := panes.HostRecord{Host: uuid.NewString(), Process: signals.Identity{PID: 4242, Start: 1, Boot: "b"}, StartedAt: time.Now(), Ended: &panes.ExitRecord{State: "stopped", At: time.Now()}}
	rec.Socket = panes.NewManager(panes.Options{Base: d.base, Runtime: d.base}).SocketPath("alpha", "ann")
	if err := panes.NewRecords(d.fs.Dir()).WriteHost(t.Context(), "alpha", "ann", rec); err != nil {
		t.Fatal(err)
	}
	if err := lock.Make(d.fs.Dir(), panes.HostLock("alpha", "ann")); err != nil {
		t.Fatal(err)
	}
	held, err := lock.Try(d.fs.Dir(), panes.HostLock("alpha", "ann"), "host")
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	svc := d.as("")
	synctest.Test(t, func(t *testing.T) {
		defer time.AfterFunc(time.Second, held.Release).Stop()
		if err := svc.DeleteTeam(t.Context(), "alpha", teams.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}
