package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// dial starts a daemon and speaks to it.
func (r *rig) dial() *rpc.Client {
	r.t.Helper()
	c, err := rpc.Dial(r.t.Context(), into[api.DaemonStatus](r, "daemon", "start").Socket)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close(); r.must("daemon", "stop") })
	return c
}

// TestAPILead: a program leads a team by the daemon alone.
func TestAPILead(t *testing.T) {
	t.Parallel()
	r := newRig(t, "160x50")
	c := r.dial()
	live, ctx := c.Live(), t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error, code fault.Code) {
		t.Helper()
		if fault.CodeOf(err) != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	_, err := live.TeamCreate(ctx, api.TeamCreateParams{Name: "alpha", Description: "by a program"})
	ok(err)
	spec := api.SpawnParams{Name: "bob", Command: []string{"sh", "-c", "pwd; exec sleep 1000"}}
	_, err = live.Spawn(ctx, spec)
	refused(err, fault.InvalidArgument) // nobody said where, and where the daemon is means nothing
	spec.Cwd = "work"
	_, err = live.Spawn(ctx, spec)
	refused(err, fault.InvalidArgument)
	spec.Cwd = r.path("work")
	bob, err := live.Spawn(ctx, spec)
	ok(err)
	if bob.Cwd != spec.Cwd || bob.State != api.StateActive {
		t.Errorf("spawn: %+v", bob)
	}
	plan, err := live.PlanSubmit(ctx, api.PlanSubmitParams{Scope: api.Scope{As: "bob"}, Text: "first this"})
	ok(err)
	_, err = live.PlanReject(ctx, api.RequestParams{ID: plan.ID})
	refused(err, fault.InvalidArgument)
	_, err = live.PlanApprove(ctx, api.RequestParams{ID: plan.ID, Text: "go on"})
	ok(err)
	plan, err = live.PlanShow(ctx, api.RequestParams{ID: plan.ID})
	ok(err)
	open, err := live.PlanLs(ctx, api.AllParams{})
	ok(err)
	if plan.Status != api.RequestApproved || len(open) != 0 {
		t.Errorf("the plan is %+v, open are %+v", plan, open)
	}
	asked, err := live.PermissionLs(ctx, api.AllParams{All: true})
	ok(err)
	if asked == nil || len(asked) != 0 {
		t.Errorf("permissions: %+v", asked)
	}
	_, err = live.PermissionAllow(ctx, api.RequestParams{ID: "none"})
	refused(err, fault.RequestNotFound)
	_, err = live.PermissionDeny(ctx, api.RequestParams{ID: "none", Text: "no"})
	refused(err, fault.RequestNotFound)
	_, err = live.PermissionMode(ctx, api.ModeParams{Name: "bob", Mode: "plan"})
	refused(err, fault.Unsupported)
	mode, err := live.Delegate(ctx, api.DelegateParams{Delegate: true})
	ok(err)
	if !mode.Delegate || mode.Team != "alpha" {
		t.Errorf("delegate: %+v", mode)
	}
	apiCare(t, r, live, ok, refused)
}

// apiCare is the part of TestAPILead that looks after what is there.
func apiCare(t *testing.T, r *rig, live rpc.Live, ok func(error), refused func(error, fault.Code)) {
	ctx := t.Context()
	refused(live.Focus(ctx, api.NameParams{Name: "bob"}), fault.BackendUnavailable) // no terminal shows that server
	refused(live.Focus(ctx, api.NameParams{Name: "eve"}), fault.MemberNotFound)
	way, err := live.Attach(ctx, api.AttachParams{})
	ok(err)
	// The daemon serves others too: it is inside nobody's tmux, and opens panes on our own server.
	if !slices.Contains(way.Argv, r.path("run", "leadlight", "tmux")) {
		t.Errorf("attach: %v", way.Argv)
	}
	check, err := live.Doctor(ctx, api.DoctorParams{Fix: true})
	ok(err)
	if !check.OK || !slices.ContainsFunc(check.Checks, func(c api.Check) bool { return c.Name == "team alpha" && c.Status == "ok" }) {
		t.Errorf("doctor: %+v", check)
	}
	orphans, err := live.GC(ctx, api.GCParams{DryRun: true})
	ok(err)
	if orphans == nil || len(orphans) != 0 {
		t.Errorf("gc: %+v", orphans)
	}
	mine, err := live.Takeover(ctx, api.TakeoverParams{})
	ok(err)
	if !slices.Contains(mine.Adopted, "bob") {
		t.Errorf("takeover: %+v", mine)
	}
	logs, err := live.Logs(ctx, api.CaptureParams{Name: "bob"})
	ok(err)
	if !strings.Contains(logs.Text, r.path("work")) {
		t.Errorf("logs: %q", logs.Text)
	}
	end, err := live.Down(ctx, api.StopParams{})
	ok(err)
	if !end.OK {
		t.Errorf("down: %+v", end)
	}
}

// TestM02_M23_M24_TeammateByItsHandle: a teammate runs in a session of its own; by its
// name a program sends it mail, sees whether it lives and what it does, and asks for
// its end.
func TestM02_M23_M24_TeammateByItsHandle(t *testing.T) {
	t.Parallel()
	r := newRig(t, "160x50")
	r.team("alpha")
	c := r.dial()
	live, ctx := c.Live(), t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	see := func(state string) (m api.Member) {
		t.Helper()
		r.eventually("it is "+state, func() bool {
			list, err := live.Ps(ctx, api.PsParams{All: true})
			ok(err)
			m = list[0]
			return len(list) == 1 && m.State == state
		})
		return m
	}
	command := []string{"sh", "-c", "until test -e go; do sleep 0.05; done"}
	_, err := live.Spawn(ctx, api.SpawnParams{Name: "bob", Agent: "shell", Command: command, Cwd: r.path("work")})
	ok(err)
	if m := see(api.StateIdle); !m.Live() {
		t.Errorf("idle: %+v", m)
	}
	_, err = live.TaskAdd(ctx, api.TaskAddParams{Subject: "wait", Owner: "bob"})
	ok(err)
	busy := see(api.StateActive)
	r.eventually("its command runs", func() bool {
		busy = see(api.StateActive)
		return busy.PID != hostRecord(r, "alpha", "bob").Process.PID
	})
	table, err := signals.Snapshot()
	ok(err)
	agent, found := table.Find(busy.PID)
	host, hosted := table.Find(hostRecord(r, "alpha", "bob").Process.PID)
	self, _ := table.Find(os.Getpid())
	if !found || !hosted || agent.SID != agent.PID || agent.SID == host.SID || host.SID == self.SID {
		t.Errorf("the sessions are %d of the agent %d, %d of its host and %d of ours", agent.SID, busy.PID, host.SID, self.SID)
	}
	sent, err := live.Send(ctx, api.SendParams{To: "bob", Text: "hurry"})
	ok(err)
	box, err := live.Inbox(ctx, api.InboxParams{Name: "bob"})
	ok(err)
	if len(box) != 1 || box[0].ID != sent.ID || box[0].Text != "hurry" {
		t.Errorf("its inbox: %+v", box)
	}
	ok(os.WriteFile(r.path("work", "go"), nil, 0o600))
	see(api.StateIdle)
	end, err := live.Stop(ctx, api.StopParams{Names: []string{"bob"}, Reason: "done"})
	ok(err)
	if len(end.Members) != 1 || end.Members[0].Outcome != api.Approved || end.Members[0].RequestID == "" {
		t.Errorf("stop: %+v", end)
	}
	if m := see(api.StateStopped); m.Live() {
		t.Errorf("stopped: %+v", m)
	}
}

// TestCR04_StaleDaemon: the daemon was killed, its socket and its lock lie about, and
// its number belongs to another process. Of many that are started at once, one wins.
func TestCR04_StaleDaemon(t *testing.T) {
	t.Parallel()
	r := newRig(t, "160x50")
	r.team("alpha")
	first := into[api.DaemonStatus](r, "daemon", "start")
	id, err := signals.Identify(first.PID)
	if err = errors.Join(err, id.Signal(syscall.SIGKILL), id.Wait(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(first.Socket); err != nil {
		t.Fatalf("its socket is gone: %v", err)
	}
	locks, err := filepath.Glob(r.path("home", "leadlight", "[!.]*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("locks: %v, %v", locks, err)
	}
	claim, err := os.ReadFile(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	claim = bytes.ReplaceAll(claim, []byte(strconv.Itoa(first.PID)), []byte(strconv.Itoa(os.Getpid())))
	if err := os.WriteFile(locks[0], claim, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := r.run("daemon", "status"); res.exit != 1 || !strings.Contains(res.err, "no daemon runs") {
		t.Errorf("status: exit %d, %s", res.exit, res.err)
	}
	starts := []*running{}
	for range 6 {
		starts = append(starts, r.start(nil, "daemon", "start", "--json"))
	}
	pids := map[int]int{}
	for _, run := range starts {
		res := run.wait()
		var s api.DaemonStatus
		if err := json.Unmarshal([]byte(res.out), &s); err != nil || res.exit != 0 {
			t.Errorf("start: exit %d, %s%s", res.exit, res.out, res.err)
		}
		pids[s.PID]++
	}
	if len(pids) != 1 || pids[first.PID] > 0 || pids[0] > 0 {
		t.Errorf("daemons: %v, the first was %d", pids, first.PID)
	}
	last, err := signals.Identify(into[api.DaemonStatus](r, "daemon", "start").PID)
	if err = errors.Join(err, last.Signal(syscall.SIGKILL), last.Wait(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(r.path("base"), 0o777); err != nil {
		t.Fatal(err)
	}
	r.must("doctor", "--fix")
	if _, err := os.Lstat(first.Socket); err == nil {
		t.Error("doctor --fix leaves the socket of a daemon that is gone")
	}
	if fi, err := os.Stat(r.path("base")); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("doctor --fix lets others write: %v, %v", fi.Mode(), err)
	}
}
