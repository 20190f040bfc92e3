package teams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// lockPending keeps other verbs from starting or ending the pending members until it is
// known what became of them.
func (s *Service) lockPending(ctx context.Context, t store.Team, news []pendingMember) (release func()) {
	var held []func()
	for _, i := range byName(news) { // in one order, so that two spawns never wait for each other
		n := &news[i]
		if n.err != nil || n.spec.again != nil || i > 0 && slices.ContainsFunc(news[:i], func(o pendingMember) bool { return o.err == nil && store.SameName(o.spec.Name, n.spec.Name) }) {
			continue // a name that comes twice is refused by the roster, and a restart has the lock
		}
		free, err := s.panes.LockMember(ctx, t.Name, n.spec.Name, "start a teammate", s.limits.lockWait())
		if err != nil {
			n.err = err
			continue
		}
		held = append(held, free)
	}
	return func() {
		for _, free := range held {
			free()
		}
	}
}

// byName returns the indexes of pending members in the order of their names.
func byName(news []pendingMember) []int {
	index := make([]int, len(news))
	for i := range index {
		index[i] = i
	}
	slices.SortFunc(index, func(a, b int) int { return cmp.Compare(news[a].spec.Name, news[b].spec.Name) })
	return index
}

// launch opens the panes and writes what came of it.
func (s *Service) launch(ctx context.Context, t store.Team, order []string, news []pendingMember) {
	var launches []panes.Launch
	var index []int
	for i, n := range news {
		if n.err == nil {
			launches = append(launches, s.launchOf(t, n))
			index = append(index, i)
		}
	}
	if len(launches) == 0 {
		s.rollback(ctx, t, news)
		return
	}
	s.clearOld(ctx, t, news)
	results := s.launchAll(ctx, news, order, index, launches)
	for k, i := range index {
		news[i].err = results[k].Err
	}
	s.settle(ctx, t, news, func(now *store.Team) error {
		for k, i := range index {
			if news[i].err != nil {
				continue
			}
			m := now.Member(news[i].spec.Name)
			if m == nil || m.Leadlight == nil || m.Leadlight.Host != news[i].host {
				if news[i].err = s.panes.EarlyEnd(ctx, launches[k]); news[i].err == nil && t.LedByUs() { // else it has ended already, and its entry with it
					news[i].err = fault.New(fault.SpawnFailed, "the entry of %s was taken out of the roster of team %s while it started", news[i].spec.Name, t.Name)
				}
				continue
			}
			if m.Leadlight.State == api.StateFailed { // since it was looked at last
				if news[i].err = s.panes.EarlyEnd(ctx, launches[k]); news[i].err != nil {
					continue
				}
			}
			m.TmuxPaneID, m.BackendType = paneAsWritten(t, results[k].Pane.ID, launches[k].Record.Backend)
			if tree := news[i].tree; tree != nil {
				m.Cwd = tree.Dir
				if t.LedByUs() { // a Claude lead removes what is named here, work or no work
					m.WorktreePath = tree.Path
				}
			}
			if m.Leadlight.State == api.StateStarting || m.Leadlight.State == api.StateLost {
				m.Leadlight.State = api.StateActive
			}
			news[i].member = *m
		}
		return nil
	})
	for k, i := range index {
		if news[i].err != nil && results[k].Err == nil { // it runs, but that could not be written
			s.panes.Undo(context.WithoutCancel(ctx), launches[k], results[k].Pane)
		}
	}
	s.rollback(ctx, t, news)
}

// clearOld closes the panes that those who had the names before have left.
func (s *Service) clearOld(ctx context.Context, t store.Team, news []pendingMember) {
	var wg sync.WaitGroup
	for _, n := range news {
		if n.err != nil || n.old == nil || n.old.Leadlight == nil || s.elsewhere(*n.old) {
			continue
		}
		wg.Go(func() {
			obs := s.observed(ctx, t.Name, *n.old)
			s.panes.End(ctx, s.target(t, *n.old, obs), s.limits.Term, s.limits.Kill)
		})
	}
	wg.Wait()
}

// launchAll launches those of the same placement together.
func (s *Service) launchAll(ctx context.Context, news []pendingMember, order []string, index []int, launches []panes.Launch) []panes.Launched {
	out := make([]panes.Launched, len(launches))
	done := make([]bool, len(launches))
	for k := range launches {
		if done[k] {
			continue
		}
		layout := news[index[k]].layout()
		var group []panes.Launch
		var at []int
		for j := k; j < len(launches); j++ {
			if !done[j] && news[index[j]].layout() == layout {
				done[j] = true
				group, at = append(group, launches[j]), append(at, j)
			}
		}
		for n, r := range s.panes.Launch(ctx, layout, order, group) {
			out[at[n]], launches[at[n]] = r, group[n] // Launch fills the record in
		}
	}
	return out
}

func (n pendingMember) layout() panes.Layout {
	l := n.spec.Layout
	if n.spec.Placement != "" {
		l.Placement = n.spec.Placement
	}
	return l
}

// rollback takes those that failed out of the roster again, with their mail.
func (s *Service) rollback(ctx context.Context, t store.Team, news []pendingMember) {
	ctx = context.WithoutCancel(ctx)
	failed := map[string]*pendingMember{}
	for i := range news {
		if n := &news[i]; n.err != nil && n.joined {
			failed[n.spec.Name] = n
			if n.spec.again != nil {
				continue
			}
			if left := s.removeWorktree(ctx, t.Name, n.spec.Name); left != "" && n.tree != nil {
				s.notice(left)
			}
			if _, err := s.mail.Archive(ctx, t.Name, n.spec.Name); err != nil {
				n.err = errors.Join(n.err, err)
			}
		}
	}
	if len(failed) == 0 {
		return
	}
	err := s.roster.Update(ctx, t.Name, func(now *store.Team) error {
		kept := now.Members[:0:0]
		for _, m := range now.Members {
			n := failed[m.Name]
			switch {
			case n == nil || m.Leadlight == nil || m.Leadlight.Host != n.host:
				kept = append(kept, m)
			case n.old != nil:
				kept = append(kept, *n.old)
			}
		}
		now.Members = kept
		return nil
	})
	if err != nil && fault.CodeOf(err) != fault.TeamNotFound {
		for _, n := range failed {
			n.err = fmt.Errorf("%w; and the roster still names it: %w", n.err, err)
		}
	}
}
