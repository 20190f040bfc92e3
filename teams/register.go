package teams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// register is the stage in which members enter the roster, the intent before the act, and
// get their worktrees and first messages.
func (r *spawning) register(ctx context.Context, in []resolvedMember) []registeredMember {
	if len(in) == 0 {
		return nil
	}
	joined, err := r.enter(ctx, in)
	if err != nil {
		for _, m := range in {
			r.out[m.at].Err = err
		}
		return nil
	}
	on, off := pass(r, joined, func(_ int, m *registeredMember) error { return r.prepare(ctx, m) })
	r.dropped = append(r.dropped, off...)
	return on
}

// enter writes the members into the roster. It reads the roster again: who was waited for
// has changed it. No team is deleted meanwhile.
func (r *spawning) enter(ctx context.Context, in []resolvedMember) ([]registeredMember, error) {
	t, err := r.get(ctx, r.t.Name)
	if err != nil {
		return nil, err
	}
	if !t.CreatedAt.Equal(r.t.CreatedAt) {
		return nil, fault.New(fault.TeamNotFound, "team %s is there no more: another one has its name", t.Name)
	}
	seen := r.whoRuns(ctx, t)
	if seen.live < r.limits.MaxTeammates { // else nobody joins
		r.clearOld(ctx, t, in, seen)
	}
	release, err := r.panes.Guard(ctx, t.Name, "start teammates")
	if err != nil {
		return nil, err
	}
	defer release()
	for _, m := range in {
		if err := r.panes.Expect(t.Name, m.spec.Name); err != nil {
			return nil, err
		}
	}
	joined := make([]registeredMember, len(in))
	errs := make([]error, len(in))
	err = r.roster.Update(ctx, t.Name, func(now *store.Team) error { // may run more than once
		for i, m := range in {
			if joined[i], errs[i] = r.join(now, m, seen); errs[i] == nil {
				now.Ours.Unstarted = slices.DeleteFunc(now.Ours.Unstarted, func(name string) bool { return store.SameName(name, m.spec.Name) })
			}
		}
		r.order = nil
		for _, m := range now.Members {
			r.order = append(r.order, m.Name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("write the roster of team %s: %w", t.Name, err)
	}
	on, _ := pass(r, joined, func(i int, m *registeredMember) error { return errs[i] })
	return on, nil
}

// clearOld closes what those who had the names before have left: a host that stays so that its
// pane can be read has the member's lock, and whoever is killed once the roster names another
// host leaves one that nobody can prove to be gone.
func (r *spawning) clearOld(ctx context.Context, t store.Team, in []resolvedMember, seen presence) {
	all(len(in), func(i int) {
		old := t.Member(in[i].spec.Name)
		if old == nil || old.Leadlight == nil || r.elsewhere(*old) {
			return
		}
		if _, gone := seen.gone(old); gone {
			r.panes.End(ctx, r.target(t, *old, r.observed(ctx, t.Name, *old)), r.limits.Term, r.limits.Kill)
		}
	})
}

// whoRuns returns the hosts of those members that are proved not to run, by
// name, and how many teammates do run.
func (st *starter) whoRuns(ctx context.Context, t store.Team) presence {
	p := presence{states: map[string]string{}, hosts: map[string]string{}}
	for _, m := range st.observe(ctx, t, t.Teammates()) {
		p.states[m.Name] = m.State
		if m.Live() {
			p.live++
		}
	}
	for _, m := range t.Members {
		p.hosts[m.Name] = hostOf(&m)
	}
	return p
}

// presence is who was seen running before new ones join.
type presence struct {
	states map[string]string
	hosts  map[string]string
	live   int
}

// join adds one member to the roster, in the place of a member of that name that has
// ended.
func (st *starter) join(t *store.Team, n resolvedMember, seen presence) (registeredMember, error) {
	m := registeredMember{resolvedMember: n}
	running := seen.live
	for _, o := range t.Members {
		if o.Leadlight != nil && o.Leadlight.Host != seen.hosts[o.Name] {
			running++ // joined since we looked
		}
	}
	if running >= st.limits.MaxTeammates {
		return m, fault.New(fault.LimitReached, "team %s has %d live teammates, the limit is %d", t.Name, running, st.limits.MaxTeammates).
			WithHint("stop one, or raise lifecycle.maxTeammates")
	}
	m.entry = st.entry(t, &n)
	old := t.Member(n.spec.Name)
	if old == nil {
		at := 1 + slices.IndexFunc(t.Members, func(o store.Member) bool { return o.Name == n.spec.After })
		t.Members = slices.Insert(t.Members, cmp.Or(at, len(t.Members)), m.entry)
		return m, nil
	}
	if state, gone := seen.gone(old); !gone {
		return m, fault.New(fault.DuplicateName, "team %s has a teammate %s already, it is %s", t.Name, n.spec.Name, cmp.Or(state, api.StateStarting)).
			WithHint("%s; or choose another name", st.howToEnd(*t, *old))
	}
	m.old = new(*old)
	m.entry.Unknown, m.entry.Metadata = old.Unknown, old.Metadata
	if n.spec.again != nil && old.Leadlight != nil {
		m.entry.Leadlight.Restart, m.entry.WorktreePath = old.Leadlight.Restart, old.WorktreePath
	}
	*old = m.entry
	return m, nil
}

// gone tells whether a member is proved not to run, and the state it was seen in.
func (p presence) gone(m *store.Member) (state string, gone bool) {
	state, known := p.states[m.Name]
	return state, known && hostOf(m) == p.hosts[m.Name] && !(&api.Member{State: state}).Live()
}

func (st *starter) entry(t *store.Team, n *resolvedMember) store.Member {
	now := time.Now()
	color := n.spec.Color
	if old := t.Member(n.spec.Name); color == "" && old != nil {
		color = old.Color
	}
	color = cmp.Or(color, pickColor(n.spec.Name, t.Members))
	return store.Member{
		AgentID: n.spec.Name + "@" + t.Name, Name: n.spec.Name, AgentType: n.spec.AgentType, Model: n.spec.Model,
		Prompt: n.spec.Prompt, Color: color, PlanModeRequired: n.record.Plan, JoinedAt: now, Cwd: n.record.Dir, IsActive: new(true), Mode: n.permissionMode(),
		Leadlight: &store.Bookkeeping{
			Host: n.record.Host, Kind: n.record.Kind, Profile: n.profile.Name, State: api.StateStarting, SpawnedAt: &now,
			Run: n.record.Run, RunTask: n.record.RunTask, Restart: n.record.Restart, Replaced: n.spec.replaced,
			Machine: st.machineOf(*t),
		},
	}
}

// permissionMode is the permission mode that a new entry shows; "" where the profile has
// no way into one.
func (n *resolvedMember) permissionMode() string {
	mode, profile := n.record.Mode, n.profile
	if n.record.Origin != nil {
		profile = *n.record.Origin
	}
	switch {
	case n.record.Plan:
		return profiles.ModePlan
	case n.record.Kind == profiles.Native || n.record.Kind == profiles.ACP || profile.CheckMode(mode):
		return mode
	}
	return ""
}

// prepare gives a member its worktree, if it asks for one, and its first message. Its box is
// emptied before: a request to its predecessor must not end the new one, nor an answer to a
// question of that one permit something. One that is started again keeps its mail, but neither of these.
func (r *spawning) prepare(ctx context.Context, m *registeredMember) error {
	if m.old != nil || !r.t.LedByUs() { // another lead's roster forgets who has ended
		if err := r.closeRequests(ctx, r.t, m.spec.Name, m.spec.again != nil); err != nil {
			r.log.Warn("close the requests of who had the name", "team", r.t.Name, "member", m.spec.Name, "error", err)
		}
	}
	if m.spec.again != nil {
		if err := r.takeBack(ctx, r.t.Name, m.spec.Name, true); err != nil {
			r.log.Warn("take requests back", "team", r.t.Name, "member", m.spec.Name, "error", err) // a damaged inbox keeps nobody from starting
		}
		return nil
	}
	if m.spec.Worktree != nil || m.clone != nil {
		if err := r.addWorktree(ctx, r.t, m); err != nil {
			return err
		}
	}
	if _, err := r.mail.Archive(ctx, r.t.Name, m.spec.Name); err != nil {
		return fmt.Errorf("archive the inbox of %s: %w", m.spec.Name, err)
	}
	if m.spec.Prompt == "" {
		return nil
	}
	_, err := r.post(ctx, r.t, m.spec.Name, store.Message{From: store.Lead, Text: m.spec.Prompt, Summary: summaryOf(m.spec.Prompt), Timestamp: time.Now()})
	if err != nil {
		return fmt.Errorf("write the first message of %s: %w", m.spec.Name, err)
	}
	return nil
}

// unregister is the undo of register, for all that have failed since: their worktrees,
// mail and entries go.
func (r *spawning) unregister(ctx context.Context) {
	if len(r.dropped) == 0 {
		return
	}
	hosts := map[string]registeredMember{}
	for _, m := range r.dropped {
		hosts[m.record.Host] = m
		if m.spec.again != nil {
			continue
		}
		if left := r.removeWorktree(ctx, r.t.Name, m.spec.Name); left != "" && m.tree != nil {
			r.notice(left)
		}
		if _, err := r.mail.Archive(ctx, r.t.Name, m.spec.Name); err != nil && fault.CodeOf(err) != fault.CodeOf(r.out[m.at].Err) {
			r.out[m.at].Err = errors.Join(r.out[m.at].Err, err)
		}
	}
	err := r.roster.Update(ctx, r.t.Name, func(now *store.Team) error {
		kept := now.Members[:0:0]
		for _, e := range now.Members {
			m, dropped := registeredMember{}, false
			if e.Leadlight != nil {
				m, dropped = hosts[e.Leadlight.Host]
			}
			switch {
			case !dropped:
				kept = append(kept, e)
			case m.old != nil:
				kept = append(kept, *m.old)
			}
		}
		now.Members = kept
		return nil
	})
	if err == nil || fault.CodeOf(err) == fault.TeamNotFound {
		return
	}
	for _, m := range r.dropped {
		r.out[m.at].Err = fmt.Errorf("%w; and the roster still names it: %w", r.out[m.at].Err, err)
	}
}

// maxSummary is how many characters of a first message are its summary.
const maxSummary = 60

// summaryOf is a first message in a few words: the beginning of its first line.
func summaryOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > maxSummary {
		return string(r[:maxSummary-1]) + "…"
	}
	return line
}
