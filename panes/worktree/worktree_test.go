package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/worktree"
)

// repo is a real repository with one commit, whose hooks would leave a mark.
func repo(t *testing.T) (dir string, k worktree.Keeper) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("these tests need git")
	}
	dir = filepath.Join(t.TempDir(), "re po")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	in(t, dir, "git", "init", "-q", "-b", "main")
	write(t, filepath.Join(dir, "sub", "a"), "one")
	commit(t, dir)
	hook := filepath.Join(dir, ".git", "hooks", "post-checkout")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, hook, "#!/bin/sh\ntouch '"+dir+"/.git/hook-ran'\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, worktree.Keeper{Root: filepath.Join(t.TempDir(), "trees"), Environ: append(os.Environ(), "GIT_DIR=/nowhere", "GIT_INDEX_FILE=/nowhere")}
}

func in(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// nest makes a repository with a commit.
func nest(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	in(t, dir, "git", "init", "-q", "-b", "main")
	write(t, filepath.Join(dir, "own"), "x")
	commit(t, dir)
}

func commit(t *testing.T, dir string) {
	t.Helper()
	in(t, dir, "git", "add", "-A")
	in(t, dir, "git", "commit", "-q", "-m", "x")
}

func TestATreeThatHoldsNothingGoes(t *testing.T) {
	dir, k := repo(t)
	tree, err := k.Add(t.Context(), filepath.Join(dir, "sub"), "alpha", "bob", "")
	if err != nil {
		t.Fatal(err)
	}
	if tree.Branch != "leadlight/alpha/bob" || !tree.Made || tree.Dir != filepath.Join(tree.Path, "sub") || strings.HasPrefix(tree.Path, dir) {
		t.Errorf("got %+v", tree)
	}
	if data, err := os.ReadFile(filepath.Join(tree.Dir, "a")); err != nil || string(data) != "one" {
		t.Errorf("%q %v", data, err)
	}
	if kept, err := k.Remove(t.Context(), tree); kept != "" || err != nil {
		t.Fatalf("kept %q, %v", kept, err)
	}
	if _, err := os.Stat(tree.Path); err == nil {
		t.Error("the tree is there")
	}
	if left := in(t, dir, "git", "branch", "--list", "leadlight/*"); left != "" {
		t.Errorf("branches %q", left)
	}
	if n := strings.Count(in(t, dir, "git", "worktree", "list"), "\n"); n != 0 {
		t.Errorf("%d worktrees are listed", n)
	}
	if kept, err := k.Remove(t.Context(), tree); kept != "" || err != nil {
		t.Errorf("again: kept %q, %v", kept, err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "hook-ran")); err == nil {
		t.Error("a hook of the repository ran")
	}
}

func TestWorkIsNeverLost(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(t *testing.T, tree string)
		want string
	}{
		"untracked": {func(t *testing.T, tree string) { write(t, filepath.Join(tree, "new"), "x") }, "not committed (files: 1)"},
		"changed":   {func(t *testing.T, tree string) { write(t, filepath.Join(tree, "sub", "a"), "two") }, "not committed"},
		"committed": {func(t *testing.T, tree string) { write(t, filepath.Join(tree, "new"), "x"); commit(t, tree) }, "has 1 commits"},
		"detached": {func(t *testing.T, tree string) {
			in(t, tree, "git", "checkout", "-q", "--detach")
			write(t, filepath.Join(tree, "n"), "")
			commit(t, tree)
		}, "1 commits"},
		"committed, left": {func(t *testing.T, tree string) {
			write(t, filepath.Join(tree, "n"), "")
			commit(t, tree)
			in(t, tree, "git", "checkout", "-q", "--detach", "main")
		}, "1 commits"},
		"a repository in it": {func(t *testing.T, tree string) { nest(t, filepath.Join(tree, "nested")) }, "not committed"},
		"a repository that is ignored": {func(t *testing.T, tree string) {
			write(t, filepath.Join(tree, ".gitignore"), "third/\n.gitignore\n")
			nest(t, filepath.Join(tree, "third", "nested"))
		}, "third/nested"},
		"a submodule": {func(t *testing.T, tree string) {
			other := filepath.Join(t.TempDir(), "other")
			nest(t, other)
			in(t, tree, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub module")
			commit(t, tree)
			in(t, tree, "git", "branch", "-f", "merged")
		}, "submodules"},
		"amid a rebase": {func(t *testing.T, tree string) {
			write(t, filepath.Join(tree, "sub", "a"), "two")
			commit(t, tree)
			in(t, tree, "git", "checkout", "-q", "--detach", "HEAD~")
			write(t, filepath.Join(tree, "sub", "a"), "three")
			commit(t, tree)
			c := exec.Command("git", "rebase", "-q", "leadlight/alpha/bob")
			c.Dir = tree
			_ = c.Run() // it stops at the conflict
		}, "not committed"},
		"on a new branch": {func(t *testing.T, tree string) {
			in(t, tree, "git", "checkout", "-q", "-b", "own")
			write(t, filepath.Join(tree, "n"), "")
			commit(t, tree)
		}, ""},
		"merged": {func(t *testing.T, tree string) {
			write(t, filepath.Join(tree, "n"), "")
			commit(t, tree)
			in(t, tree, "git", "branch", "-f", "merged")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, k := repo(t)
			tree, err := k.Add(t.Context(), dir, "alpha", "bob", "")
			if err != nil {
				t.Fatal(err)
			}
			tc.do(t, tree.Path)
			kept, err := k.Remove(t.Context(), tree)
			if err != nil || !strings.Contains(kept, tc.want) || (kept == "") != (tc.want == "") {
				t.Errorf("kept %q, %v; want %q", kept, err, tc.want)
			}
			if _, err := os.Stat(tree.Path); (err == nil) != (tc.want != "") {
				t.Errorf("the tree: %v", err)
			}
		})
	}
}

func TestKeptWorkIsTakenUpAgain(t *testing.T) {
	dir, k := repo(t)
	tree, err := k.Add(t.Context(), dir, "alpha", "bob", "feature")
	if err != nil || tree.Branch != "feature" || !tree.Made {
		t.Fatalf("%+v %v", tree, err)
	}
	write(t, filepath.Join(tree.Path, "new"), "x")
	if kept, _ := k.Remove(t.Context(), tree); kept == "" {
		t.Fatal("not kept")
	}
	again, err := k.Add(t.Context(), dir, "alpha", "bob", "feature")
	if err != nil || again.Path != tree.Path || again.Made {
		t.Errorf("%+v %v", again, err)
	}
	_, err = k.Add(t.Context(), dir, "alpha", "bob", "other")
	wantCode(t, err, fault.Rejected)
	_, err = k.Add(t.Context(), dir, "alpha", "eve", "feature") // two never share
	wantCode(t, err, fault.Rejected)
	_, err = k.Add(t.Context(), dir, "alpha", "eve", "main")
	wantCode(t, err, fault.Rejected)
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestWhatCannotBeATree(t *testing.T) {
	dir, k := repo(t)
	for _, branch := range []string{"-x", "--force", "a..b", "x.lock", "@{-1}", "a b", "/", "HEAD\n"} {
		_, err := k.Add(t.Context(), dir, "alpha", "bob", branch)
		wantCode(t, err, fault.InvalidArgument)
	}
	plain := t.TempDir()
	_, err := k.Add(t.Context(), plain, "alpha", "bob", "")
	wantCode(t, err, fault.InvalidArgument)
	if err != nil && !strings.Contains(err.Error(), "is not in a git repository") {
		t.Error(err)
	}
	in(t, plain, "git", "init", "-q")
	_, err = k.Add(t.Context(), plain, "alpha", "bob", "")
	wantCode(t, err, fault.InvalidArgument)
	k.Root = ""
	_, err = k.Add(t.Context(), dir, "alpha", "bob", "")
	wantCode(t, err, fault.InvalidArgument)
}

// TestManyAtOnce: names of every kind, at the same instant, each with its own tree.
func TestManyAtOnce(t *testing.T) {
	dir, k := repo(t)
	names := []string{"a", "A", "a.lock", "a..b", "a-b", "ä", "_", "a."}
	trees := make([]worktree.Tree, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			tree, err := k.Add(t.Context(), dir, "alpha", name, "")
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			trees[i] = tree
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, tree := range trees {
		if seen[tree.Path] {
			t.Errorf("two share %s", tree.Path)
		}
		seen[tree.Path] = true
		if kept, err := k.Remove(t.Context(), tree); kept != "" || err != nil {
			t.Errorf("kept %q %v", kept, err)
		}
	}
}

func TestXF04_ACheckoutThatFailsLeavesNothing(t *testing.T) {
	dir, k := repo(t)
	write(t, filepath.Join(dir, ".gitattributes"), "bad filter=broken\n")
	write(t, filepath.Join(dir, "bad"), "x")
	commit(t, dir)
	in(t, dir, "git", "config", "filter.broken.smudge", "false")
	in(t, dir, "git", "config", "filter.broken.required", "true")
	if tree, err := k.Add(t.Context(), dir, "alpha", "bob", ""); err == nil {
		t.Fatalf("made %+v", tree)
	}
	if left := in(t, dir, "git", "branch", "--list", "leadlight/*"); left != "" {
		t.Errorf("branches %q", left)
	}
	if listed := in(t, dir, "git", "worktree", "list"); strings.Contains(listed, "\n") {
		t.Errorf("worktrees %q", listed)
	}
	if left, err := filepath.Glob(filepath.Join(k.Root, "re*", "*")); err != nil || len(left) > 0 {
		t.Errorf("folders %v", left)
	}
	in(t, dir, "git", "config", "filter.broken.required", "false")
	write(t, filepath.Join(dir, "sub", "a"), "two")
	commit(t, dir)
	tree, err := k.Add(t.Context(), dir, "alpha", "bob", "")
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(tree.Path, "sub", "a")); string(data) != "two" {
		t.Errorf("the next one begins with %q", data)
	}
}

// TestXF04_ABranchThatWasLeftBeginsAnew: a spawn that was killed leaves the branch that it
// made, with nothing on it: the next one works on the present commit. One that holds work goes on.
func TestXF04_ABranchThatWasLeftBeginsAnew(t *testing.T) {
	dir, k := repo(t)
	in(t, dir, "git", "branch", "leadlight/alpha/bob")
	write(t, filepath.Join(dir, "sub", "a"), "two")
	commit(t, dir)
	tree, err := k.Add(t.Context(), dir, "alpha", "bob", "")
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(tree.Path, "sub", "a")); string(data) != "two" || !tree.Made {
		t.Errorf("it begins with %q: %+v", data, tree)
	}
	write(t, filepath.Join(tree.Path, "sub", "a"), "three")
	commit(t, tree.Path)
	in(t, dir, "git", "worktree", "remove", tree.Path)
	if tree, err = k.Add(t.Context(), dir, "alpha", "bob", ""); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(tree.Path, "sub", "a")); string(data) != "three" || tree.Made {
		t.Errorf("it goes on with %q: %+v", data, tree)
	}
}

func TestXS30_ExplicitRepositoriesOnly(t *testing.T) {
	dir, k := repo(t)
	home := t.TempDir()
	write(t, filepath.Join(home, ".gitconfig"), "[safe]\n\tbareRepository = explicit\n")
	k.Environ = append(k.Environ, "HOME="+home)
	tree, err := k.Add(t.Context(), dir, "alpha", "bob", "")
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := k.Remove(t.Context(), tree); kept != "" || err != nil {
		t.Errorf("kept %q, %v", kept, err)
	}
	if _, err := os.Stat(tree.Path); err == nil {
		t.Error("the tree is there")
	}
}

func TestXS31_HiddenEditsAreWork(t *testing.T) {
	dir, k := repo(t)
	write(t, filepath.Join(dir, "b"), "one")
	commit(t, dir)
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		tree, err := k.Add(t.Context(), dir, "alpha", "bob", "")
		if err != nil {
			t.Fatal(err)
		}
		in(t, tree.Path, "git", "update-index", flag, "b", "sub/a")
		write(t, filepath.Join(tree.Path, "b"), "two")
		if kept, err := k.Remove(t.Context(), tree); !strings.Contains(kept, "(files: 1)") || err != nil {
			t.Errorf("%s: kept %q, %v", flag, kept, err)
		}
		write(t, filepath.Join(tree.Path, "b"), "one")
		if kept, err := k.Remove(t.Context(), tree); kept != "" || err != nil {
			t.Errorf("%s, unchanged: kept %q, %v", flag, kept, err)
		}
	}
}

// TestXD09_LinesOfATree: what is committed, what is not, and new files are counted; a
// binary file is not.
func TestXD09_LinesOfATree(t *testing.T) {
	dir, k := repo(t)
	write(t, filepath.Join(dir, "sub", "b"), "1\n2\n3\n")
	commit(t, dir)
	tree, err := k.Add(t.Context(), dir, "alpha", "bob", "")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tree.Path, "sub", "b"), "1\n3\n4\n")
	commit(t, tree.Path)
	write(t, filepath.Join(tree.Path, "sub", "a"), "two\nlines\n")
	write(t, filepath.Join(tree.Path, "new file\tof mine"), "a\nb\n")
	write(t, filepath.Join(tree.Path, "binary"), "\x00\n\x00\n")
	if added, removed, err := k.Lines(t.Context(), tree); added != 5 || removed != 2 || err != nil {
		t.Errorf("+%d -%d, %v", added, removed, err)
	}
}
