package teams

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// oddity is something in the files of a team that is read, though whoever wrote it may
// have meant something else.
type oddity struct {
	what string
	mend bool // there is one right answer, which Mend gives
}

// summary is what a verb says of the oddities that it meets: the first, and how many more.
func summary(list []oddity) []string {
	switch n := len(list); n {
	case 0:
		return nil
	case 1:
		return []string{list[0].what}
	default:
		return []string{fmt.Sprintf("%s (and %d more such things: leadlight doctor lists them)", list[0].what, n-1)}
	}
}

// ahead is by how much the clock of another machine may be ahead of ours.
const ahead = 24 * time.Hour

// odd gathers oddities.
type odd []oddity

func (o *odd) say(format string, args ...any) {
	*o = append(*o, oddity{what: fmt.Sprintf(format, args...)})
}

func (o *odd) time(whose, what string, at time.Time) {
	if time.Until(at) > ahead {
		o.say("%s: %s, %s, is in the future", whose, what, api.At(at))
	}
}

func (o *odd) color(whose, color string) {
	if checkColor(color) != nil && color != "system" {
		o.say("%s: there is no colour %q", whose, store.Shown(color))
	}
}

// rosterOddities are those of a team's roster.
func rosterOddities(t store.Team) []oddity {
	var out odd
	for _, what := range t.Odd {
		out.say("%s: %s", t.Path, what)
	}
	out.time(t.Path, "createdAt", t.CreatedAt)
	for i, m := range t.Members {
		name := "member " + store.Shown(m.Name)
		out.color(name, m.Color)
		out.time(name, "joinedAt", m.JoinedAt)
		if j := slices.IndexFunc(t.Members[:i], func(o store.Member) bool { return store.AlikeNames(o.Name, m.Name) && !store.SameName(o.Name, m.Name) }); j >= 0 {
			out.say("%s and member %s differ by upper and lower case only", name, store.Shown(t.Members[j].Name))
		}
		if same := namesakes(t, m.Name); len(same) > 1 && same[0] == i {
			spare, _ := spareEntries(t, m.Name)
			out = append(out, oddity{fmt.Sprintf("%s stands %d times in the roster; the one that has not ended counts, else the last", name, len(same)), spare != nil})
		}
	}
	return out
}

// namesakes are the entries of a roster that have one name.
func namesakes(t store.Team, name string) (at []int) {
	for i, m := range t.Members {
		if store.SameName(m.Name, name) {
			at = append(at, i)
		}
	}
	return at
}

// spareEntries are those of the entries of one name that count for nothing: all but the one
// that is meant, if all of them are ours and have ended. nil if that is not so, or there is one only.
func spareEntries(t store.Team, name string) (spare []int, meant *store.Member) {
	meant = t.Member(name)
	for _, i := range namesakes(t, name) {
		m := &t.Members[i]
		if m == meant {
			continue
		}
		if m.Leadlight == nil || !settled(m.Leadlight.State) {
			return nil, meant
		}
		spare = append(spare, i)
	}
	return spare, meant
}

// taskOddities are those of a team's task list.
func taskOddities(team store.Team, list []store.Task) []oddity {
	var out odd
	for _, t := range list {
		name := "task " + t.ID
		if team.LedByUs() && t.Owner != "" && t.Status != store.Completed && !isLead(team, t.Owner) && team.Member(t.Owner) == nil {
			out.say("%s: its owner %q is no member of the team", name, store.Shown(t.Owner))
		}
		for i, what := range t.Odd {
			out = append(out, oddity{name + ": " + what, t.Misnamed && i == len(t.Odd)-1})
		}
		if !slices.Contains([]string{store.Pending, store.InProgress, store.Completed, store.Deleted}, t.Status) {
			out.say("%s: there is no status %q", name, store.Shown(t.Status))
		}
		out.time(name, "createdAt", t.CreatedAt)
		out.time(name, "updatedAt", t.UpdatedAt)
		out.time(name, "completedAt", t.CompletedAt)
	}
	return out
}

// mailOddities are those of a mailbox.
func mailOddities(owner string, box []store.Message) []oddity {
	var out odd
	for _, m := range box {
		name := fmt.Sprintf("message %s to %s", store.Shown(m.ID), store.Shown(owner))
		for _, what := range m.Odd {
			out.say("%s: %s", name, what)
		}
		out.color(name, m.Color)
		out.time(name, "its time", m.Timestamp)
	}
	return out
}

// mendOddities gives the one right answer to what has one, in the teams that leadlight leads.
func (d *doctor) mendOddities(ctx context.Context) (done []string, err error) {
	names, err := d.roster.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list teams: %w", err)
	}
	for _, name := range names {
		t, err := d.roster.Get(ctx, name)
		if err != nil || !t.LedByUs() {
			continue // doctor says so
		}
		lines, err := d.mendTeam(ctx, t)
		if done = append(done, lines...); err != nil {
			return done, err
		}
	}
	return done, nil
}

func (d *doctor) mendTeam(ctx context.Context, t store.Team) (done []string, err error) {
	for _, m := range t.Members {
		if spare, meant := spareEntries(t, m.Name); spare == nil || meant.Name != m.Name {
			continue
		}
		removed := 0
		err := d.roster.Update(ctx, t.Name, func(now *store.Team) error {
			spare, _ := spareEntries(*now, m.Name)
			removed = len(spare)
			for _, i := range slices.Backward(spare) {
				now.Members = slices.Delete(now.Members, i, i+1)
			}
			return nil
		})
		if err != nil {
			return done, fmt.Errorf("mend the roster of team %s: %w", t.Name, err)
		}
		if removed > 0 {
			done = append(done, fmt.Sprintf("team %s: removed %d entries of %s that had ended", t.Name, removed, store.Shown(m.Name)))
		}
	}
	list, _, err := d.tasks.List(ctx, t.Name)
	if err != nil {
		return done, fmt.Errorf("list the tasks of team %s: %w", t.Name, err)
	}
	for _, task := range list {
		if !task.Misnamed {
			continue
		}
		if _, err := d.tasks.Update(ctx, t.Name, task.ID, func(*store.Task) error { return nil }); err != nil {
			return done, fmt.Errorf("mend task %s of team %s: %w", task.ID, t.Name, err)
		}
		done = append(done, fmt.Sprintf("team %s: task %s has its own id again", t.Name, task.ID))
	}
	return done, nil
}
