package teams

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/worktree"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// worktrees makes and removes worktrees. They lie with the user's other state, where
// neither the repository nor the end of the team touches them.
func (tr *trees) worktrees() worktree.Keeper {
	root := panes.StateDir(func(name string) string { return variable(tr.environ, name) })
	if root != "" {
		root = filepath.Join(root, "worktrees")
	}
	return worktree.Keeper{Root: root, Environ: tr.environ}
}

// addWorktree gives a member a worktree, in which it then works.
func (tr *trees) addWorktree(ctx context.Context, t store.Team, n *registeredMember) error {
	var tree worktree.Tree
	var err error
	if branch := deref(n.spec.Worktree); n.clone != nil {
		tree, err = tr.worktrees().AddOf(ctx, *n.clone, t.Name, n.spec.Name, branch)
	} else {
		tree, err = tr.worktrees().Add(ctx, n.record.Dir, t.Name, n.spec.Name, branch)
	}
	if err != nil {
		return fmt.Errorf("a worktree for %s: %w", n.spec.Name, err)
	}
	n.tree, n.record.Dir = &tree, tree.Dir
	return tr.editWorktrees(ctx, t.Name, func(all map[string]worktree.Tree) { all[n.spec.Name] = tree })
}

func (tr *trees) editWorktrees(ctx context.Context, team string, change func(map[string]worktree.Tree)) error {
	err := tr.worktreeRecord().Edit(ctx, tr.panes.Records(), team, "write worktrees", func(all *map[string]worktree.Tree) (bool, error) {
		if *all == nil {
			*all = map[string]worktree.Tree{}
		}
		change(*all)
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("write the worktrees of team %s: %w", team, err)
	}
	return nil
}

// removeWorktree takes the worktree of a teammate that has ended back, if it has one. It
// returns why it is left, if it is: work in it is never lost.
func (tr *trees) removeWorktree(ctx context.Context, team, name string) (left string) {
	all, err := tr.worktreeRecord().Read(ctx, tr.panes.Records(), team)
	if err != nil {
		return fmt.Sprintf("a worktree of %s, if it has one, is kept: %v", name, err)
	}
	tree, has := all[name]
	if !has {
		return ""
	}
	kept, err := tr.worktrees().Remove(ctx, tree)
	if err != nil {
		kept = err.Error()
	}
	if kept == "" {
		if err := tr.editWorktrees(ctx, team, func(all map[string]worktree.Tree) { delete(all, name) }); err != nil {
			tr.log.Warn("forget a worktree", "path", tree.Path, "error", err)
		}
		return ""
	}
	return fmt.Sprintf("the worktree %s of %s is kept: %s", tree.Path, name, kept)
}

// removeWorktrees takes all worktrees of a team back that can be, before its records go.
func (tr *trees) removeWorktrees(ctx context.Context, team string) {
	all, err := tr.worktreeRecord().Read(ctx, tr.panes.Records(), team)
	if err != nil {
		tr.notice(fmt.Sprintf("which worktrees team %s had cannot be read: %v", team, err))
	}
	for name := range all {
		if left := tr.removeWorktree(ctx, team, name); left != "" {
			tr.notice(left)
		}
	}
}

// Changed counts what a teammate changed in its worktree.
func (tr *trees) Changed(ctx context.Context, team, name string) (Changed, error) {
	t, m, err := tr.reach(ctx, team, name)
	if err != nil {
		return Changed{}, err
	}
	if tr.routed(m) {
		ctx, cancel := context.WithTimeout(ctx, observeLimit)
		defer cancel()
		var c Changed
		err := tr.ask(ctx, m.Leadlight.Machine, verbChanged, order{Team: t.Name, Names: []string{m.Name}}, &c, nil)
		return c, err
	}
	tree, err := tr.treeOf(ctx, t, m)
	if err != nil {
		return Changed{}, err
	}
	added, removed, err := tr.worktrees().Lines(ctx, tree)
	return Changed{tree.Branch, added, removed}, err
}

// Diff returns what a teammate changed in its worktree.
func (tr *trees) Diff(ctx context.Context, team, name string, stat, color bool) (d Difference, err error) {
	t, m, err := tr.reach(ctx, team, name)
	if err != nil {
		return d, err
	}
	if tr.routed(m) {
		var all strings.Builder
		o := order{Team: t.Name, Names: []string{m.Name}, Stat: stat, ANSI: color}
		err := tr.ask(ctx, m.Leadlight.Machine, verbDiff, o, &d, func(part told) { all.Write(part.Text) })
		d.Text = all.String()
		return d, err
	}
	tree, err := tr.treeOf(ctx, t, m)
	if err != nil {
		return d, err
	}
	if d.Branch = tree.Branch; tr.worktrees().Cloned(tree) {
		d.Clone = tree.Path
	}
	d.Text, err = tr.worktrees().Diff(ctx, tree, stat, color)
	return d, err
}

// treeOf is the worktree of a teammate of this machine.
func (tr *trees) treeOf(ctx context.Context, t store.Team, m store.Member) (worktree.Tree, error) {
	all, err := tr.worktreeRecord().Read(ctx, tr.panes.Records(), t.Name)
	if err != nil {
		return worktree.Tree{}, fmt.Errorf("read the worktrees of team %s: %w", t.Name, err)
	}
	tree, has := all[m.Name]
	if !has {
		return worktree.Tree{}, fault.New(fault.Unsupported, "teammate %s has no worktree of its own", m.Name).WithHint("leadlight spawn NAME --worktree gives it one; git diff shows what changed in a shared folder")
	}
	return tree, nil
}
