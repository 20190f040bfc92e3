package teams

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// InProcess is the backend of Claude Code's teammates that have no pane, and what ours
// without a terminal are called in the teams we lead. There it is not the pane's id.
const InProcess = "in-process"

// paneAsWritten is what a roster says of a pane. Where Claude leads, in-process would
// mean inside that lead.
func paneAsWritten(t store.Team, id backend.ID, backendType string) (paneID, kind string) {
	if backendType == panes.Headless && t.LedByUs() {
		return InProcess, InProcess
	}
	return string(id), backendType
}

// paneOf is the pane that the roster gives a member we launched, "" if it does not say.
func paneOf(m store.Member) string {
	if m.TmuxPaneID == InProcess {
		return ""
	}
	return m.TmuxPaneID
}

// Members returns the teammates as observed now; the stopped ones only if all is
// set. The second result are warnings about what could not be observed.
func (ob *observer) Members(ctx context.Context, team string, all bool) ([]api.Member, []string, error) {
	t, err := ob.get(ctx, team)
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	var unread []string // what is wrong with boxes
	seen := ob.observeWith(ctx, t, t.Teammates(), func(ctx context.Context, team, owner string) ([]store.Message, error) {
		msgs, err := ob.mail.List(ctx, team, owner)
		mu.Lock()
		defer mu.Unlock()
		if err != nil && !slices.Contains(unread, fault.Of(err).Message) {
			unread = append(unread, fault.Of(err).Message)
		}
		return msgs, err
	})
	out := []api.Member{}
	for _, m := range ob.withTasks(ctx, t.Name, seen) {
		if all || m.State != api.StateStopped {
			out = append(out, m)
		}
	}
	slices.Sort(unread)
	return out, slices.Concat(t.Warnings, unread, summary(rosterOddities(t))), nil
}

// present looks whether each of the members runs.
func (ob *observer) present(ctx context.Context, t store.Team, members []store.Member) []api.Member {
	out := make([]api.Member, len(members))
	l := ob.looking(ctx, t)
	var wg sync.WaitGroup
	for machine, at := range ob.byMachine(members) {
		wg.Go(func() {
			if machine != "" {
				ob.presentElsewhere(ctx, t, machine, members, at, out)
				return
			}
			some(len(at), func(k int) { out[at[k]] = l.observe(ctx, members[at[k]]) })
		})
	}
	wg.Wait()
	return out
}

// lister lists the messages of a box.
type lister func(ctx context.Context, team, owner string) ([]store.Message, error)

// observe looks at each of the members, and at what waits for it and it for.
func (ob *observer) observe(ctx context.Context, t store.Team, members []store.Member) []api.Member {
	return ob.observeWith(ctx, t, members, ob.mail.List)
}

// observeWith is observe for one who knows what is in the boxes.
func (ob *observer) observeWith(ctx context.Context, t store.Team, members []store.Member, boxes lister) []api.Member {
	out := ob.present(ctx, t, members)
	some(len(members), func(i int) {
		if m := members[i]; !m.Unsafe {
			out[i].Unread, out[i].OldestUnreadAt = unread(ctx, t, m.Name, boxes)
		}
	})
	if !slices.ContainsFunc(out, mayWait) {
		return out
	}
	waiting := ob.waiting(ctx, t, boxes)
	for i := range out {
		if m := &out[i]; waiting[m.Name] != "" && mayWait(*m) {
			m.State, m.Reason = api.StateWaiting, waiting[m.Name]
		}
	}
	return out
}

// mayWait tells whether a member waits if a request of its is open.
func mayWait(m api.Member) bool { return m.State == api.StateActive || m.State == api.StateIdle }

// member observes one teammate by name, but for its mail: fault.MemberNotFound.
func (ob *observer) member(ctx context.Context, team, name string) (store.Team, store.Member, api.Member, error) {
	t, m, err := ob.find(ctx, team, name)
	if err != nil {
		return t, m, api.Member{}, err
	}
	return t, m, ob.observeOne(ctx, t, m), nil
}

// memberOf returns a member of a roster.
func memberOf(t store.Team, name string) (store.Member, error) {
	m := t.Member(strings.TrimSuffix(name, "@"+t.Name))
	switch {
	case m == nil:
		return store.Member{}, fault.New(fault.MemberNotFound, "team %s has no member %q", t.Name, store.Shown(name)).
			WithHint("its members: %s", memberNames(t))
	case m.Unsafe:
		return store.Member{}, fault.New(fault.InvalidName, "the roster of team %s holds the unsafe name %q", t.Name, store.Shown(m.Name)).
			WithHint("nothing is done with it; mend %s", t.Path)
	}
	return *m, nil
}

func memberNames(t store.Team) string {
	var names []string
	for _, m := range t.Members {
		names = append(names, store.Shown(m.Name))
	}
	return strings.Join(names, ", ")
}

// observeHosted asks the host of a member that we launched.
func (ob *observer) observeHosted(ctx context.Context, t store.Team, m store.Member, out *api.Member) {
	b := m.Leadlight
	out.Kind, out.Profile, out.ExitCode, out.Signal = b.Kind, b.Profile, b.ExitCode, b.Signal
	out.StartedAt, out.Machine = api.At(deref(b.SpawnedAt)), b.Machine
	if settled(b.State) {
		out.State, out.Reason = b.State, b.Reason
		return
	}
	o := ob.observed(ctx, t.Name, m)
	out.State, out.Reason = o.State, o.Reason
	out.AtDialog = o.State == api.StateWaiting && o.Status.Agent != nil // before it starts again it asks nothing
	out.Lines, out.Unsubmitted = o.Status.Cooked, o.Status.Unsubmitted
	if b.Kind == profiles.Native && o.State == api.StateActive && m.IsActive != nil && !*m.IsActive {
		out.State = api.StateIdle // between turns: its host sees that it runs, only it knows that it rests
	}
	if e := o.Record.Ended; e != nil { // all of it is the end's, as the state is: its host may answer for a moment more
		out.ExitCode, out.Signal = e.ExitCode, e.Signal
		return
	}
	if why := o.Status.Transcript; why != "" && out.Reason == "" {
		out.Reason = "part of what it prints is not kept: " + why
	}
	out.Task, out.PID = o.Status.Task, agentPID(o.Status)
	out.LastActivityAt = api.At(o.Status.LastActivityAt)
}

// runs tells whether a member surely runs, which costs less than to ask its host; false
// says nothing.
func (ob *observer) runs(ctx context.Context, t store.Team, m store.Member) bool {
	b := m.Leadlight
	return b != nil && !m.Unsafe && !settled(b.State) && !ob.elsewhere(m) && ob.panes.Runs(ctx, t.Name, m.Name, b.Host)
}

// hostRecord is what the host of a member that we launched has written down: errNoEntry if that
// is another's.
func (ob *observer) hostRecord(ctx context.Context, team string, m store.Member) (panes.HostRecord, error) {
	rec, err := ob.panes.Records().Host(ctx, team, m.Name)
	if err == nil && rec.Host != m.Leadlight.Host {
		err = errNoEntry
	}
	return rec, err
}

// hosting is the host of a member that we launched, to be spoken to: fault.RecipientInactive of
// one that starts, also anew, and whose host has written nothing yet.
func (ob *observer) hosting(ctx context.Context, t store.Team, m store.Member) (*host.Client, error) {
	rec, err := ob.hostRecord(ctx, t.Name, m)
	if (errors.Is(err, errNoEntry) || errors.Is(err, fs.ErrNotExist)) && ob.observeOne(ctx, t, m).State == api.StateStarting {
		err = fault.New(fault.RecipientInactive, "teammate %s is starting: its host is not there yet", m.Name).WithHint("try again in a moment")
	}
	if err != nil {
		return nil, err
	}
	return ob.panes.Client(ctx, m.Name, rec)
}

// written is the end of a member as its host has written it down; nil if it has not: one that
// was killed could not.
func (ob *observer) written(ctx context.Context, team string, m store.Member) *panes.ExitRecord {
	rec, err := ob.hostRecord(ctx, team, m)
	if err != nil {
		return nil
	}
	return rec.Ended
}

// agentPID is the agent's process, or that of its host while no agent runs.
func agentPID(st host.Status) int {
	if st.Agent != nil {
		return st.Agent.PID
	}
	return st.PID
}

// settled tells whether a state in the roster is the end of a member's story.
func settled(state string) bool {
	return state == api.StateStopped || state == api.StateFailed || state == api.StateLost
}

// isTmuxPane tells a pane's id from a marker such as "leader".
func isTmuxPane(id string) bool {
	return len(id) > 1 && id[0] == '%' && strings.Trim(id[1:], "0123456789") == ""
}

// unread counts the unread mail of a member, nil if its box cannot be read, and tells
// since when the first of it waits.
func unread(ctx context.Context, t store.Team, owner string, boxes lister) (*int, *api.Time) {
	msgs, err := boxes(ctx, t.Name, owner)
	if err != nil {
		return nil, nil
	}
	n, oldest := 0, time.Time{}
	for _, m := range msgs {
		if m.Read || m.Own(t.Name, t.DisplayName) {
			continue
		}
		if n++; oldest.IsZero() || !m.Timestamp.IsZero() && m.Timestamp.Before(oldest) {
			oldest = m.Timestamp
		}
	}
	return &n, api.At(oldest)
}

// target names the host and the pane of a member that we launched.
func (ob *observer) target(t store.Team, m store.Member, o panes.Observation) panes.Target {
	pane := cmp.Or(o.Record.Pane, paneOf(m))
	return panes.Target{
		Team: t.Name, Agent: m.Name, Host: m.Leadlight.Host,
		Backend: cmp.Or(o.Launch.Backend, m.BackendType), Terminal: o.Launch.Terminal, Pane: backend.ID(pane),
	}
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
