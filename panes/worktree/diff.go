package worktree

import (
	"context"
	"errors"
	"os/exec"
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
	known, err := g.run(ctx, append(append([]string{"diff"}, flags...), t.Base, "--")...)
	if err != nil {
		return "", err
	}
	list, err := g.run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return "", err
	}
	parts := []string{known}
	for file := range strings.SplitSeq(strings.Trim(list, "\x00"), "\x00") {
		if file == "" {
			continue
		}
		added, err := g.added(ctx, flags, file)
		if err != nil {
			return "", err
		}
		parts = append(parts, added)
	}
	return strings.Trim(strings.Join(parts, "\n"), "\n"), nil
}

// added is the diff of a file that git does not know yet.
func (g git) added(ctx context.Context, flags []string, file string) (string, error) {
	out, err := g.output(ctx, append(append([]string{"diff", "--no-index"}, flags...), "--", "/dev/null", file)...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // the files differ, as they must
	}
	return out, err
}

// Lines counts the lines that were added and removed in a tree since it branched, new files
// included. A binary file counts for nothing.
func (k Keeper) Lines(ctx context.Context, t Tree) (added, removed int, err error) {
	g := git{environ: k.Environ, dir: t.Path}
	table, err := g.run(ctx, "diff", "--no-ext-diff", "--no-textconv", "--numstat", "-z", t.Base, "--")
	if err != nil {
		return 0, 0, err
	}
	news, err := g.run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return 0, 0, err
	}
	for file := range strings.SplitSeq(strings.Trim(news, "\x00"), "\x00") {
		if file == "" {
			continue
		}
		one, err := g.added(ctx, []string{"--numstat", "-z"}, file)
		if err != nil {
			return 0, 0, err
		}
		table += "\x00" + one
	}
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
