package integration_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/fault"
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
	if !slices.Contains(way.Argv, r.tmux.Socket) {
		t.Errorf("attach: %v", way.Argv)
	}
	check, err := live.Doctor(ctx, api.DoctorParams{Fix: true})
	ok(err)
	if !check.OK || !slices.ContainsFunc(check.Checks, func(c api.Check) bool { return c.Name == "team alpha" && c.Status == "ok" }) {
		t.Errorf("doctor: %+v", check)
	}
	litter, err := live.GC(ctx, api.GCParams{DryRun: true})
	ok(err)
	if litter == nil || len(litter) != 0 {
		t.Errorf("gc: %+v", litter)
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
