package worktree

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Diff returns what was changed in a worktree since it branched: commits, changes that are
// in no commit, and new files. stat gives one line a file.
func (k Keeper) Diff(ctx context.Context, t Tree, stat, color bool) (string, error) {
	g := git{environ: k.Environ, dir: t.Path}
	flags := []string{"--no-ext-diff", "--no-textconv", "--color=" + map[bool]string{true: "always", false: "never"}[color]}
	if stat {
		flags = append(flags, "--stat")
	}
	known, err := g.run(ctx, slices.Concat([]string{"diff"}, flags, []string{t.Base, "--"})...)
	if err != nil {
		return "", err
	}
	added, err := g.added(ctx, flags...)
	if err != nil {
		return "", err
	}
	return strings.Trim(strings.Join(append([]string{known}, added...), "\n"), "\n"), nil
}

// added are the diffs of the files that git does not know yet.
func (g git) added(ctx context.Context, flags ...string) (diffs []string, err error) {
	list, err := g.run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	for file := range strings.SplitSeq(strings.Trim(list, "\x00"), "\x00") {
		if file == "" {
			continue
		}
		diff, err := g.output(ctx, slices.Concat([]string{"diff", "--no-index"}, flags, []string{"--", "/dev/null", file})...)
		exit, _ := errors.AsType[*exec.ExitError](err)
		if err != nil && (exit == nil || exit.ExitCode() != 1) { // 1: the files differ, as they must
			return nil, err
		}
		diffs = append(diffs, diff)
	}
	return diffs, nil
}

// Lines counts the lines that were added and removed in a tree since it branched, new files
// included. A binary file counts for nothing.
func (k Keeper) Lines(ctx context.Context, t Tree) (added, removed int, err error) {
	g := git{environ: k.Environ, dir: t.Path}
	table, err := g.run(ctx, "diff", "--no-ext-diff", "--no-textconv", "--numstat", "-z", t.Base, "--")
	if err != nil {
		return 0, 0, err
	}
	news, err := g.added(ctx, "--numstat", "-z")
	if err != nil {
		return 0, 0, err
	}
	table = strings.Join(append(news, table), "\x00")
	for row := range strings.SplitSeq(table, "\x00") { // added, removed, name
		plus, rest, _ := strings.Cut(row, "\t")
		minus, _, ok := strings.Cut(rest, "\t")
		p, errP := strconv.Atoi(plus)
		m, errM := strconv.Atoi(minus)
		if ok && errP == nil && errM == nil {
			added, removed = added+p, removed+m
		}
	}
	return added, removed, nil
}
