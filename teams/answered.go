package teams

import (
	"cmp"
	"context"
	"fmt"

	"github.com/leadlight-dev/leadlight/internal/fault"
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
	for _, a := range known.all() {
		if !a.open() {
			continue
		}
		f, err := in.answer(ctx, t, a.from, a.id)
		if err != nil {
			return known, err
		}
		answers[[2]string{a.from, a.id}] = f
	}
	return in.closeThose(ctx, t, known, func(a asked) (status, said string) {
		f := answers[[2]string{a.from, a.id}]
		if f == nil {
			return "", ""
		}
		return verdict(f), cmp.Or(f.Feedback, f.Error)
	})
}

// verdict is what an answer makes of a request.
func verdict(f *store.Frame) string {
	yes := f.Subtype == store.PermissionSuccess
	for _, said := range []*bool{f.Approved, f.Allow} {
		yes = yes || said != nil && *said
	}
	return decided(yes)
}

// first tells whether an answer that was sent is the one that counts.
func (in *incoming) first(ctx context.Context, t store.Team, to string, f store.Frame) error {
	said, err := in.answer(ctx, t, to, f.RequestID)
	if err != nil || said == nil || verdict(said) == verdict(&f) {
		return nil // one that was handed over and archived meanwhile was there
	}
	return fault.New(fault.Rejected, "request %s was %s already, on another machine", store.Shown(f.RequestID), verdict(said)).WithHint("its author may ask again")
}
