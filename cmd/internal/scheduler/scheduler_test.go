package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/api/rpc/serve"
	"github.com/leadlight-dev/leadlight/teams/db"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/runs"
)

// rig is a scheduler on a new database, without teammates.
type rig struct {
	*Scheduler
	t     *testing.T
	begin func(context.Context) // its work beside the daemon's
	said  chan string           // what it logs
	holds atomic.Int64          // times that the daemon was kept from ending
}

// says is a log that a test can wait for.
type says chan string

func (s says) Write(b []byte) (int, error) {
	select {
	case s <- string(b):
	default:
	}
	return len(b), nil
}

func newRig(t *testing.T) *rig {
	t.Helper()
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), runs.Component())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	r := &rig{t: t, said: make(chan string, 100)}
	r.Scheduler = New(Options{
		DB: d, Publish: func(context.Context, []events.Event) {}, Hold: func() func() { r.holds.Add(1); return func() {} }, Beside: func(f func(context.Context)) { r.begin = f },
		Serve:    func() (*teams.Service, error) { return nil, errors.New("nobody serves") },
		Log:      slog.New(slog.NewTextHandler(says(r.said), nil)),
		Profiles: profiles.NewSet(nil), Limit: 2, Records: t.TempDir(),
	})
	return r
}

// works lets the scheduler work until the test ends.
func (r *rig) works() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); r.begin(ctx) }()
	r.t.Cleanup(func() { cancel(); <-done })
}

// hears waits for a line of the log.
func (r *rig) hears(part string) {
	r.t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case line := <-r.said:
			if strings.Contains(line, part) {
				return
			}
		case <-limit:
			r.t.Fatalf("nobody said %q", part)
		}
	}
}

func (r *rig) do(query string) {
	r.t.Helper()
	if _, err := r.DB.Exec(query); err != nil {
		r.t.Fatal(err)
	}
}

// run creates a run with an item.
func (r *rig) run() api.AgentTeamRun {
	r.t.Helper()
	t, err := r.store.CreateTeam(r.t.Context(), api.AgentTeamParams{Name: "t"})
	if err != nil {
		r.t.Fatal(err)
	}
	run, err := r.store.CreateRun(r.t.Context(), api.RunCreateParams{TeamID: t.ID, Items: []api.ItemSpec{{Title: "x", OwnerAgentRoleID: "shell"}}})
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

// underWay is a run with its one item, which shell works on.
func (r *rig) underWay() (api.AgentTeamRun, runs.ActiveItem) {
	r.t.Helper()
	run := r.run()
	_, err := r.store.Begin(r.t.Context(), run.ID)
	ready, err2 := r.store.Ready(r.t.Context(), run.ID, 1)
	if err := errors.Join(err, err2); err != nil || len(ready) != 1 {
		r.t.Fatal(ready, err)
	}
	f, err := r.store.Launch(r.t.Context(), ready[0], "shell")
	if err != nil {
		r.t.Fatal(err)
	}
	return run, f
}

// TestBeginsInTheEnd: what hinders the scheduler at its start keeps it neither from
// what is open nor from what is new for good.
func TestBeginsInTheEnd(t *testing.T) {
	r := newRig(t)
	open := r.run()
	r.do(`ALTER TABLE run_places RENAME TO away`)
	r.works()
	r.hears("tried again")
	before := r.holds.Load()
	r.created("new") // of a run that was created meanwhile
	if r.holds.Load() == before {
		t.Error("the daemon may end before it has looked at the run")
	}
	r.mu.Lock()
	if r.controllers["new"] == nil {
		t.Error("nobody carries the new run out")
	}
	r.mu.Unlock()
	r.do(`ALTER TABLE away RENAME TO run_places`)
	r.hears(open.ID) // it is looked at: nobody serves
}

// TestMethodsWithoutADatabase: what can be asked for can be said without one.
func TestMethodsWithoutADatabase(t *testing.T) {
	if list := New(Options{Beside: func(func(context.Context)) {}}).Methods(); len(list) < 20 {
		t.Errorf("%d methods", len(list))
	}
}

// TestRolesFromTheStart: the roles are there before the first request.
func TestRolesFromTheStart(t *testing.T) {
	r := newRig(t)
	for _, id := range append(profiles.NewSet(nil).Names(), runs.LeadRole) {
		if _, err := r.store.Role(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

// TestC09_UnseenTask: a task that may stand in a file which cannot be read is not
// made a second time, and is not waited for for ever.
func TestC09_UnseenTask(t *testing.T) {
	r := newRig(t)
	run, f := r.underWay()
	c := newRunController(r.Scheduler, run.ID) // without verbs: it can make no task
	snap := teams.Snapshot{Warnings: []string{"1.json was passed over"}}
	active, err := c.settle(t.Context(), run, []runs.ActiveItem{f}, snap)
	if err != nil || len(active) != 1 {
		t.Errorf("%v %v", active, err)
	}
	c.missing[f.TaskID] = time.Now().Add(-unreadable)
	active, err = c.settle(t.Context(), run, []runs.ActiveItem{f}, snap)
	it, err2 := r.store.Item(t.Context(), f.Item.ID)
	if err := errors.Join(err, err2); err != nil || len(active) != 0 || it.Status != api.ItemFailed || !strings.Contains(it.ResultSummary, "1.json was passed over") {
		t.Errorf("%v %+v %v", active, it, err)
	}
	c.missing[f.TaskID] = time.Now()
	if wait, err := c.unseen(f, &api.Task{}, snap.Warnings); wait || err != nil || len(c.missing) != 0 {
		t.Errorf("it is found again: %v %v", wait, err)
	}
}

// TestC09_NotLostOverItWhileItStarts: a teammate that a daemon of before was starting gets its
// item when it is up. Until then it may come to nothing, and that is no attempt at the item.
func TestC09_NotLostOverItWhileItStarts(t *testing.T) {
	r := newRig(t)
	run, f := r.underWay()
	c := newRunController(r.Scheduler, run.ID) // without verbs: it can hand out no task
	snap := teams.Snapshot{Members: []api.Member{{Name: "shell", State: api.StateStarting}}}
	if active, err := c.settle(t.Context(), run, []runs.ActiveItem{f}, snap); err != nil || len(active) != 1 {
		t.Errorf("%v %v", active, err)
	}
}

// TestAMomentIsNobodysEnd: what the next look may not meet ends neither a run nor an
// item.
func TestAMomentIsNobodysEnd(t *testing.T) {
	r := newRig(t)
	run := r.run()
	c := newRunController(r.Scheduler, run.ID)
	for _, code := range []fault.Code{fault.LockTimeout, fault.DiskFull, fault.SpawnFailed} {
		ends := code == fault.SpawnFailed
		if err := c.fail(t.Context(), fault.New(code, "x")); (err == nil) != ends {
			t.Errorf("%s: %v", code, err)
		}
		if now, err := r.store.Run(t.Context(), run.ID); err != nil || now.Final() != ends {
			t.Errorf("%s: %+v %v", code, now, err)
		}
	}
}

// TestTroubleHoldsNoDaemon: a daemon that nobody needs may end though a run is in
// trouble that does not pass.
func TestTroubleHoldsNoDaemon(t *testing.T) {
	r := newRig(t)
	c := newRunController(r.Scheduler, "x")
	c.hold(true)
	for i, held := range []bool{true, false, false} {
		if c.trouble(t.Context(), errors.New("the roster is damaged")); (c.release != nil) != held {
			t.Errorf("after look %d: held %v", i+1, !held)
		}
	}
}

// TestC06_NoListenerIsLeft: whoever cannot be told any more is no subscriber.
func TestC06_NoListenerIsLeft(t *testing.T) {
	r := newRig(t)
	var peer *rpc.Peer
	server, err := serve.New([]rpc.Method{rpc.Func("me", "x", func(ctx context.Context, _ rpc.Nothing) (rpc.Nothing, error) {
		peer = rpc.PeerOf(ctx)
		return rpc.Nothing{}, nil
	})}, r.Log)
	if err != nil {
		t.Fatal(err)
	}
	here, there := net.Pipe()
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(context.Background(), there) }()
	client := rpc.NewClient(here)
	if err := client.Call(t.Context(), "me", nil, nil); err != nil {
		t.Fatal(err)
	}
	client.Close()
	<-served
	for what, loaded := range map[string][]api.TeamRunEvent{"what was there": {{Type: api.EvRunLoaded}}, "what happens": nil} {
		sub := r.bus.Subscribe(1)
		r.bus.Publish(api.TeamRunEvent{Type: api.EvRunUpdated})
		r.serveSubscriber(peer, api.TeamRunFilter{}, loaded, sub)
		closed := false
		for range 2 { // the event may be there still
			select {
			case _, more := <-sub.C:
				closed = !more
			default:
			}
		}
		if !closed {
			t.Errorf("told of %s, it listens on", what)
		}
	}
}
