package teams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// RecordExit writes down that a member has ended: its roster entry (in a team that
// Claude leads the entry is removed; that of a foreign member is that lead's own), and
// the tasks it had in progress, which are free again with a note who had them. It does
// nothing if the roster names another host than hostID for it or if the end is written
// down already, so it can be called by whoever comes first: the host itself, stop, or who
// finds the member lost. It returns the state that stood there before, "" if it wrote
// nothing.
func (re *recorder) RecordExit(ctx context.Context, team, name, hostID string, o panes.ExitRecord) (before string, err error) {
	written, err := re.recordExits(ctx, team, []memberExit{{name, hostID, o}})
	return written[name], err
}

// BeingStarted tells whether a spawn of the caller is under way: what fails then is the
// spawner's to report.
func (rg *registry) BeingStarted(ctx context.Context, team string) bool {
	t, m, err := rg.find(ctx, team, rg.caller.Name)
	return err == nil && m.Leadlight != nil && m.Leadlight.State == api.StateStarting && rg.panes.MemberBusy(t.Name, m.Name)
}

// memberExit is the end of the host of a member.
type memberExit struct {
	name, host string
	panes.ExitRecord
}

// recordExits is RecordExit for a set of members, with one write of the roster.
func (re *recorder) recordExits(ctx context.Context, team string, exits []memberExit) (before map[string]string, err error) {
	ctx = context.WithoutCancel(ctx)
	var whole store.Team
	entries := map[string]store.Member{}
	err = re.roster.Update(ctx, team, func(t *store.Team) error {
		before, whole = map[string]string{}, *t // the change may run more than once
		for _, e := range exits {
			m := t.Member(e.name)
			if state, wrote := e.writeInto(t); wrote {
				before[e.name], entries[e.name] = cmp.Or(state, api.StateUnknown), *m
			}
		}
		if len(before) == 0 {
			return errNoEntry
		}
		return nil
	})
	switch {
	case fault.CodeOf(err) == fault.TeamNotFound:
		return nil, nil
	case err != nil && !errors.Is(err, errNoEntry):
		return nil, fmt.Errorf("write down who of team %s has ended: %w", team, err)
	}
	owners := map[string]string{}
	for _, e := range exits {
		if before[e.name] != "" || re.foreign(ctx, team, e) {
			owners[e.name] = e.State
		}
		if before[e.name] != "" {
			re.tellUnread(ctx, whole, entries[e.name], e.State)
		}
	}
	_, err = re.freeTasks(ctx, team, owners)
	return before, err
}

// exit is the end of a member as its host has written it down, with what this call knows
// about it.
func (r *stopping) exit(ctx context.Context, m *stoppingMember) memberExit {
	e := panes.ExitRecord{State: state.Stopped, Reason: cmp.Or(r.o.Reason, "stopped")}
	e.Untold = m.out.Outcome == state.Terminated || m.out.Outcome == state.Killed // by us, together with its host
	if end := r.written(ctx, r.t.Name, m.Member); end != nil {
		e.ExitCode, e.Signal, e.Untold = end.ExitCode, end.Signal, end.Untold
	}
	if r.o.KeepLost && (m.Leadlight.State == state.Lost || !settled(m.Leadlight.State) && m.obs.State == state.Lost) {
		e.State, e.Reason = state.Lost, m.obs.Reason
	}
	return memberExit{m.Name, m.Leadlight.Host, e}
}

// tellLead tells the lead of one whose host has left that to this call.
func (r *stopping) tellLead(ctx context.Context, m *stoppingMember, e memberExit) {
	if !e.Untold || m.Leadlight.Foreign {
		return
	}
	if err := r.tellEnd(ctx, r.t, m.Member, e.ExitRecord); err != nil {
		r.log.Warn("tell the lead of an end", "team", r.t.Name, "member", m.Name, "error", err)
	}
}

// record writes down who has ended, for all at once.
func (r *stopping) record(ctx context.Context, batch []*stoppingMember) {
	var exits []memberExit
	var gone []*stoppingMember
	for _, m := range batch {
		if m.target.Host != "" && m.out.Outcome != state.Unproven {
			gone, exits = append(gone, m), append(exits, r.exit(ctx, m))
		}
	}
	if len(gone) == 0 {
		return
	}
	if r.damage != nil {
		r.unwritten(gone)
		return
	}
	written, err := r.recordExits(ctx, r.t.Name, exits)
	if err != nil {
		for _, m := range gone {
			f := fault.Of(err)
			m.out.Code, m.out.Reason = string(f.Code), "ended, but that could not be written down: "+f.Message
		}
		return
	}
	for i, m := range gone {
		if _, first := written[m.Name]; first {
			r.tellLead(ctx, m, exits[i])
		}
		if r.o.again || exits[i].State == state.Lost {
			continue
		}
		if left := r.removeWorktree(ctx, r.t.Name, m.Name); left != "" {
			m.out.Leftovers = append(m.out.Leftovers, left)
		}
		if !r.t.LedByUs() { // its entry is gone, and so nothing names its records; gc removes what stays
			_ = r.panes.Records().Forget(r.t.Name, m.Name)
		}
	}
}

// foreign tells whether an end is that of a member that stands in another lead's roster.
func (re *recorder) foreign(ctx context.Context, team string, e memberExit) bool {
	_, m, err := re.find(ctx, team, e.name)
	return err == nil && m.Leadlight != nil && m.Leadlight.Foreign && m.Leadlight.Host == e.host
}

// writeInto writes the end into a roster, and tells whether it had to and what state stood
// there before.
func (e memberExit) writeInto(t *store.Team) (before string, wrote bool) {
	m := t.Member(e.name)
	if m == nil || m.Leadlight == nil || m.Leadlight.Host != e.host {
		return "", false
	}
	before = m.Leadlight.State
	if !t.LedByUs() {
		t.Members = slices.DeleteFunc(slices.Clone(t.Members), func(other store.Member) bool { return other.Name == m.Name })
		return before, true
	}
	if settled(m.Leadlight.State) && e.State != api.StateStopped {
		return before, false
	}
	b := *m.Leadlight
	if !settled(b.State) {
		b.StoppedAt = new(time.Now())
		b.ExitCode, b.Signal, b.Reason = e.ExitCode, e.Signal, e.Reason
	}
	b.State = e.State
	m.Leadlight, m.IsActive = &b, new(false)
	return before, true
}

// FreeTasks gives back what one whose agent has ended, and is started again, had in progress.
func (tl *tasklist) FreeTasks(ctx context.Context, team, name, state string) error {
	_, err := tl.freeTasks(ctx, team, map[string]string{name: state})
	return err
}

// freeTasks gives back what members, each with the state it is in, had in progress, and returns
// the ids of that. Those of one that is lost stay with it if that is set: it is expected to come
// back.
func (tl *tasklist) freeTasks(ctx context.Context, team string, owners map[string]string) (freed []string, err error) {
	if len(owners) == 0 {
		return nil, nil
	}
	had := func(t store.Task) (name string, yes bool) {
		for name, state := range owners {
			if t.Status == store.InProgress && store.SameName(t.Owner, name) && (state != api.StateLost || tl.limits.OnLoss != KeepTasks) {
				return name, true
			}
		}
		return "", false
	}
	tasks, _, err := tl.tasks.List(ctx, team)
	if err != nil {
		return nil, fmt.Errorf("free the tasks of who has ended: %w", err)
	}
	var errs []error
	for _, task := range tasks {
		if _, yes := had(task); !yes {
			continue
		}
		_, err := tl.tasks.Update(ctx, team, task.ID, func(t *store.Task) error {
			name, yes := had(*t)
			if !yes {
				return errNoEntry
			}
			t.Status, t.Owner = store.Pending, ""
			setNote(t, fmt.Sprintf("released: %s had it and is %s", name, owners[name]))
			return nil
		})
		switch {
		case err == nil:
			freed = append(freed, task.ID)
		case !errors.Is(err, errNoEntry) && fault.CodeOf(err) != fault.TaskNotFound:
			errs = append(errs, err)
		}
	}
	return freed, errors.Join(errs...)
}

// errNoEntry says that a member is not, or no longer, the one that was meant.
var errNoEntry = errors.New("the roster names another host")
