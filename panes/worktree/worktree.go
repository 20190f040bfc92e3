// Package worktree gives a teammate a git worktree of its own, so that several can
// work on one repository without stepping on each other, and takes it back when
// nothing would be lost by it.
//
// It runs git, with the operator's hooks and the GIT_* variables of whoever asks
// kept out of it. What it makes lies below one root folder, away from the
// repository. Works on one repository are done one after the other, also between
// processes. A repository that is elsewhere is cloned beside them, once for each url.
package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/internal/shell"
)

// lockLimit is how long one waits for another that works on the same repository;
// a checkout of a large one takes its time.
const lockLimit = 5 * time.Minute

// Tree is one worktree.
type Tree struct {
	Path   string `json:"path"`
	Repo   string `json:"repo"`   // the repository's common git folder
	Branch string `json:"branch"` // its name, without refs/heads/
	Made   bool   `json:"made"`   // the branch was made for it
	Base   string `json:"base"`   // the commit it began with
	Dir    string `json:"dir"`    // where to work: the folder asked for, inside the tree
}

// Keeper makes and removes worktrees below one root folder.
type Keeper struct {
	Root    string   // made when it is needed
	Environ []string // what git gets, without its GIT_* variables
}

// Add makes a worktree of the repository that holds dir, for a teammate: on branch,
// which is made from the present commit if there is none, or on one of the
// teammate's own if branch is "". A worktree that was kept for the same teammate
// and branch is taken up again. fault.InvalidArgument if dir is in no repository or
// the branch is no name, fault.Rejected if the branch is in use.
func (k Keeper) Add(ctx context.Context, dir, team, name, branch string) (Tree, error) {
	g := git{environ: k.Environ, dir: dir}
	var t Tree
	top, repo, err := g.repository(ctx)
	if err != nil {
		return t, err
	}
	release, err := k.alone(ctx, repo, "add worktree")
	if err != nil {
		return t, err
	}
	defer release()
	t = Tree{Repo: repo, Path: filepath.Join(k.Root, safe(filepath.Base(top))+"-"+short(repo), safe(team), safe(name))}
	if t.Base, err = g.run(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return t, fault.New(fault.InvalidArgument, "the repository %s has no commit to begin with", top).WithHint("commit something first")
	}
	inside, err := g.run(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return t, err
	}
	if err := k.add(ctx, g, &t, team, name, branch); err != nil {
		return t, err
	}
	t.Dir = filepath.Join(t.Path, filepath.FromSlash(inside))
	if fi, err := os.Stat(t.Dir); err != nil || !fi.IsDir() {
		t.Dir = t.Path // the branch has no such folder
	}
	return t, nil
}

// add gives a tree its branch, and makes it.
func (k Keeper) add(ctx context.Context, g git, t *Tree, team, name, branch string) error {
	if t.Branch = branch; branch == "" {
		t.Branch = "leadlight/" + safe(team) + "/" + safe(name)
	}
	if said, err := g.run(ctx, "check-ref-format", "--branch", t.Branch); err != nil || said != t.Branch {
		return fault.New(fault.InvalidArgument, "%q cannot be the name of a branch", t.Branch).WithHint("give another one: --worktree BRANCH")
	}
	t.Dir = t.Path
	return k.checkout(ctx, g, t, branch == "")
}

// checkout makes the tree, or takes up the one that is there. A branch of the teammate's own
// that holds nothing but what is in the present commit begins anew: whoever made it was cut
// off.
func (k Keeper) checkout(ctx context.Context, g git, t *Tree, own bool) error {
	_, err := os.Lstat(t.Path)
	switch {
	case err == nil:
		return k.takeUp(ctx, t)
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("look at the worktree: %w", err)
	}
	if _, err := g.run(ctx, "worktree", "prune"); err != nil {
		return err // an entry of a tree that somebody removed by hand keeps its branch in use
	}
	args := []string{"worktree", "add", "--quiet", t.Path, t.Branch}
	if tip, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+t.Branch+"^{commit}"); err == nil && !(own && g.within(ctx, tip, t.Base)) {
		t.Base = tip
	} else {
		t.Made = true
		args = []string{"worktree", "add", "--quiet", "-B", t.Branch, t.Path, t.Base}
	}
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the worktree: %w", err)
	}
	if _, err := g.run(ctx, args...); err != nil {
		k.undo(g, *t)
		if fault.CodeOf(err) == fault.LockTimeout {
			return err
		}
		return fault.New(fault.Rejected, "no worktree on the branch %s can be made: %w", t.Branch, err).
			WithHint("a branch is in one worktree only; name another one: --worktree BRANCH")
	}
	return nil
}

// within tells whether all that a commit has is in another.
func (g git) within(ctx context.Context, commit, other string) bool {
	_, err := g.run(ctx, "merge-base", "--is-ancestor", commit, other)
	return err == nil
}

// undo takes back what a checkout that failed has left: the tree, git's entry of it, and
// the branch that was made for it, at which the next one would begin.
func (k Keeper) undo(g git, t Tree) {
	ctx := context.Background()
	_, _ = g.run(ctx, "worktree", "remove", "--force", "--force", t.Path)
	_, _ = g.run(ctx, "worktree", "prune")
	_ = files.RemoveEmpty(filepath.Dir(t.Path)) // the team's folder
	if tip, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+t.Branch); t.Made && err == nil && tip == t.Base {
		_, _ = g.run(ctx, "branch", "--quiet", "-D", t.Branch)
	}
}

// takeUp goes on with a tree that was kept.
func (k Keeper) takeUp(ctx context.Context, t *Tree) error {
	there := git{environ: k.Environ, dir: t.Path}
	top, repo, err := there.repository(ctx)
	on, onErr := there.run(ctx, "symbolic-ref", "--short", "HEAD")
	if err != nil || repo != t.Repo || !files.Same(top, t.Path) {
		return fault.New(fault.Rejected, "%s is there and is no worktree of this repository", t.Path).WithHint("move it away")
	}
	if onErr != nil || on != t.Branch {
		return fault.New(fault.Rejected, "the worktree %s was kept, and is not on the branch %s", t.Path, t.Branch).
			WithHint("git worktree remove %s, when its work is no longer needed", shell.Line(t.Path))
	}
	return nil
}

// Check refuses what no Add for that teammate returns: a folder of somebody else must not
// be taken for a worktree of ours, nor a branch.
func (k Keeper) Check(t Tree, team, name string) error {
	folder := filepath.Dir(t.Path)
	switch inside, err := filepath.Rel(t.Path, t.Dir); {
	case filepath.Clean(t.Path) != t.Path, filepath.Base(t.Path) != safe(name), filepath.Base(folder) != safe(team), filepath.Dir(filepath.Dir(folder)) != filepath.Clean(k.Root):
		return fmt.Errorf("%.200q is no folder of its worktree", t.Path)
	case err != nil || !filepath.IsLocal(inside):
		return fmt.Errorf("%.200q is not inside of its worktree", t.Dir)
	case !filepath.IsAbs(t.Repo) || filepath.Clean(t.Repo) != t.Repo || !strings.HasSuffix(filepath.Base(filepath.Dir(folder)), "-"+short(t.Repo)):
		return fmt.Errorf("%.200q is not the repository of its worktree", t.Repo)
	case t.Branch == "" || strings.HasPrefix(t.Branch, "-"):
		return fmt.Errorf("%.60q is no branch", t.Branch)
	}
	return nil
}

// Remove takes a worktree back, with the branch if that was made for it. kept says
// why it stays: something is not committed, or not merged into any other branch. A
// tree that is gone already is no error.
func (k Keeper) Remove(ctx context.Context, t Tree) (kept string, err error) {
	release, err := k.alone(ctx, t.Repo, "remove worktree")
	if err != nil {
		return "", err
	}
	defer release()
	main := git{environ: k.Environ, dir: t.Repo, repo: t.Repo}
	if _, err := os.Lstat(t.Path); errors.Is(err, os.ErrNotExist) {
		_, err = main.run(ctx, "worktree", "prune")
		return "", err
	}
	there := git{environ: k.Environ, dir: t.Path}
	switch top, repo, err := there.repository(ctx); {
	case err != nil:
		return "", err
	case repo != t.Repo || !files.Same(top, t.Path):
		return "it is no worktree of the repository " + t.Repo, nil
	}
	if kept, err := k.work(ctx, t); err != nil || kept != "" {
		return kept, err
	}
	if _, err := main.run(ctx, "worktree", "remove", t.Path); err != nil {
		return "git does not remove it: " + err.Error(), nil
	}
	_ = files.RemoveEmpty(filepath.Dir(t.Path)) // the team's folder
	if t.Made {
		// Nothing is on it that is not elsewhere: work has looked.
		if _, err := main.run(ctx, "branch", "--quiet", "-D", t.Branch); err != nil {
			return "", err
		}
	}
	return "", nil
}

// work says what would be lost with the tree.
func (k Keeper) work(ctx context.Context, t Tree) (string, error) {
	there := git{environ: k.Environ, dir: t.Path}
	changed, err := there.run(ctx, "status", "--porcelain", "--untracked-files=all")
	if err != nil {
		return "", err
	}
	if changed != "" {
		return fmt.Sprintf("it holds changes that are not committed (files: %d)", 1+strings.Count(changed, "\n")), nil
	}
	if n, err := there.hidden(ctx); err != nil {
		return "", err
	} else if n > 0 {
		return fmt.Sprintf("it holds changes that git status does not show, in files marked skip-worktree or assume-unchanged (files: %d)", n), nil
	}
	ignored, err := there.run(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return "", err
	}
	if inner := repositoryIn(t.Path, strings.Split(ignored, "\x00")); inner != "" {
		return fmt.Sprintf("another repository is in it: %s", inner), nil
	}
	args := []string{"rev-list", "--count", "HEAD"}
	if t.Made {
		args = append(args, "refs/heads/"+t.Branch)
	}
	// The branch itself keeps nothing if it is to go with the tree.
	args = append(args, "--not", t.Base, "--exclude="+t.Branch, "--branches", "--remotes", "--tags")
	n, err := there.run(ctx, args...)
	if err != nil {
		return "", err
	}
	if n != "0" {
		return fmt.Sprintf("the branch %s has %s commits that are on no other branch", t.Branch, n), nil
	}
	return "", nil
}

// maxLook is how many files are looked at in what git ignores: a folder of packages
// that somebody has fetched is not searched for ever.
const maxLook = 200_000

// repositoryIn finds a repository in those folders of a tree that git ignores, and
// would remove with all that was ever committed there. "": none.
func repositoryIn(tree string, ignored []string) (found string) {
	looked := 0
	for _, dir := range ignored {
		if !strings.HasSuffix(dir, "/") {
			continue
		}
		_ = filepath.WalkDir(filepath.Join(tree, filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
			looked++
			switch {
			case looked > maxLook:
				return fs.SkipAll
			case err == nil && d.Name() == ".git":
				found, _ = filepath.Rel(tree, filepath.Dir(path))
				return fs.SkipAll
			}
			return nil
		})
		if found != "" {
			return found
		}
	}
	return ""
}

// alone waits until nobody else works on a repository.
func (k Keeper) alone(ctx context.Context, repo, verb string) (release func(), err error) {
	if k.Root == "" || !filepath.IsAbs(k.Root) {
		return nil, errNoFolder()
	}
	return lock.In(ctx, k.Root, "locks/"+short(repo), verb, lockLimit)
}

func errNoFolder() error {
	return fault.New(fault.InvalidArgument, "there is no folder for worktrees: HOME is not set")
}

// safe is a name as part of a path and of a branch: what could mean something to
// either is replaced, and a hash then keeps two names apart.
func safe(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
	if plain = strings.TrimLeft(plain, "-"); plain != name || name == "" {
		plain += "-" + short(name)
	}
	return plain
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}
