package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hashBatch is how many files git hashes in one call.
const hashBatch = 200

// hidden counts the files whose edits git status does not show, because they are marked
// as assumed unchanged or as skipped, and which differ from what git has.
func (g git) hidden(ctx context.Context, tree string) (int, error) {
	listed, err := g.run(ctx, "ls-files", "-v", "-z")
	if err != nil {
		return 0, err
	}
	var marked []string
	for entry := range strings.SplitSeq(listed, "\x00") {
		tag, path, ok := strings.Cut(entry, " ")
		if !ok || tag != "S" && tag == strings.ToUpper(tag) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(tree, path)); err == nil { // one that is gone loses nothing
			marked = append(marked, path)
		}
	}
	if len(marked) == 0 {
		return 0, nil
	}
	known, err := g.blobs(ctx)
	if err != nil {
		return 0, err
	}
	changed := 0
	for batch := range slices.Chunk(marked, hashBatch) {
		said, err := g.run(ctx, append([]string{"hash-object", "--"}, batch...)...)
		hashes := strings.Fields(said)
		for i, path := range batch {
			if err != nil || len(hashes) != len(batch) || hashes[i] != known[path] { // what cannot be compared may be work
				changed++
			}
		}
	}
	return changed, nil
}

// blobs are the hashes of the files as git has them.
func (g git) blobs(ctx context.Context) (map[string]string, error) {
	staged, err := g.run(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for entry := range strings.SplitSeq(staged, "\x00") {
		about, path, ok := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); ok && len(fields) == 3 {
			out[path] = fields[1]
		}
	}
	return out, nil
}
