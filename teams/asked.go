package teams

import (
	"context"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// asked is a plan or a request for permission, by what the two have in common.
type asked struct {
	plan       *api.Plan // one of the two
	permission *api.Permission
	id, from   string
	at         *api.Time
	status     *string // what stands with it, to be changed in its place
	said       *string
	resolved   **api.Time
}

// all are the requests of both sorts.
func (r *requests) all() (all []asked) {
	for i := range r.Plans {
		p := &r.Plans[i]
		all = append(all, asked{p, nil, p.ID, p.From, p.SubmittedAt, &p.Status, &p.Feedback, &p.ResolvedAt})
	}
	for i := range r.Permissions {
		p := &r.Permissions[i]
		all = append(all, asked{nil, p, p.ID, p.From, p.RequestedAt, &p.Status, &p.Reason, &p.ResolvedAt})
	}
	return all
}

// find finds a request by its id, of anybody if from is "": a plan (fault.PlanNotFound), or one
// for permission (fault.RequestNotFound).
func (r *requests) find(t store.Team, plan bool, from, id string) (asked, error) {
	for _, a := range r.all() {
		if a.id == id && (a.plan != nil) == plan && (from == "" || store.SameName(a.from, from)) {
			return a, nil
		}
	}
	if plan {
		return asked{}, fault.New(fault.PlanNotFound, "team %s has no plan %q", t.Name, store.Shown(id)).WithHint("leadlight requests --all lists the plans")
	}
	return asked{}, fault.New(fault.RequestNotFound, "team %s has no request %q", t.Name, store.Shown(id)).WithHint("leadlight requests lists the open ones")
}

func (r *requests) plan(from, id string) *api.Plan {
	a, _ := r.find(store.Team{}, true, from, id)
	return a.plan
}

func (r *requests) permission(from, id string) *api.Permission {
	a, _ := r.find(store.Team{}, false, from, id)
	return a.permission
}

func (a asked) open() bool { return *a.status == api.RequestOpen }

func (a asked) set(status, said string, at *api.Time) {
	*a.status, *a.said, *a.resolved = status, said, at
}

// closeThose closes the open requests for which how has a status, and returns what is known then.
func (in *incoming) closeThose(ctx context.Context, t store.Team, known requests, how func(asked) (status, said string)) (requests, error) {
	closed := func(r *requests) (changed bool) {
		for _, a := range r.all() {
			if status, said := how(a); status != "" && a.open() {
				a.set(status, said, api.At(time.Now()))
				changed = true
			}
		}
		return changed
	}
	if !closed(&known) {
		return known, nil
	}
	return known, in.editRequests(ctx, t.Name, func(r *requests) (bool, error) { return closed(r), nil })
}

// resolve writes down the lead's answer to a request: fault.Rejected for one that was answered
// before.
func (ap *approvals) resolve(ctx context.Context, team string, plan bool, id string, yes bool, said string) (t store.Team, a asked, err error) {
	if err = checkText("answer", said); err != nil {
		return t, a, err
	}
	t, known, err := ap.requestsOf(ctx, team)
	if err == nil {
		a, err = known.find(t, plan, "", id)
	}
	if err == nil {
		err = ap.answerer(t, a.from)
	}
	if err != nil {
		return t, a, err
	}
	return t, a, ap.editRequests(ctx, t.Name, func(r *requests) (bool, error) {
		found, err := r.find(t, plan, a.from, id)
		switch {
		case err != nil:
			return false, err
		case !found.open():
			what := map[bool]string{true: "plan", false: "request"}[plan]
			return false, fault.New(fault.Rejected, "%s %s was %s already", what, store.Shown(id), *found.status).WithHint("its author may ask again")
		case yes && !mayTakeAnswer(t, a.from): // a no does nothing
			return false, ap.cannotTake(t, a.from)
		}
		now := api.At(time.Now())
		a.set(decided(yes), said, now)
		found.set(decided(yes), said, now)
		return true, nil
	})
}

// decided is the status of a request that was answered.
func decided(yes bool) string {
	if yes {
		return api.RequestApproved
	}
	return api.RequestRejected
}
