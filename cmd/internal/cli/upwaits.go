package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// stillFor is how long nothing happens until up says again who is waited for.
const stillFor = time.Minute

// waits says which tasks of a team wait for whom, a line for each that is waited for, in
// the order of the tasks.
func waits(snap teams.Snapshot) []string {
	var order []string
	ids := map[string][]string{}
	for _, t := range snap.Tasks {
		whom := waitsFor(snap, t)
		if whom == "" {
			continue
		}
		if ids[whom] == nil {
			order = append(order, whom)
		}
		ids[whom] = append(ids[whom], t.ID)
	}
	return mapped(order, func(whom string) string {
		return numbered("task %s waits for ", "tasks %s wait for ", ids[whom]) + whom
	})
}

// waitsFor is what a task waits for, "" if for nothing, or if nobody will take it, which is
// said elsewhere.
func waitsFor(snap teams.Snapshot, t api.Task) string {
	meant := oneLine(teams.MeantFor(t))
	switch {
	case slices.Contains(snap.Unclaimed, t.ID):
		return ""
	case t.Status == store.Blocked:
		if open := unfinished(snap.Tasks, t.BlockedBy); len(open) > 0 {
			return numbered("task %s", "tasks %s", open)
		}
		return "the answer of its hooks"
	case t.Status == store.InProgress:
		return meant + ", who works on it"
	case t.Status != store.Pending:
		return ""
	case meant != "":
		return meant
	}
	return "a teammate that is idle"
}

// numbered puts ids into one of two forms, for one and for several.
func numbered(one, several string, ids []string) string {
	if len(ids) == 1 {
		return fmt.Sprintf(one, oneLine(ids[0]))
	}
	return fmt.Sprintf(several, oneLine(strings.Join(ids, ", ")))
}

// stillness notices that nothing happens in a team.
type stillness struct {
	since time.Time
	last  string
	said  bool
}

// see takes a picture, and tells, once, that nothing has changed for a minute.
func (s *stillness) see(now time.Time, snap teams.Snapshot) bool {
	var b strings.Builder
	for _, t := range snap.Tasks {
		fmt.Fprintln(&b, t.ID, t.Status, t.Owner)
	}
	for _, m := range snap.Members {
		fmt.Fprintln(&b, m.Name, m.State, m.Task)
	}
	if b.String() != s.last {
		*s = stillness{since: now, last: b.String()}
	}
	if s.said || now.Sub(s.since) < stillFor {
		return false
	}
	s.said = true
	return true
}
