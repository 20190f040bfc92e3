package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/internal/shell"
)

const (
	// askLimit is how long a repository elsewhere may take to say what it has.
	askLimit = 2 * time.Minute
	// fetchLimit is how long it may take to send what is new: at first that is all of it.
	fetchLimit = 30 * time.Minute
)

// Clone is this machine's copy of a repository, and the commit of it that was asked for.
type Clone struct {
	Source Source
	Repo   string // a bare repository, one for each url
	Commit string
}

// Find asks a repository whether it has what is asked for, and fetches nothing. Its errors
// are those of Fetch.
func (k Keeper) Find(ctx context.Context, s Source) error {
	if err := s.Check(); err != nil {
		return err
	}
	_, err := git{environ: k.Environ, dir: "/", far: true, limit: askLimit}.refOf(ctx, s)
	return err
}

// Fetch brings the clone of a repository up to date, which is made if there is none. What
// teammates have committed there stays. Two that do so at once do it one after the other.
// fault.InvalidArgument if there is no such repository or ref, fault.PermissionDenied if
// somebody would have to be asked for a password, fault.LockTimeout if another git works in the
// clone, or was killed there, fault.Failed if it cannot be reached.
func (k Keeper) Fetch(ctx context.Context, s Source) (Clone, error) {
	c := Clone{Source: s}
	if err := s.Check(); err != nil {
		return c, err
	}
	repo, err := k.cloneOf(s)
	if err != nil {
		return c, err
	}
	c.Repo = repo
	release, err := lock.In(ctx, k.Root, "locks/fetch-"+short(repo), "fetch "+s.URL, fetchLimit)
	if err != nil {
		return c, err
	}
	defer release()
	name, err := git{environ: k.Environ, dir: "/", far: true, limit: askLimit}.refOf(ctx, s)
	if err == nil {
		err = k.makeClone(ctx, c)
	}
	if err != nil {
		return c, err
	}
	g := git{environ: k.Environ, dir: repo, repo: repo, far: true, limit: fetchLimit}
	sweep(repo)
	c.Commit, err = g.bring(ctx, s, name)
	if err != nil && strings.Contains(err.Error(), halfMade) {
		var done func()
		if done, err = k.alone(ctx, repo, "fetch "+s.URL); err == nil {
			defer done()
			c.Commit, err = g.bring(ctx, s, name)
		}
	}
	if err != nil {
		sweep(repo)
	}
	return c, err
}

// halfMade is what git says when it comes upon a worktree that another git is just making.
const halfMade = "bad object worktrees/"

// sweepAge is how old a pack is on which certainly nobody works any more.
const sweepAge = 24 * time.Hour

// sweep removes the packs that a git which was cut off has left half: git itself never does
// here, and those of a large repository fill the disk. Whoever calls it holds the lock of the
// clone's fetch. Only a teammate who has a tree of the clone may still be at work on one.
func sweep(repo string) {
	trees, err := os.ReadDir(filepath.Join(repo, "worktrees"))
	nobody := len(trees) == 0 && (err == nil || errors.Is(err, os.ErrNotExist))
	packs := filepath.Join(repo, "objects", "pack")
	entries, _ := os.ReadDir(packs)
	for _, e := range entries {
		fi, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), "tmp_") && (nobody || time.Since(fi.ModTime()) > sweepAge) {
			_ = files.Remove(packs, e.Name(), 0) // what stays is tried again
		}
	}
}

// cloneOf is where the clone of a repository is, or is to be.
func (k Keeper) cloneOf(s Source) (string, error) {
	if k.Root == "" || !filepath.IsAbs(k.Root) {
		return "", errNoFolder()
	}
	folder := k.clones()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the clones: %w", err)
	}
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", fmt.Errorf("find the folder of the clones: %w", err)
	}
	return filepath.Join(folder, projectOf(s)+"-"+short(s.URL)+".git"), nil
}

func (k Keeper) clones() string { return filepath.Join(filepath.Dir(k.Root), "clones") }

// Cloned tells whether a tree is one of a clone.
func (k Keeper) Cloned(t Tree) bool { return files.Same(filepath.Dir(t.Repo), k.clones()) }

// projectOf is the last part of a url, as part of a path.
func projectOf(s Source) string {
	name := strings.TrimSuffix(strings.TrimRight(s.URL, "/"), ".git")
	name = strings.TrimSuffix(name, "/") // …/project/.git
	if name = name[strings.LastIndexAny(name, "/:")+1:]; name == "" {
		name = "root"
	}
	return safe(name)
}

// sourceKey is where a clone says in its settings of what it is one. It is written last: a
// clone that says so is whole. Teammates may change the others.
const sourceKey = "leadlight.source"

// makeClone makes the clone, if there is none: without branches of its own, which are what
// teammates commit.
func (k Keeper) makeClone(ctx context.Context, c Clone) error {
	g := git{environ: k.Environ, dir: filepath.Dir(c.Repo)}
	at := g
	at.repo = c.Repo
	switch of, err := at.run(ctx, "config", "--local", "--get", sourceKey); {
	case err == nil && of == c.Source.URL:
		return nil
	case err == nil:
		return fault.New(fault.Rejected, "the clone %s is one of another repository", c.Repo).WithHint("move it away")
	}
	if _, err := g.run(ctx, "init", "--quiet", "--bare", "--template=", c.Repo); err != nil {
		return err
	}
	for _, kv := range [][2]string{
		{"remote.origin.url", c.Source.URL}, {"remote.origin.fetch", fetched}, {sourceKey, c.Source.URL},
	} {
		if _, err := at.run(ctx, "config", "--local", kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}

// fetched is what is always fetched.
const fetched = "+refs/heads/*:refs/remotes/origin/*"

// names are the full names that a ref may have, the first one that there is counts.
func (s Source) names() []string {
	switch {
	case s.Ref == "":
		return []string{"HEAD"}
	case strings.HasPrefix(s.Ref, "refs/"):
		return []string{s.Ref}
	}
	return []string{"refs/heads/" + s.Ref, "refs/tags/" + s.Ref}
}

// commitName is what may name a commit.
var commitName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{7,64}$`) })

// refOf is the full name of the ref, "" for one that may be a commit.
func (g git) refOf(ctx context.Context, s Source) (string, error) {
	names := s.names()
	out, err := g.run(ctx, append([]string{"ls-remote", "--quiet", "--", s.URL}, names...)...)
	if err != nil {
		return "", unreached(s, err)
	}
	has := strings.Split(out, "\n")
	for _, name := range names {
		if slices.ContainsFunc(has, func(line string) bool { return strings.HasSuffix(line, "\t"+name) }) {
			return name, nil
		}
	}
	if commitName().MatchString(s.Ref) {
		return "", nil
	}
	return "", noRef(s)
}

func noRef(s Source) error {
	if s.Ref == "" {
		return fault.New(fault.InvalidArgument, "the repository %s has no commit to begin with", s.URL).WithHint("commit something first, or name a ref")
	}
	return fault.New(fault.InvalidArgument, "the repository %s has no branch, tag or commit %s", s.URL, s.Ref).
		WithHint("git ls-remote %s lists what it has", shell.Line(s.URL))
}

// bring fetches, and returns the commit at the ref: name as refOf has it.
func (g git) bring(ctx context.Context, s Source, name string) (string, error) {
	branch, isBranch := strings.CutPrefix(name, "refs/heads/")
	at := "refs/leadlight/" + strings.TrimPrefix(name, "refs/")
	specs := []string{fetched}
	switch {
	case name == "":
		at = s.Ref
	case isBranch:
		at = "refs/remotes/origin/" + branch
	default: // beside the tags, which teammates may make, too
		specs = append(specs, "+"+name+":"+at)
	}
	if err := g.fetch(ctx, s, specs...); err != nil {
		return "", err
	}
	commit, err := g.commitAt(ctx, s, at)
	if err != nil && name == "" && len(s.Ref) >= 40 && g.fetch(ctx, s, s.Ref) == nil { // on none of its branches
		commit, err = g.commitAt(ctx, s, at)
	}
	return commit, err
}

func (g git) fetch(ctx context.Context, s Source, specs ...string) error {
	_, err := g.run(ctx, append([]string{"fetch", "--quiet", "--prune", "--no-recurse-submodules", "--no-write-fetch-head", "--", s.URL}, specs...)...)
	return unreached(s, err)
}

func (g git) commitAt(ctx context.Context, s Source, at string) (string, error) {
	commit, err := g.run(ctx, "rev-parse", "--verify", "--quiet", at+"^{commit}")
	if err != nil || at == s.Ref && !strings.HasPrefix(commit, s.Ref) { // a branch of somebody here may be called like a commit
		return "", noRef(s)
	}
	return commit, nil
}

// unreached says what kept git from a repository elsewhere.
func unreached(s Source, err error) error {
	if code := fault.CodeOf(err); err == nil || code == fault.ProgramNotFound || code == fault.LockTimeout || errors.Is(err, context.Canceled) {
		return err
	}
	text, _, _ := strings.Cut(saidWithoutSecrets(err.Error()), "fatal: Could not read from remote") // says nothing more
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	code, hint := fault.Failed, "git ls-remote "+shell.Line(s.URL)+", on the machine where the teammate is to run, shows whether it can be reached"
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		code = fault.Timeout
	case says("No space left on device"):
		code, hint = fault.DiskFull, "make room where the state folder is"
	case says("terminal prompts disabled", "could not read Username", "could not read Password", "Authentication failed", "Permission denied", "Host key verification failed", "error: 401", "error: 403"):
		code = fault.PermissionDenied
		hint = "nobody is asked for a password: give git, on the machine where the teammate is to run, a credential helper or an ssh key without one"
	case s.Local() || strings.HasPrefix(s.URL, "file:"):
		code = fault.InvalidArgument
	}
	return fault.New(code, "the repository %s cannot be reached: %s", s.URL, text).WithHint("%s", hint)
}

// PathOf is where AddOf makes a worktree.
func (k Keeper) PathOf(c Clone, team, name string) string {
	return filepath.Join(k.Root, projectOf(c.Source)+"-"+short(c.Repo), safe(team), safe(name))
}

// AddOf is Add for a clone, beginning at its commit.
func (k Keeper) AddOf(ctx context.Context, c Clone, team, name, branch string) (Tree, error) {
	release, err := k.alone(ctx, c.Repo, "add worktree")
	if err != nil {
		return Tree{}, err
	}
	defer release()
	t := Tree{Repo: c.Repo, Path: k.PathOf(c, team, name), Base: c.Commit}
	return t, k.add(ctx, git{environ: k.Environ, dir: c.Repo, repo: c.Repo}, &t, team, name, branch)
}
