package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/oneshot"
)

// gitLimit is how long one call of git may take: a checkout of a large repository
// takes minutes on a slow disk.
const gitLimit = 4 * time.Minute

// gitTerm is how long one that is to end may take to remove its lock files.
const gitTerm = 10 * time.Second

// git runs git in one folder.
type git struct {
	environ []string
	dir     string
	repo    string        // the git folder, named explicitly: with safe.bareRepository git looks for none; "" is that of dir
	index   string        // a file in place of the tree's own index; "": that
	far     bool          // it may have to reach another machine
	limit   time.Duration // 0: gitLimit
}

// reaching are the variables that say how git reaches other machines.
func reaching() []string {
	return []string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_*", "GIT_PROXY_SSL_*", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}
}

// askingNobody are those with which neither git nor ssh asks anybody, or runs a program that
// a url names.
func askingNobody() []string {
	return []string{"GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never", "GIT_ALLOW_PROTOCOL=" + strings.Join(schemes(), ":")}
}

// run runs git and returns what it wrote, without the last line break. The error
// says what git said.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	out, err := g.output(ctx, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		why := cmp.Or(strings.TrimSpace(string(exit.Stderr)), err.Error())
		if err := g.locked(why); err != nil {
			return "", err
		}
		return "", fmt.Errorf("git %s: %s", args[0], why)
	}
	return out, err
}

// lockSaid is how git names the file of a lock that it did not get, or what that locks.
var lockSaid = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Unable to create '([^'\n]+)\.lock': File exists|could not lock config file ([^\n]+): File exists`)
})

// locked is the error of one that did not get a lock: git waits for none for long.
func (g git) locked(said string) error {
	m := lockSaid().FindStringSubmatch(said)
	if m == nil {
		return nil
	}
	file := m[1] + m[2] + ".lock"
	if !filepath.IsAbs(file) {
		file = filepath.Join(g.dir, file)
	}
	return fault.New(fault.LockTimeout, "git finds the lock %s, of another git", filepath.Clean(file)).
		WithHint("try again; if no git works there any more, one that was killed has left that file: remove it")
}

// output is run with the exit status as it comes: an *exec.ExitError holds what git said.
func (g git) output(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(g.limit, gitLimit))
	defer cancel()
	quiet := []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false", "-c", "gc.auto=0"}
	if g.repo != "" {
		quiet = append(quiet, "--git-dir="+g.repo)
	}
	c := exec.CommandContext(ctx, "git", append(quiet, args...)...)
	c.Dir = g.dir
	c.Env = environ.Set(environ.In(environ.Without(g.environ, "GIT_*"), g.dir), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	if g.index != "" {
		c.Env = environ.Set(c.Env, "GIT_INDEX_FILE="+g.index)
	}
	if g.far {
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal ssh has nobody to ask
		c.Env = environ.Set(c.Env, append(environ.Only(g.environ, reaching()...), askingNobody()...)...)
	}
	var out, said bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &out, &said, oneshot.Whole // a diff is a patch, to the byte
	err := oneshot.RunAsked(c, gitTerm)
	if errors.Is(err, exec.ErrNotFound) {
		return "", fault.New(fault.ProgramNotFound, "a worktree needs the program git, which is not there").WithHint("install git, or start it without a worktree")
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("git %s: %w", args[0], ctx.Err())
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		exit.Stderr = said.Bytes()
	} else if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSuffix(out.String(), "\n"), err
}

// repository returns the top folder of the worktree that holds the folder, and the
// git folder that all worktrees of the repository have in common.
func (g git) repository(ctx context.Context) (top, repo string, err error) {
	top, err = g.run(ctx, "rev-parse", "--show-toplevel")
	if err == nil {
		repo, err = g.run(ctx, "rev-parse", "--git-common-dir")
	}
	switch {
	case fault.CodeOf(err) == fault.ProgramNotFound, ctx.Err() != nil:
		return "", "", err
	case err != nil:
		return "", "", fault.New(fault.InvalidArgument, "%s is not in a git repository with files: %w", g.dir, err).
			WithHint("a worktree is made of a git repository: name one with --cwd, or leave --worktree out")
	}
	if !filepath.IsAbs(repo) {
		repo = filepath.Join(g.dir, repo)
	}
	if repo, err = filepath.EvalSymlinks(repo); err != nil {
		return "", "", fmt.Errorf("find the repository: %w", err)
	}
	return top, repo, nil
}
