package teams

import (
	"context"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// worksUntold tells whether only the list of tasks shows what a member works on. The host
// of a worker tells it.
func worksUntold(m api.Member) bool {
	return m.Task == "" && m.Kind != profiles.Worker && m.Live()
}

// withTasks gives each member that runs the task that it works on. The list is read only
// if somebody needs it; one that cannot be read is the business of task ls.
func (ob *observer) withTasks(ctx context.Context, team string, members []api.Member) []api.Member {
	if slices.ContainsFunc(members, worksUntold) {
		if list, _, err := ob.tasks.List(ctx, team); err == nil {
			return working(members, shownTasks(list))
		}
	}
	return members
}

// working gives each member that runs the task that it has in progress: of several the one
// that was changed last.
func working(members []api.Member, tasks []api.Task) []api.Member {
	if !slices.ContainsFunc(members, worksUntold) {
		return members
	}
	known := make(map[string]int, len(members))
	for i, m := range members {
		known[m.Name] = i
	}
	since := map[int]time.Time{}
	for _, t := range tasks {
		if t.Status != store.InProgress || t.Owner == "" {
			continue
		}
		i, ok := known[t.Owner]
		if !ok {
			i = slices.IndexFunc(members, func(m api.Member) bool { return store.SameName(m.Name, t.Owner) })
		}
		if i < 0 {
			continue
		}
		at := time.Time(deref(t.UpdatedAt))
		if last, found := since[i]; worksUntold(members[i]) || found && at.After(last) {
			members[i].Task, since[i] = t.ID, at
		}
	}
	return members
}

// waiting says of each member with an open request what it waits for. Of a team
// that another lead answers for, only what that lead has not read counts.
func (ob *observer) waiting(ctx context.Context, t store.Team, boxes lister) map[string]string {
	msgs, err := boxes(ctx, t.Name, leadName(t))
	if err != nil {
		return nil
	}
	var r requests
	if t.LedByUs() {
		if r, err = ob.known(ctx, t); err != nil {
			return nil
		}
		r.add(t, msgs)
	} else {
		for _, m := range msgs {
			if !m.Read {
				r.add(t, []store.Message{m})
			}
		}
	}
	out := map[string]string{}
	for _, a := range r.all() {
		m := t.Member(a.from)
		if !a.open() || m == nil || a.at == nil || m.Leadlight != nil && m.Leadlight.SpawnedAt != nil && before(time.Time(*a.at), *m.Leadlight.SpawnedAt) {
			continue // it has left, or its predecessor has asked
		}
		what := "waits for its plan " + a.id + " to be approved"
		if a.permission != nil {
			what = "waits for permission to use " + a.permission.Tool + " (" + a.id + ")"
		}
		out[m.Name] = what + ", for " + age(time.Time(*a.at))
	}
	return out
}
