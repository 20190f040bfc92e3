package teams

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Reconcile brings what is remembered of a team into line with what is there.
// Members that run are adopted by being observed: nothing needs to be done. For
// each that is proved to be gone without having said so it ends what its host left
// running, writes down the end, frees its tasks, and tells the lead, once. It
// returns their names.
func (re *recorder) Reconcile(ctx context.Context, team string) ([]string, error) {
	found, err := re.reconcile(ctx, team, false)
	var lost []string
	for _, o := range found {
		if o.Kind == memberKind {
			name, _, _ := strings.Cut(o.What, "@")
			lost = append(lost, name)
		}
	}
	return lost, err
}

// memberKind is the kind of an orphan that is an entry of a roster.
const memberKind = "member"

// loss is a member that does not run any more, of which that is not written down yet.
type loss struct {
	entry store.Member
	seen  api.Member
	rest  *panes.Orphan // what its host has left running
}

// reconcile is Reconcile; it returns what it did, or, with dryRun, what it would do.
func (re *recorder) reconcile(ctx context.Context, team string, dryRun bool) ([]api.Orphan, error) {
	t, err := re.get(ctx, team)
	if err != nil {
		return nil, err
	}
	over := map[string]string{} // who wrote their end down may not have come to the tasks
	var together, alone []loss
	remnants := re.panes.Remnants()
	here := slices.DeleteFunc(t.Teammates(), re.elsewhere) // a machine that is silent would be waited for
	for _, m := range re.observe(ctx, t, here) {
		entry := t.Member(m.Name)
		if entry == nil || entry.Leadlight == nil || entry.Unsafe || m.Live() {
			continue
		}
		if settled(entry.Leadlight.State) {
			over[m.Name] = m.State
			continue
		}
		l := loss{entry: *entry, seen: m}
		if m.State == api.StateLost {
			if rest, found := remnants.Of(ctx, panes.Target{Team: t.Name, Agent: m.Name, Host: entry.Leadlight.Host}); found {
				l.rest = &rest
			}
		}
		if l.rest == nil && !dryRun {
			together = append(together, l)
		} else {
			alone = append(alone, l)
		}
	}
	if !dryRun {
		if _, err := re.freeTasks(ctx, t.Name, over); err != nil {
			return nil, err
		}
	}
	out, err := re.recordLosses(ctx, t, together, "")
	for i := range alone {
		if err != nil {
			return out, err
		}
		var did []api.Orphan
		did, err = re.clearUp(ctx, t, alone[i], dryRun)
		out = append(out, did...)
	}
	return out, err
}

// clearUp ends what a lost member has left running, then writes the loss down: whoever takes
// a task next must not meet the one who had it.
func (re *recorder) clearUp(ctx context.Context, t store.Team, l loss, dryRun bool) (did []api.Orphan, err error) {
	left := ""
	if l.rest != nil {
		o := api.Orphan{Kind: l.rest.Kind, What: l.rest.What, Why: l.rest.Why, Kept: l.rest.Kept}
		did = append(did, remove(ctx, o, l.rest.Remove, dryRun))
		left = tellLeft(did[0])
	}
	if dryRun {
		return append(did, l.orphan(t)), nil
	}
	written, err := re.recordLosses(ctx, t, []loss{l}, left)
	return append(did, written...), err
}

// orphan is the entry of a member that does not run any more.
func (l loss) orphan(t store.Team) api.Orphan {
	o := api.Orphan{Kind: memberKind, What: l.seen.Name + "@" + t.Name, Why: "it is " + l.seen.State}
	if l.seen.Reason != "" {
		o.Why += ": " + l.seen.Reason
	}
	return o
}

// tellLeft is a sentence about what a lost member left running, with a space before it.
func tellLeft(o api.Orphan) string {
	if o.Removed {
		return " It had left processes, which were ended: " + o.What + "."
	}
	return " It has left " + o.What + ", which could not be ended: " + o.Kept + "."
}

// recordLosses writes down, with one write of the roster, that members have ended, and
// tells the lead of those that are lost. left is what one of them had left running.
func (re *recorder) recordLosses(ctx context.Context, t store.Team, losses []loss, left string) (did []api.Orphan, err error) {
	if len(losses) == 0 {
		return nil, nil
	}
	var exits []memberExit
	for _, l := range losses {
		m := l.seen
		exits = append(exits, memberExit{m.Name, l.entry.Leadlight.Host, panes.ExitRecord{State: m.State, ExitCode: m.ExitCode, Signal: m.Signal, Reason: m.Reason}})
	}
	first, err := re.recordExits(ctx, t.Name, exits)
	if err != nil {
		return nil, err
	}
	for _, l := range losses {
		if first[l.seen.Name] == "" {
			continue
		}
		o := l.orphan(t)
		o.Removed = true
		did = append(did, o)
		switch {
		case !t.LedByUs():
		case l.seen.State == api.StateLost && (left != "" || re.written(ctx, t.Name, l.entry) == nil):
			err = re.tellLoss(ctx, t, l.seen, left)
		case l.seen.State == api.StateLost || t.Engine != "": // its host tells, too, if it comes to that: the message has the same id
			err = re.tellEnd(ctx, t, l.entry, panes.ExitRecord{State: l.seen.State, Reason: l.seen.Reason})
		}
		if err != nil {
			return did, err
		}
	}
	return did, nil
}

// tellLoss tells the lead of a member that is lost.
func (re *recorder) tellLoss(ctx context.Context, t store.Team, m api.Member, left string) error {
	text := fmt.Sprintf("%s is lost: %s.%s", m.Name, m.Reason, left)
	if re.limits.OnLoss == KeepTasks {
		text += " Its tasks stay with it."
	} else {
		text += " Its tasks are free again."
	}
	if err := re.putToLead(ctx, t, store.Message{From: m.Name, Text: text, Summary: m.Name + " is lost"}); err != nil {
		return fmt.Errorf("%s is lost: %w", m.Name, err)
	}
	return nil
}
