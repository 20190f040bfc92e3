package teams

import (
	"context"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// A team on an engine is led from several machines, each of which keeps a ledger of its own.
// What they share is the answer itself, in the mailbox of who has asked: the first one counts.

// answerID is the id of the one answer to a request.
func answerID(request string) string { return "answer-" + request }

// answer is the lead's answer to a request, nil for none.
func (in *incoming) answer(ctx context.Context, t store.Team, to, request string) (*store.Frame, error) {
	msgs, err := in.mail.List(ctx, t.Name, to)
	if err != nil {
		return nil, fmt.Errorf("read the inbox of %s: %w", to, err)
	}
	for _, m := range msgs {
		if f, ok := store.ParseFrame(m.Text); ok && m.ID == answerID(request) && fromLead(t, m) {
			return &f, nil
		}
	}
	return nil, nil
}

// answeredElsewhere closes those of the open requests that were answered on another machine.
func (in *incoming) answeredElsewhere(ctx context.Context, t store.Team, known requests) (requests, error) {
	answers := map[[2]string]*store.Frame{} // by who has asked, and the request
	var err error
	look := func(from, id, status string) {
		if status == api.RequestOpen && err == nil {
			answers[[2]string{from, id}], err = in.answer(ctx, t, from, id)
		}
	}
	for _, p := range known.Plans {
		look(p.From, p.ID, p.Status)
	}
	for _, p := range known.Permissions {
		look(p.From, p.ID, p.Status)
	}
	closed := func(r *requests) (changed bool) {
		for i := range r.Plans {
			p := &r.Plans[i]
			if f := answers[[2]string{p.From, p.ID}]; f != nil && p.Status == api.RequestOpen {
				p.Status, p.Feedback, p.ResolvedAt, changed = verdict(f), f.Feedback, api.At(time.Now()), true
			}
		}
		for i := range r.Permissions {
			p := &r.Permissions[i]
			if f := answers[[2]string{p.From, p.ID}]; f != nil && p.Status == api.RequestOpen {
				p.Status, p.Reason, p.ResolvedAt, changed = verdict(f), f.Error, api.At(time.Now()), true
			}
		}
		return changed
	}
	if err != nil || !closed(&known) {
		return known, err
	}
	return known, in.editRequests(ctx, t.Name, func(r *requests) (bool, error) { return closed(r), nil })
}

// verdict is what an answer makes of a request.
func verdict(f *store.Frame) string {
	yes := f.Subtype == store.PermissionSuccess
	for _, said := range []*bool{f.Approved, f.Allow} {
		yes = yes || said != nil && *said
	}
	if yes {
		return api.RequestApproved
	}
	return api.RequestRejected
}

// first tells whether an answer that was sent is the one that counts.
func (in *incoming) first(ctx context.Context, t store.Team, to string, f store.Frame) error {
	said, err := in.answer(ctx, t, to, f.RequestID)
	if err != nil || said == nil || verdict(said) == verdict(&f) {
		return nil // one that was handed over and archived meanwhile was there
	}
	return fault.New(fault.Rejected, "request %s was %s already, on another machine", store.Shown(f.RequestID), verdict(said)).WithHint("its author may ask again")
}
