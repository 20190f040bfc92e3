package teams

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// maxResolved is how many resolved requests of each sort are kept.
const maxResolved = 200

// requests are the plans and the requests for permission of a team, oldest first.
type requests struct {
	Plans       []api.Plan       `json:"plans"`
	Permissions []api.Permission `json:"permissions"`
}

// requests returns what the ledger holds, after what is new in the lead's box has
// been added to it.
func (in *incoming) requests(ctx context.Context, t store.Team) (requests, error) {
	msgs, err := in.mail.List(ctx, t.Name, leadName(t))
	if err != nil {
		return requests{}, fmt.Errorf("read the inbox of the lead: %w", err)
	}
	known, err := in.keepRequests(ctx, t, msgs)
	if err != nil || t.Engine == "" {
		return known, err
	}
	return in.answeredElsewhere(ctx, t, known)
}

// requestsOf returns a team by its name, with its requests.
func (in *incoming) requestsOf(ctx context.Context, team string) (t store.Team, r requests, err error) {
	if t, err = in.get(ctx, team); err == nil {
		r, err = in.requests(ctx, t)
	}
	return t, r, err
}

// keepRequests returns what the ledger holds, after what is new in messages to the
// lead has been added to it.
func (in *incoming) keepRequests(ctx context.Context, t store.Team, msgs []store.Message) (requests, error) {
	known, err := in.known(ctx, t)
	if err != nil || !known.add(t, msgs) {
		return known, err
	}
	err = in.editRequests(ctx, t.Name, func(r *requests) (bool, error) {
		added := r.add(t, msgs)
		known = *r
		return added, nil
	})
	return known, err
}

// known is what the ledger holds.
func (in *incoming) known(ctx context.Context, t store.Team) (requests, error) {
	r, err := requestsRecord().Read(ctx, in.panes.Records(), t.Name)
	if err != nil {
		return requests{}, fmt.Errorf("read the requests of team %s: %w", t.Name, err)
	}
	return r, nil
}

func (in *incoming) editRequests(ctx context.Context, team string, change func(*requests) (bool, error)) error {
	err := requestsRecord().Edit(ctx, in.panes.Records(), team, "write requests", func(r *requests) (bool, error) {
		changed, err := change(r)
		r.Plans = trimmed(r.Plans, func(p api.Plan) bool { return p.Status == api.RequestOpen })
		r.Permissions = trimmed(r.Permissions, func(p api.Permission) bool { return p.Status == api.RequestOpen })
		return changed, err
	})
	switch fault.CodeOf(err) {
	case fault.Rejected, fault.PlanNotFound, fault.RequestNotFound, fault.RecipientInactive, fault.RecipientNotFound:
		return err // it says itself what is wrong
	}
	if err != nil {
		return fmt.Errorf("write the requests of team %s: %w", team, err)
	}
	return nil
}

// trimmed drops the oldest of those that are not open.
func trimmed[T any](all []T, open func(T) bool) []T {
	over := -maxResolved
	for _, x := range all {
		if !open(x) {
			over++
		}
	}
	return slices.DeleteFunc(all, func(x T) bool {
		if over <= 0 || open(x) {
			return false
		}
		over--
		return true
	})
}

// add takes the requests among messages in that are not known. One whose sender is
// no member, or another than the message's, is no request.
func (r *requests) add(t store.Team, msgs []store.Message) (added bool) {
	for _, m := range msgs {
		f, ok := store.ParseFrame(m.Text)
		asker := t.Member(m.From)
		if !ok || f.RequestID == "" || wrongFrame(t, m) != "" || asker == nil {
			continue
		}
		at := api.At(m.Timestamp)
		switch f.Type {
		case store.PlanRequest:
			if r.plan(asker.Name, f.RequestID) == nil {
				r.submit(api.Plan{ID: f.RequestID, From: asker.Name, Status: api.RequestOpen, Plan: f.PlanContent, Path: f.PlanFilePath, SubmittedAt: at})
				added = true
			}
		case store.PermissionRequest, store.SandboxRequest:
			if r.permission(asker.Name, f.RequestID) == nil {
				r.Permissions = append(r.Permissions, permissionOf(asker.Name, f, at))
				added = true
			}
		}
	}
	return added
}

// permissionOf is a request to use a tool, or to reach a host from a sandbox.
func permissionOf(from string, f store.Frame, at *api.Time) api.Permission {
	p := api.Permission{
		ID: f.RequestID, From: from, Status: api.RequestOpen, Tool: f.ToolName, ToolUseID: f.ToolUseID,
		Description: f.Description, Input: f.Input, RequestedAt: at,
	}
	if f.Type == store.SandboxRequest && f.HostPattern != nil {
		p.Tool, p.Host, p.Description = "network", f.HostPattern.Host, "reach "+f.HostPattern.Host
	}
	return p
}

// submit adds a plan, in the place of an open one of the same author.
func (r *requests) submit(p api.Plan) {
	for i := range r.Plans {
		if old := &r.Plans[i]; old.Status == api.RequestOpen && store.SameName(old.From, p.From) {
			old.Status, old.ResolvedAt = api.RequestReplaced, p.SubmittedAt
		}
	}
	r.Plans = append(r.Plans, p)
}

// approve notes that the lead has approved, by f, the newest plan of a teammate. ok is false
// if it is about another plan, or about one that was replaced or rejected.
func (r *requests) approve(from string, f store.Frame) (ok, changed bool) {
	for i := range slices.Backward(r.Plans) {
		p := &r.Plans[i]
		if !store.SameName(p.From, from) {
			continue
		}
		if p.ID != f.RequestID || p.Status != api.RequestOpen && p.Status != api.RequestApproved {
			return false, false
		}
		if changed = p.Status == api.RequestOpen; changed {
			p.Status, p.Feedback, p.ResolvedAt = api.RequestApproved, f.Feedback, api.At(time.Now())
		}
		return true, changed
	}
	return false, false
}

// closeRequests closes what a teammate waited for that has ended: who is started in its place
// has asked nothing, and one that goes on with its conversation waits for its plan alone.
func (in *incoming) closeRequests(ctx context.Context, t store.Team, name string, goesOn bool) error {
	all, err := in.requests(ctx, t)
	if err != nil {
		return err
	}
	_, err = in.closeThose(ctx, t, all, func(a asked) (status, said string) {
		if !store.SameName(a.from, name) || a.plan != nil && goesOn {
			return "", ""
		}
		return api.RequestReplaced, ""
	})
	return err
}

// CloseQuestions closes the open requests for permission of the caller, whose agent has ended
// and is started again.
func (in *incoming) CloseQuestions(ctx context.Context, team string) error {
	t, m, err := in.find(ctx, team, in.caller.Name)
	if err != nil {
		return err
	}
	return in.closeRequests(ctx, t, m.Name, true)
}

// cannotTake says why an answer has no use: who asked has ended.
func (in *incoming) cannotTake(t store.Team, from string) error {
	m := t.Member(from)
	if m == nil {
		return fault.New(fault.RecipientNotFound, "%s has left team %s: nobody would carry the answer out", store.Shown(from), t.Name)
	}
	return fault.New(fault.RecipientInactive, "teammate %s is stopped: nobody would carry the answer out", m.Name).WithHint("%s", in.howToStart(t, *m))
}

// awaited tells whether a request of somebody still waits for an answer.
func awaited(t store.Team, from, status string) bool {
	return status == api.RequestOpen && mayTakeAnswer(t, from)
}

// mayTakeAnswer tells whether whoever asked is there, or may be started again and go on.
func mayTakeAnswer(t store.Team, from string) bool {
	m := t.Member(from)
	return m != nil && (m.Leadlight == nil || m.Leadlight.State != api.StateStopped)
}

// answerer refuses everybody but the lead, and also the lead where the answer
// would pass for one of another lead.
func (in *incoming) answerer(t store.Team, from string) error {
	if err := in.leadOnly("answer for the lead"); err != nil {
		return err
	}
	if !isLead(t, in.caller.Name) {
		return fault.New(fault.NotLead, "%s may not answer for the lead", store.Shown(in.caller.Name)).WithHint("leave --as out")
	}
	if m := t.Member(from); m != nil && in.impersonatesLead(t, *m) {
		return fault.New(fault.NotLead, "teammate %s was started by Claude Code, whose own lead answers it", m.Name)
	}
	return nil
}

// reply sends the lead's answer, and marks the request as read. If it cannot be sent, the
// request is open again.
func (in *incoming) reply(ctx context.Context, t store.Team, to asked, f store.Frame) error {
	msg := store.Message{From: store.Lead, Text: f.Text(), Timestamp: time.Now()}
	if t.Engine != "" {
		msg.ID = answerID(f.RequestID)
	}
	_, err := in.post(ctx, t, to.from, msg)
	if err == nil && t.Engine != "" {
		err = in.first(ctx, t, to.from, f)
	}
	if err != nil {
		undone := in.editRequests(context.WithoutCancel(ctx), t.Name, func(r *requests) (bool, error) {
			found, err := r.find(t, to.plan != nil, to.from, to.id)
			if err == nil {
				found.set(api.RequestOpen, "", nil)
			}
			return err == nil, nil
		})
		if undone != nil {
			err = fmt.Errorf("%w; and %w", err, undone)
		}
		return fmt.Errorf("answer %s: %w", to.from, err)
	}
	if !t.LedByUs() {
		return nil
	}
	msgs, err := in.mail.List(ctx, t.Name, leadName(t))
	if err != nil {
		return nil // the answer is sent; what is unread is only seen twice
	}
	for _, m := range msgs {
		if asked, ok := store.ParseFrame(m.Text); ok && asked.RequestID == f.RequestID && !m.Read {
			_ = in.mail.MarkRead(ctx, t.Name, leadName(t), []string{m.ID})
		}
	}
	return nil
}
