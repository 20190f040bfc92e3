package teams

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// looking is one look at members of a team. What is the same for several of them is found
// out once, and only if somebody needs it.
type looking struct {
	*observer
	t      store.Team
	lead   func() signals.Liveness
	tmux   func() panes.ForeignPanes
	iterm2 func() panes.ForeignPanes
	newest func() map[requestKey]answer // to requests to stop
}

func (ob *observer) looking(ctx context.Context, t store.Team) looking {
	l := looking{observer: ob, t: t, lead: sync.OnceValue(func() signals.Liveness { return leadAlive(t) })}
	panesOf := func(kind string) func() panes.ForeignPanes {
		return sync.OnceValue(func() panes.ForeignPanes {
			pid := 0
			if l.lead() == signals.Alive {
				pid = t.LeadProcess.PID
			}
			return ob.panes.ForeignPanes(ctx, kind, pid)
		})
	}
	l.tmux, l.iterm2 = panesOf("tmux"), panesOf(panes.ITerm2)
	l.newest = sync.OnceValue(func() map[requestKey]answer {
		all, err := ob.newestAnswers(ctx, t)
		if err != nil {
			return nil
		}
		return all
	})
	return l
}

// observeOne looks at a member, but not into its box, which may be large.
func (ob *observer) observeOne(ctx context.Context, t store.Team, m store.Member) api.Member {
	return ob.looking(ctx, t).observe(ctx, m)
}

func (l looking) observe(ctx context.Context, m store.Member) api.Member {
	out := api.Member{
		Name: m.Name, AgentID: cmp.Or(m.AgentID, m.Name+"@"+l.t.Name), AgentType: m.AgentType, Model: m.Model, Color: m.Color,
		IsActive: m.IsActive, BackendType: m.BackendType, TmuxPaneID: m.TmuxPaneID, Cwd: m.Cwd, Worktree: m.WorktreePath, PermissionMode: m.Mode, Metadata: m.Metadata,
	}
	switch {
	case m.Unsafe:
		out.State, out.Reason = api.StateUnknown, "its name is not safe to use"
		return out
	case m.Leadlight != nil:
		l.observeHosted(ctx, l.t, m, &out)
	case l.t.IsLead(m):
		observeLead(l.t, &out)
	default:
		l.observeForeign(m, &out)
	}
	return out
}

func observeLead(t store.Team, out *api.Member) {
	out.State = api.StateUnknown
	switch {
	case t.LeadProcess == nil && t.LedByUs():
		out.State, out.Reason = api.StateIdle, "whoever runs leadlight is the lead"
	case t.LeadProcess == nil:
		out.Reason = "its process is not recorded"
	default:
		out.PID = t.LeadProcess.PID
		switch leadAlive(t) {
		case signals.Alive:
			out.State = api.StateActive
		case signals.Gone:
			out.State, out.Reason = api.StateLost, "the lead's process is gone"
			if t.LedByUs() && !slices.ContainsFunc(t.Teammates(), func(m store.Member) bool { return m.Leadlight == nil || m.Leadlight.State != api.StateStopped }) {
				out.State, out.Reason = api.StateStopped, "it has ended, after all teammates"
			}
		}
	}
}

// observeForeign looks at a member that somebody else runs. Its pane decides, not
// its flag.
func (l looking) observeForeign(m store.Member, out *api.Member) {
	alive := api.StateIdle
	if m.IsActive == nil || *m.IsActive {
		alive = api.StateActive
	}
	switch {
	case m.TmuxPaneID == InProcess || m.BackendType == InProcess:
		out.State, out.Reason = l.inProcess(m, alive)
	case m.TmuxPaneID == "" && m.BackendType == "":
		out.State, out.Reason = api.StateUnknown, "no pane is recorded"
	case isTmuxPane(m.TmuxPaneID) && cmp.Or(m.BackendType, "tmux") == "tmux":
		out.State, out.Reason = inPane(l.tmux(), m, alive)
	case m.BackendType == panes.ITerm2 && m.TmuxPaneID != "":
		out.State, out.Reason = inPane(l.iterm2(), m, alive)
	default:
		out.State, out.Reason = api.StateUnknown, "leadlight does not know the backend "+store.Shown(m.BackendType)
	}
}

// inPane judges a teammate by its pane.
func inPane(all panes.ForeignPanes, m store.Member, alive string) (state, reason string) {
	switch there, known, why := all.There(backend.ID(m.TmuxPaneID)); {
	case !known:
		return api.StateUnknown, why
	case there:
		return alive, ""
	}
	return api.StateLost, "its pane is gone"
}

// inProcess judges a teammate that runs inside its lead: it lives as long as the
// lead, unless its shutdown was agreed.
func (l looking) inProcess(m store.Member, alive string) (state, reason string) {
	lead := l.lead()
	switch {
	case lead == signals.Gone:
		return api.StateLost, "it ran inside the lead, whose process is gone"
	case l.agreed(m):
		return api.StateStopped, "agreed to shut down"
	case lead == signals.Alive:
		return alive, ""
	}
	return api.StateUnknown, "it runs inside the lead, whose process is not recorded"
}

// agreed tells whether the newest answer of a member to a request to stop is that it
// agrees, and not of one that had the name before.
func (l looking) agreed(m store.Member) bool {
	a, ok := l.newest()[requestKey{name: m.Name}]
	return ok && a.outcome == state.Approved && !a.at.Before(m.JoinedAt.Truncate(time.Millisecond))
}
