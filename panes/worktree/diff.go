package worktree

import (
	"context"
	"errors"
	"os/exec"
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
