package teams

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/worktree"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Source is a repository that is elsewhere, at one of its refs.
type Source = worktree.Source

// checkFolder fills in where a member works. One with a repository gets its folder when that
// is fetched.
func (st *starter) checkFolder(t store.Team, n *resolvedMember) (err error) {
	if n.spec.Git == nil {
		n.record.Dir, err = st.workingFolder(t, n.spec.Cwd)
		if err != nil && n.spec.again != nil { // its worktree goes when it is stopped and nothing is in it
			return fault.New(fault.CodeOf(err), "%s", fault.Of(err).Message).
				WithHint("make it; or start %s anew, with leadlight spawn or, from its team file, leadlight up", n.spec.Name)
		}
		return err
	}
	src := *n.spec.Git
	if src.Local() {
		if src.URL, err = st.absolute("the repository", src.URL); err != nil {
			return err
		}
	}
	n.spec.Git = &src
	return src.Check()
}

// checkHere checks a teammate that is to be started here; with source, also whether its
// repository can be reached and has what it is to begin with.
func (st *starter) checkHere(ctx context.Context, t store.Team, spec SpawnSpec, source bool) error {
	n, err := st.resolveOne(t, spec, "")
	if err == nil && source && n.spec.Git != nil {
		if err = st.worktrees().Find(ctx, *n.spec.Git); err != nil {
			err = mistaken{error: err, key: "git"}
		}
	}
	return err
}

// fetch is the stage in which the repositories of members are fetched, before anything says
// that they are there. It hands members on when they can go on: at first those without a
// repository, then those whose repository has come. So a slow one keeps nobody else from
// starting, and nobody's lock is held for it.
func (r *spawning) fetch(ctx context.Context, in []resolvedMember) iter.Seq[[]resolvedMember] {
	return func(yield func([]resolvedMember) bool) {
		of := map[string][]resolvedMember{} // by url
		for _, m := range in {
			url := ""
			if m.spec.Git != nil {
				url = m.spec.Git.URL
			}
			of[url] = append(of[url], m)
		}
		come := make(chan []resolvedMember, len(of))
		here := of[""]
		delete(of, "")
		for _, group := range of {
			go func() { come <- r.fetchOne(ctx, group) }()
		}
		var gone []resolvedMember
		for left := len(of); ; {
			if len(here) > 0 && !yield(among(gone, here)) {
				return
			}
			if gone = append(gone, here...); left == 0 {
				return
			}
			here = <-come
			for left--; len(come) > 0; left-- {
				here = append(here, <-come...)
			}
		}
	}
}

// among gives members their order, and each its place in the roster behind the one before it
// of those that have gone on.
func among(gone, in []resolvedMember) []resolvedMember {
	byAt := func(a, b resolvedMember) int { return cmp.Compare(a.at, b.at) }
	slices.SortFunc(in, byAt)
	if len(gone) == 0 {
		return in
	}
	all := slices.SortedFunc(slices.Values(slices.Concat(gone, in)), byAt)
	for i := range in {
		if at, _ := slices.BinarySearchFunc(all, in[i], byAt); at > 0 && in[i].spec.After == "" {
			in[i].spec.After = all[at-1].spec.Name
		}
	}
	return in
}

// fetchOne fetches a repository for the members that are to work in it, each ref once.
func (r *spawning) fetchOne(ctx context.Context, in []resolvedMember) []resolvedMember {
	once := map[Source]func() (worktree.Clone, error){}
	for _, m := range in {
		if src := *m.spec.Git; once[src] == nil {
			once[src] = sync.OnceValues(func() (worktree.Clone, error) { return r.worktrees().Fetch(ctx, src) })
		}
	}
	on, _ := pass(r, in, func(_ int, m *resolvedMember) error {
		r.say(m.spec.Name, "fetches "+m.spec.Git.String())
		c, err := once[*m.spec.Git]()
		if err != nil {
			return err
		}
		m.clone, m.record.Dir = &c, r.worktrees().PathOf(c, r.t.Name, m.spec.Name)
		return nil
	})
	return on
}

// sources are the repositories that were asked whether they have what teammates begin with, by
// machine: each is asked once.
type sources map[sourceOn]bool

type sourceOn struct {
	machine string
	source  Source
}

// first tells whether a repository was not asked yet from a machine.
func (all sources) first(machine string, source *Source) bool {
	if source == nil || all[sourceOn{machine, *source}] {
		return false
	}
	all[sourceOn{machine, *source}] = true
	return true
}
