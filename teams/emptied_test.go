package teams

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// TestXH03_ForgottenAndFarTogether: whom an emptied roster has forgotten, but whose host runs
// here, is stopped together with one of another machine.
func TestXH03_ForgottenAndFarTogether(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	mem, ctx := memory.New(), t.Context()
	team := store.Team{Name: "alpha", Ours: store.Ours{Schema: store.Schema}, Members: []store.Member{{Name: store.Lead}, {Name: "far", Leadlight: &store.Bookkeeping{Machine: "hub"}}}}
	if err := mem.Roster().Create(ctx, team); err != nil {
		t.Fatal(err)
	}
	manager := panes.NewManager(panes.Options{Dir: dir, Base: dir.Path(), Runtime: t.TempDir()})
	launched := panes.LaunchRecord{Host: uuid.NewString(), Team: "alpha", Agent: "ann", Kind: profiles.Plain, Dir: dir.Path(), Socket: manager.SocketPath("alpha", "ann"), Backend: "headless"}
	launched.EnvFile = filepath.Join(filepath.Dir(launched.Socket), "env-"+launched.Host)
	if err := manager.Records().WriteLaunch(ctx, launched); err != nil {
		t.Fatal(err)
	}
	if err := lock.Make(dir, panes.HostLock("alpha", "ann")); err != nil {
		t.Fatal(err)
	}
	held, err := lock.Try(dir, panes.HostLock("alpha", "ann"), "host")
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	t.Cleanup(held.Release)
	s := New(Config{Roster: mem.Roster(), Mail: mem.Mail(), Tasks: mem.Tasks(), Panes: manager, Machine: "desk", Machines: answering(func(context.Context) error { return nil })})
	r, there, err := s.picked(ctx, "alpha", []string{"far", "ann"}, StopOptions{})
	if err != nil || len(r.members) != 1 || r.members[0].Name != "ann" || len(there["hub"]) != 1 {
		t.Errorf("%+v, %v, %v", r, there, err)
	}
}
