package worktree

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/files"
)

// hidden counts the files whose edits git status does not show, because they are marked
// as assumed unchanged or as skipped, and which differ from what git has: an index that is
// made anew has no such marks. A file that is gone loses nothing.
func (g git) hidden(ctx context.Context) (int, error) {
	listed, err := g.run(ctx, "ls-files", "-v", "-z")
	if err != nil {
		return 0, err
	}
	marked := func(entry string) bool { return entry != "" && (entry[0] == 'S' || entry[0] >= 'a') }
	if !slices.ContainsFunc(strings.Split(listed, "\x00"), marked) {
		return 0, nil
	}
	temp, err := files.TempFolder("", "leadlight-index-")
	if err != nil {
		return 0, files.Explain("make folder", temp.String(), err)
	}
	defer func() { _ = temp.Remove() }()
	g.index = filepath.Join(temp.String(), "index")
	if _, err := g.run(ctx, "read-tree", "--no-sparse-checkout", "HEAD"); err != nil {
		return 0, err
	}
	_, _ = g.run(ctx, "update-index", "-q", "--refresh") // it fails where files differ
	changed, err := g.run(ctx, "diff-files", "--name-only", "--diff-filter=d", "-z")
	return strings.Count(changed, "\x00"), err
}
