package teams

import (
	"context"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// SubmitPlan hands in a plan of the caller, a teammate. The lead is told; the
// answer comes by mail. An open plan of the same teammate is replaced. path is the
// file that the text comes from, if any.
func (s *Service) SubmitPlan(ctx context.Context, team, text, path string) (api.Plan, error) {
	if store.Blank(text) {
		return api.Plan{}, fault.New(fault.InvalidArgument, "the plan is empty").WithHint("leadlight plan submit TEXT, @FILE or -")
	}
	if err := checkText(text); err != nil {
		return api.Plan{}, err
	}
	t, err := s.get(ctx, team)
	if err != nil {
		return api.Plan{}, err
	}
	m, err := s.sender(t)
	if err != nil {
		return api.Plan{}, err
	}
	if isLead(t, m.Name) {
		return api.Plan{}, fault.New(fault.InvalidArgument, "the lead needs nobody's approval").WithHint("a plan is handed in by a teammate: --as NAME")
	}
	var p api.Plan
	err = s.editRequests(ctx, t.Name, func(r *requests) (bool, error) {
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
	if _, err := s.post(ctx, t, leadName(t), store.Message{From: m.Name, Text: f.Text(), Timestamp: time.Now()}); err != nil {
		return p, fmt.Errorf("the plan is kept, but the lead could not be told: %w", err)
	}
	return p, nil
}

// Plans lists the plans, oldest first; without all, those that wait for an answer.
func (s *Service) Plans(ctx context.Context, team string, all bool) ([]api.Plan, error) {
	t, err := s.get(ctx, team)
	if err != nil {
		return nil, err
	}
	r, err := s.requests(ctx, t)
	out := []api.Plan{}
	for _, p := range r.Plans {
		if all || p.Status == api.RequestOpen && mayTakeAnswer(t, p.From) {
			out = append(out, p)
		}
	}
	return out, err
}

// Plan returns one plan: fault.PlanNotFound.
func (s *Service) Plan(ctx context.Context, team, id string) (api.Plan, error) {
	t, err := s.get(ctx, team)
	if err != nil {
		return api.Plan{}, err
	}
	r, err := s.requests(ctx, t)
	if err != nil {
		return api.Plan{}, err
	}
	if p := r.plan("", id); p != nil {
		return *p, nil
	}
	return api.Plan{}, noPlan(t, id)
}

func noPlan(t store.Team, id string) error {
	return fault.New(fault.PlanNotFound, "team %s has no plan %q", t.Name, store.Shown(id)).WithHint("leadlight requests --all lists the plans")
}

// ResolvePlan answers a plan, as the lead: fault.NotLead, fault.PlanNotFound, and
// fault.Rejected for one that was answered before. The author gets the answer by
// mail and may hand in another plan after a rejection.
func (s *Service) ResolvePlan(ctx context.Context, team, id string, approve bool, feedback string) (api.Plan, error) {
	if err := s.leadOnly("answer plans"); err != nil {
		return api.Plan{}, err
	}
	if !approve && store.Blank(feedback) {
		return api.Plan{}, fault.New(fault.InvalidArgument, "a rejection says what is to be changed").WithHint("leadlight deny ID --reason TEXT")
	}
	if err := checkText(feedback); err != nil {
		return api.Plan{}, err
	}
	asked, err := s.Plan(ctx, team, id)
	if err != nil {
		return api.Plan{}, err
	}
	t, err := s.get(ctx, team)
	if err == nil {
		err = s.answerer(t, asked.From)
	}
	if err != nil {
		return api.Plan{}, err
	}
	var p api.Plan
	err = s.editRequests(ctx, t.Name, func(r *requests) (bool, error) {
		found := r.plan(asked.From, id)
		switch {
		case found == nil:
			return false, noPlan(t, id)
		case found.Status != api.RequestOpen:
			return false, resolved("plan", id, found.Status)
		}
		found.Status, found.Feedback, found.ResolvedAt = api.RequestRejected, feedback, api.At(time.Now())
		if approve {
			found.Status = api.RequestApproved
		}
		p = *found
		return true, nil
	})
	if err != nil {
		return api.Plan{}, err
	}
	f := store.Frame{Type: store.PlanResponse, RequestID: id, Approved: &approve, Feedback: feedback, Timestamp: p.ResolvedAt.String()}
	if approve {
		f.PermissionMode = s.modeAfterPlan(t, asked.From)
		if err := s.liftPlanMode(ctx, t, asked.From, f.PermissionMode); err != nil {
			s.notice(fmt.Sprintf("the plan is approved, but %s keeps the permissions of plan mode: %v", asked.From, err))
		}
	}
	return p, s.reply(ctx, t, asked.From, f, func(r *requests) {
		if found := r.plan(asked.From, id); found != nil {
			*found = asked
		}
	})
}

// modeAfterPlan is the permission mode in which a teammate carries its plan out: its
// lead's.
func (s *Service) modeAfterPlan(t store.Team, name string) string {
	modes := []string{s.leadMode(t)}
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
// out. A client that speaks the protocol changes it by itself; any other agent that was
// started so that it may only read is started again, and goes on with its conversation.
func (s *Service) liftPlanMode(ctx context.Context, t store.Team, name, mode string) error {
	m, err := memberOf(t, name)
	if err != nil || m.Leadlight == nil || m.Mode != profiles.ModePlan && !m.PlanModeRequired {
		return err
	}
	rec, err := s.panes.Records().Launch(ctx, t.Name, m.Name)
	if err != nil || !rec.Plan && m.Mode != profiles.ModePlan {
		return err
	}
	if p, err := s.originOf(rec); err == nil && rec.Kind != profiles.Native && len(p.PlanArgs) > 0 {
		if !p.CheckMode(mode) {
			mode = profiles.ModeDefault
		}
		next, err := s.buildModeCommand(t, m, rec, mode)
		if err != nil {
			return err
		}
		_, err = s.restart(ctx, t.Name, m.Name, &next, nil)
		return err
	}
	return s.roster.Update(ctx, t.Name, func(now *store.Team) error {
		if m := now.Member(name); m != nil {
			m.Mode = mode
		}
		return nil
	})
}
