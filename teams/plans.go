package teams

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// SubmitPlan hands in a plan of the caller, a teammate. The lead is told; the
// answer comes by mail. An open plan of the same teammate is replaced. path is the
// file that the text comes from, if any.
func (in *incoming) SubmitPlan(ctx context.Context, team, text, path string) (api.Plan, error) {
	if store.Blank(text) {
		return api.Plan{}, fault.New(fault.InvalidArgument, "the plan is empty").WithHint("leadlight plan submit TEXT, @FILE or -")
	}
	if err := checkText("plan", text); err != nil {
		return api.Plan{}, err
	}
	t, err := in.get(ctx, team)
	if err != nil {
		return api.Plan{}, err
	}
	m, err := in.sender(t)
	if err != nil {
		return api.Plan{}, err
	}
	if isLead(t, m.Name) {
		return api.Plan{}, fault.New(fault.InvalidArgument, "the lead needs nobody's approval").WithHint("a plan is handed in by a teammate: --as NAME")
	}
	var p api.Plan
	err = in.editRequests(ctx, t.Name, func(r *requests) (bool, error) {
		now := time.Now()
		for r.plan("", store.NewRequestID("plan_approval", m.AgentID, now)) != nil {
			now = now.Add(time.Millisecond)
		}
		p = api.Plan{ID: store.NewRequestID("plan_approval", m.AgentID, now), From: m.Name, Status: api.RequestOpen, Plan: text, Path: path, SubmittedAt: api.At(now)}
		r.submit(p)
		return true, nil
	})
	if err != nil {
		return api.Plan{}, err
	}
	f := store.Frame{Type: store.PlanRequest, From: m.Name, Timestamp: p.SubmittedAt.String(), PlanFilePath: path, PlanContent: text, RequestID: p.ID}
	if _, err := in.post(ctx, t, leadName(t), store.Message{From: m.Name, Text: f.Text(), Timestamp: time.Now()}); err != nil {
		return p, fmt.Errorf("the plan is kept, but the lead could not be told: %w", err)
	}
	return p, nil
}

// Plans lists the plans, oldest first; without all, those that wait for an answer.
func (in *incoming) Plans(ctx context.Context, team string, all bool) ([]api.Plan, error) {
	t, r, err := in.requestsOf(ctx, team)
	return slices.DeleteFunc(append([]api.Plan{}, r.Plans...), func(p api.Plan) bool { return !all && !awaited(t, p.From, p.Status) }), err
}

// Plan returns one plan: fault.PlanNotFound.
func (in *incoming) Plan(ctx context.Context, team, id string) (api.Plan, error) {
	t, r, err := in.requestsOf(ctx, team)
	if err != nil {
		return api.Plan{}, err
	}
	a, err := r.find(t, true, "", id)
	if err != nil {
		return api.Plan{}, err
	}
	return *a.plan, nil
}

// ResolvePlan answers a plan, as the lead: fault.NotLead, fault.PlanNotFound, and
// fault.Rejected for one that was answered before. The author gets the answer by
// mail and may hand in another plan after a rejection.
func (ap *approvals) ResolvePlan(ctx context.Context, team, id string, approve bool, feedback string) (api.Plan, error) {
	if err := ap.leadOnly("answer plans"); err != nil {
		return api.Plan{}, err
	}
	if !approve && store.Blank(feedback) {
		return api.Plan{}, fault.New(fault.InvalidArgument, "a rejection says what is to be changed").WithHint("leadlight deny ID --reason TEXT")
	}
	t, a, err := ap.resolve(ctx, team, true, id, approve, feedback)
	if err != nil {
		return api.Plan{}, err
	}
	p := *a.plan
	f := store.Frame{Type: store.PlanResponse, RequestID: id, Approved: &approve, Feedback: feedback, Timestamp: p.ResolvedAt.String()}
	if approve {
		f.PermissionMode = ap.modeAfterPlan(t, p.From)
		if err := ap.liftPlanMode(ctx, t, p.From, f.PermissionMode); err != nil {
			ap.notice(fmt.Sprintf("the plan is approved, but %s could not be started again with the permissions that it needs: %v", p.From, err))
		}
	}
	return p, ap.reply(ctx, t, a, f)
}

// modeAfterPlan is the permission mode in which a teammate carries its plan out: its
// lead's.
func (ap *approvals) modeAfterPlan(t store.Team, name string) string {
	modes := []string{ap.leadMode(t)}
	if m := t.Member(name); m != nil {
		modes = append(modes, m.Mode)
	}
	for _, mode := range modes {
		if mode != "" && mode != profiles.ModePlan {
			return mode
		}
	}
	return profiles.ModeDefault
}

// liftPlanMode gives a teammate that was in plan mode the mode in which it carries its plan
// out. That is written down first: whatever starts it again from now on goes by it. A client
// that speaks the protocol changes its mode by itself; any other agent that was started so
// that it may only read is started again, and goes on with its conversation. One of another
// machine, or of another lead, is started again by its host when that gets the answer.
func (ap *approvals) liftPlanMode(ctx context.Context, t store.Team, name, mode string) error {
	m, err := memberOf(t, name)
	if err != nil || m.Leadlight == nil || m.Leadlight.Foreign || ap.elsewhere(m) || m.Mode != profiles.ModePlan && !m.PlanModeRequired {
		return err
	}
	rec, lifted, err := ap.writePlanLifted(ctx, t, m, mode)
	if err != nil || !lifted {
		return err
	}
	if rec.Kind != profiles.Native && ap.runs(ctx, t, m) {
		_, err = ap.restart(ctx, t.Name, m.Name, nil, nil)
		return err
	}
	return ap.setMode(ctx, t, m, rec.Mode)
}

// setMode writes a teammate's permission mode into the roster.
func (rg *registry) setMode(ctx context.Context, t store.Team, m store.Member, mode string) error {
	return rg.roster.Update(ctx, t.Name, func(now *store.Team) error {
		if m := now.Member(m.Name); m != nil {
			m.Mode = mode
		}
		return nil
	})
}

// writePlanLifted writes down how a teammate that is in plan mode is run when it carries its
// plan out.
func (ap *approvals) writePlanLifted(ctx context.Context, t store.Team, m store.Member, mode string) (rec panes.LaunchRecord, lifted bool, err error) {
	release, err := ap.lockMember(ctx, t.Name, m.Name, "approve a plan")
	if err != nil {
		return rec, false, err
	}
	defer release()
	rec, err = ap.panes.Records().Launch(ctx, t.Name, m.Name)
	if err != nil || !rec.Plan && rec.Mode != profiles.ModePlan {
		return rec, false, err
	}
	p, err := ap.originOf(rec)
	if err != nil {
		return rec, false, err
	}
	if rec, err = outOfPlan(t, m, rec, p, mode); err == nil {
		err = ap.panes.Records().WriteLaunch(ctx, rec)
	}
	return rec, err == nil, err
}

// CarryOut is for the host of a teammate, the caller, that was started so that it may only
// read. If text is its lead's approval of its newest plan, it writes down how the teammate is
// run from now on; lifted is false for anything else.
func (ap *approvals) CarryOut(ctx context.Context, team, text string) (lifted bool, err error) {
	f, ok := store.ParseFrame(text)
	if !ok || f.Type != store.PlanResponse || f.Approved == nil || !*f.Approved {
		return false, nil
	}
	t, m, err := ap.find(ctx, team, ap.caller.Name)
	if err == nil {
		_, err = ap.requests(ctx, t)
	}
	if err != nil {
		return false, err
	}
	approved := false
	err = ap.editRequests(ctx, t.Name, func(r *requests) (changed bool, _ error) {
		approved, changed = r.approve(m.Name, f)
		return changed, nil
	})
	if err != nil || !approved {
		return false, err
	}
	rec, _, err := ap.writePlanLifted(ctx, t, m, cmp.Or(f.PermissionMode, ap.modeAfterPlan(t, m.Name)))
	if err == nil && m.Leadlight != nil && !m.Leadlight.Foreign {
		err = ap.setMode(ctx, t, m, rec.Mode)
	}
	return err == nil, err
}

// PlanInFull is what an agent has to know about an answer to a plan of an earlier conversation:
// what it was asked, and the plan. "" if there is no plan of the caller of before began.
func (in *incoming) PlanInFull(ctx context.Context, team, id string, began time.Time) string {
	t, m, err := in.find(ctx, team, in.caller.Name)
	if err != nil {
		return ""
	}
	r, err := in.known(ctx, t)
	p := r.plan(m.Name, id)
	if err != nil || p == nil || p.SubmittedAt == nil || time.Time(*p.SubmittedAt).After(began) {
		return ""
	}
	text := "\nThe plan: " + p.Plan
	if m.Prompt != "" {
		text = "\nYou were asked: " + m.Prompt + text
	}
	return Quoted(text)
}
