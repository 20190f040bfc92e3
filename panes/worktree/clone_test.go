package worktree_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/worktree"
)

func TestSourceCheck(t *testing.T) {
	for _, url := range []string{
		"https://host/a.git", "http://host:80/a", "ssh://git@host:22/~/a", "git://host/a", "file:///a b", "/srv/a", "/srv/a?b#c", "ssh://host/a?b", "git@host:a/b.git", "me@host:/a", "ssh://[::1]/a",
	} {
		if err := (worktree.Source{URL: url}).Check(); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
	for url, why := range map[string]string{
		"": "no url", " /a": "no url", "/a\nb": "no url", "/" + strings.Repeat("a", 3000): "no url", "/\xff": "no url", "https://host:port/a": "no url",
		"-u": "an option", "--upload-pack=touch x": "an option", "ssh://-oProxyCommand=x/a": "an option", "ssh://-x@host/a": "an option", "-x@host:a": "an option", "host:-x": "an option",
		"ext::sh -c x": "a program", "fd::3": "a program", "ext::https://host/a": "a program",
		"a/b": "no absolute path", "./a": "no absolute path", "~/a": "no absolute path",
		"ftp://host/a": "not taken", "rsync://host/a": "not taken", "https:///a": "no host", ":a": "no host", "host:": "no host",
		"https://me:s3cr3t@host/a": "a password", "https://s3cr3t@host/a": "a password", "http://s3cr3t@host/a": "a password", "ssh://me:s3cr3t@host/a": "a password", "me:s3cr3t@host:a": "a password",
		"https://host/a.git?private_token=s3cr3t": "a token", "http://host/a#s3cr3t": "a token", "https://host/a?t=x@s3cr3t": "a token", "https://host:x/a?t=s3cr3t": "no url",
		"https://me:s3?cr3t@host/a": "no url", "ftp://host/a?t=s3cr3t": "not taken", "host/a?t=s3cr3t": "no absolute path",
		"https://me:s3/cr3t@host/a": "no url", "https://me:s3 cr3t@host/a": "no url",
	} {
		err := worktree.Source{URL: url}.Check()
		wantCode(t, err, fault.InvalidArgument)
		if err != nil && (!strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "s3") || strings.Contains(err.Error(), "cr3t")) {
			t.Errorf("%.60q: %v; want %q", url, err, why)
		}
	}
	for ref, good := range map[string]bool{
		"": true, "main": true, "a/b-c.d": true, "refs/pull/1/head": true, "1.10": true, "0123456789abcdef": true,
		"-x": false, "--upload-pack=x": false, "a..b": false, "a b": false, "a.lock": false, "a.lock/b": false, "a//b": false, "/a": false, "a/": false, ".a": false, "a/.b": false, "a.": false,
		"@": false, "a@{1}": false, "a~1": false, "a^": false, "a:b": false, "a*": false, "a?": false, "a[": false, `a\`: false, "a\n": false, "\xff": false,
	} {
		if err := (worktree.Source{URL: "/a", Ref: ref}).Check(); (err == nil) != good {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

// FuzzSourceCheck: nothing that passes is an option or a program, and no secret passes, or is shown.
func FuzzSourceCheck(f *testing.F) {
	for _, url := range []string{"https://host/a.git", "git@host:a/b", "/srv/a", "ext::sh -c x", "-u", "host/a@b#c", "//x?y@z", "me:x@host:a"} {
		f.Add(url, "refs/heads/main")
	}
	f.Fuzz(func(t *testing.T, url, ref string) {
		s := worktree.Source{URL: url, Ref: ref}
		if err := s.Check(); err == nil {
			head, _, _ := strings.Cut(url, "/")
			if strings.HasPrefix(url, "-") || strings.HasPrefix(ref, "-") || strings.Contains(head, "::") || strings.ContainsFunc(url+ref, unicode.IsControl) {
				t.Errorf("%q at %q passes", url, ref)
			}
		}
		for _, s.URL = range []string{"https://me:s3cr3t@" + url, "https://s3cr3t@" + url, "http://host/" + url + "?token=s3cr3t" + ref, "https://host" + url + "#s3cr3t" + ref, "ssh://me:s3cr3t@" + url} {
			if err := s.CheckURL(); err == nil || strings.Contains(err.Error(), "s3cr3t") && !strings.Contains(url+ref, "s3") {
				t.Errorf("%q: %v", s.URL, err)
			}
		}
	})
}

// far is a bare repository with a branch, a tag and a commit on no branch, the clone of it that
// somebody works in, and a keeper.
func far(t *testing.T) (bare, own string, k worktree.Keeper, lone string) {
	t.Helper()
	own, k = repo(t)
	bare = filepath.Join(t.TempDir(), "pro ject.git")
	in(t, own, "git", "tag", "-a", "-m", "x", "v1")
	in(t, own, "git", "checkout", "-q", "-b", "topic/one")
	write(t, filepath.Join(own, "sub", "a"), "topic")
	commit(t, own)
	in(t, own, "git", "clone", "-q", "--bare", own, bare)
	in(t, own, "git", "remote", "add", "origin", bare)
	write(t, filepath.Join(own, "sub", "a"), "lone")
	commit(t, own)
	lone = in(t, own, "git", "rev-parse", "HEAD")
	in(t, own, "git", "push", "-q", "origin", "HEAD:refs/pull/1/head")
	in(t, own, "git", "reset", "-q", "--hard", "HEAD~")
	return bare, own, k, lone
}

func fetch(t *testing.T, k worktree.Keeper, url, ref string) worktree.Clone {
	t.Helper()
	s := worktree.Source{URL: url, Ref: ref}
	if err := k.Find(t.Context(), s); err != nil {
		t.Errorf("%s: %v", s, err)
	}
	c, err := k.Fetch(t.Context(), s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return c
}

// TestFetch: each kind of ref, always as it is by now, into one clone for a url; what is not
// there, or cannot be reached, is said.
func TestFetch(t *testing.T) {
	t.Parallel()
	bare, own, k, lone := far(t)
	first, top := in(t, own, "git", "rev-parse", "main"), in(t, own, "git", "rev-parse", "topic/one")
	for ref, want := range map[string]string{
		"main": first, "v1": first, "refs/tags/v1": first, "topic/one": top, "": top, top: top, first[:8]: first, "refs/pull/1/head": lone, lone: lone,
	} {
		if c := fetch(t, k, bare, ref); c.Commit != want {
			t.Errorf("%q is %s, not %s", ref, c.Commit, want)
		}
	}
	if c := fetch(t, k, "file://"+strings.ReplaceAll(bare, " ", "%20"), "main"); c.Commit != first {
		t.Errorf("by url: %+v", c)
	}
	write(t, filepath.Join(own, "new"), "x")
	commit(t, own)
	in(t, own, "git", "tag", "-f", "v1")
	in(t, own, "git", "push", "-q", "--force", "origin", "topic/one", "v1")
	for _, ref := range []string{"topic/one", "v1"} {
		if c := fetch(t, k, bare, ref); c.Commit != in(t, own, "git", "rev-parse", "HEAD") {
			t.Errorf("%s is %s", ref, c.Commit)
		}
	}
	for _, s := range []worktree.Source{{bare, "nothing"}, {bare, "refs/heads/v1"}, {bare, "0123456789"}, {bare + ".no", ""}, {t.TempDir(), ""}, {"ext::false", ""}, {bare, "-x"}} {
		_, err := k.Fetch(t.Context(), s)
		wantCode(t, err, fault.InvalidArgument)
	}
	if n, _ := filepath.Glob(filepath.Join(filepath.Dir(k.Root), "clones", "*")); len(n) != 2 {
		t.Errorf("clones: %q", n)
	}
}

// TestNobodyIsAsked: where a password is wanted git fails and says so, and no program of
// somebody's asks for it.
func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	_, k := repo(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer s.Close()
	asked := filepath.Join(t.TempDir(), "asked")
	ask := filepath.Join(t.TempDir(), "ask")
	write(t, ask, "#!/bin/sh\ntouch '"+asked+"'\necho x\n")
	if err := os.Chmod(ask, 0o755); err != nil {
		t.Fatal(err)
	}
	k.Environ = append(k.Environ, "GIT_ASKPASS="+ask, "SSH_ASKPASS="+ask, "DISPLAY=:0", "GIT_CONFIG_GLOBAL=/dev/null",
		`GIT_SSH_COMMAND=echo "asked: $SSH_ASKPASS_REQUIRE $SSH_ASKPASS $GIT_ALLOW_PROTOCOL" "https://s3cr3t@host/a?t=s3cr3t" >&2; (: </dev/tty) 2>/dev/null && echo a terminal >&2; echo Permission denied >&2; false`)
	for _, url := range []string{s.URL + "/a.git", "git@host:a"} {
		_, err := k.Fetch(t.Context(), worktree.Source{URL: url})
		wantCode(t, err, fault.PermissionDenied)
		if text := fault.Of(err).Message; strings.Contains(text, "a terminal") || strings.Contains(text, "s3cr3t") || strings.HasPrefix(url, "git@") && !strings.Contains(text, "asked: never false https:http:ssh:git:file") {
			t.Errorf("%s: %s", url, text)
		}
	}
	if _, err := os.Stat(asked); err == nil {
		t.Error("somebody was asked")
	}
}

// TestACutOffFetch: git is asked to end, and so removes its locks; the half pack that it leaves
// goes when nobody can be at work on it; and a lock that is left is named.
func TestACutOffFetch(t *testing.T) {
	t.Parallel()
	bare, own, k, _ := far(t)
	c := fetch(t, k, bare, "main")
	packs := filepath.Join(c.Repo, "objects", "pack")
	half, old := filepath.Join(packs, "tmp_pack_a"), filepath.Join(packs, "tmp_idx_b")
	write(t, half, "x")
	fetch(t, k, bare, "main")
	if _, err := os.Stat(half); err == nil {
		t.Error("the half pack is left where nobody works")
	}
	if _, err := k.AddOf(t.Context(), c, "alpha", "ann", ""); err != nil {
		t.Fatal(err)
	}
	write(t, half, "x")
	write(t, old, "x")
	then := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(old, then, then); err != nil {
		t.Fatal(err)
	}
	fetch(t, k, bare, "main")
	if _, err := os.Stat(half); err != nil {
		t.Error("what ann may be fetching is gone")
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the old half pack is left")
	}

	write(t, filepath.Join(own, "new"), "x")
	commit(t, own)
	in(t, own, "git", "push", "-q", "origin", "HEAD:topic/one", ":main")
	for _, name := range []string{"refs/remotes/origin/topic/one.lock", "config.lock"} {
		left := filepath.Join(c.Repo, filepath.FromSlash(name))
		if name == "config.lock" { // before the clone was whole
			in(t, c.Repo, "git", "config", "--unset", "leadlight.source")
		}
		write(t, left, "")
		_, err := k.Fetch(t.Context(), worktree.Source{URL: bare, Ref: "topic/one"})
		wantCode(t, err, fault.LockTimeout)
		if err == nil || !strings.Contains(err.Error(), left) {
			t.Errorf("%v; want %s", err, left)
		}
		if err := os.Remove(left); err != nil {
			t.Fatal(err)
		}
	}
	fetch(t, k, bare, "topic/one")

	ctx, cancel := context.WithCancel(t.Context())
	asked := filepath.Join(t.TempDir(), "asked")
	k.Environ = append(k.Environ, `GIT_SSH_COMMAND=trap "echo x >'`+asked+`'; exit 1" TERM; echo x >'`+asked+`.on'; while :; do sleep 0.01; done; :`)
	go func() {
		defer cancel()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(asked + ".on"); err == nil {
				return
			}
		}
	}()
	if _, err := k.Fetch(ctx, worktree.Source{URL: "git@host:a"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(asked); err != nil {
		t.Error("git was killed at once")
	}
}

// A fetch that comes upon a worktree which another git is just making waits for that one.
func TestAWorktreeIsMadeDuringAFetch(t *testing.T) {
	bare, _, k, _ := far(t)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	write(t, filepath.Join(bin, "git"), `#!/bin/sh
case " $* " in *" fetch "*)
	if ! test -e "$0.said"; then
		: > "$0.said"
		echo "fatal: bad object worktrees/eve/HEAD" >&2
		exit 128
	fi
esac
exec "`+git+`" "$@"
`)
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	fetch(t, k, bare, "main")
	if _, err := os.Stat(filepath.Join(bin, "git.said")); err != nil {
		t.Error(err)
	}
}

// TestWorkInACloneIsNeverLost: two that come at once share a clone, each with a branch of its
// own. A tree goes when all of it is pushed, or nothing was done.
func TestWorkInACloneIsNeverLost(t *testing.T) {
	t.Parallel()
	bare, _, k, _ := far(t)
	names := []string{"ann", "bob", "eve"}
	trees := make([]worktree.Tree, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			c, err := k.Fetch(t.Context(), worktree.Source{URL: bare, Ref: "main"})
			if err == nil {
				trees[i], err = k.AddOf(t.Context(), c, "alpha", name, "")
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if path := k.PathOf(c, "alpha", name); path != trees[i].Path || !k.Cloned(trees[i]) || k.Check(trees[i], "alpha", name) != nil {
				t.Errorf("%s: %+v is not at %s (%v)", name, trees[i], path, k.Check(trees[i], "alpha", name))
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	ann, bob, eve := trees[0], trees[1], trees[2]
	if ann.Repo != bob.Repo || ann.Branch != "leadlight/alpha/ann" || in(t, eve.Dir, "git", "remote", "get-url", "origin") != bare {
		t.Errorf("%+v %+v", ann, bob)
	}
	for _, tree := range []worktree.Tree{ann, bob} {
		write(t, filepath.Join(tree.Dir, "new"), filepath.Base(tree.Dir))
		commit(t, tree.Dir)
	}
	if text, err := k.Diff(t.Context(), ann, false, false); err != nil || !strings.Contains(text, "+ann") {
		t.Errorf("%q %v", text, err)
	}
	in(t, ann.Dir, "git", "push", "-q", "origin", "HEAD")
	for tree, want := range map[*worktree.Tree]string{&ann: "", &eve: "", &bob: "1 commits"} {
		kept, err := k.Remove(t.Context(), *tree)
		if err != nil || !strings.Contains(kept, want) || (kept == "") != (want == "") {
			t.Errorf("%s: kept %q, %v", tree.Path, kept, err)
		}
	}
	c := fetch(t, k, bare, "topic/one") // what was not pushed stays where it is
	if data, err := os.ReadFile(filepath.Join(bob.Dir, "new")); err != nil || string(data) != "bob" {
		t.Errorf("%q %v", data, err)
	}
	if again, err := k.AddOf(t.Context(), c, "alpha", "bob", ""); err != nil || again.Path != bob.Path || again.Made {
		t.Errorf("%+v %v", again, err)
	}
	if out, err := exec.Command("git", "-C", bare, "log", "--format=%an", "leadlight/alpha/ann", "--").Output(); err != nil || len(out) == 0 {
		t.Errorf("what ann pushed: %q %v", out, err)
	}
}
