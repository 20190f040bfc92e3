package environ

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The kind "the environment contradicts the folder": whatever git itself holds for a
// matter of one repository does not reach another folder.
func TestXH02_WhatGitKeepsForOneRepository(t *testing.T) {
	out, err := exec.Command("git", "rev-parse", "--local-env-vars").Output()
	if err != nil {
		t.Skip("no git")
	}
	for _, name := range strings.Fields(string(out)) {
		if got := In([]string{name + "=x", "HOME=/h"}, "/w"); !slices.Equal(got, []string{"HOME=/h", "PWD=/w"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestXH02_MarksOfTheLead(t *testing.T) {
	for _, name := range []string{
		"PWD", "OLDPWD", "GIT_DIR", "GIT_INDEX_FILE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_ENTRYPOINT", "GPG_TTY", "ZELLIJ", "ZELLIJ_SESSION_NAME",
		"WEZTERM_PANE", "VTE_VERSION", "NVIM", "WT_SESSION", "KITTY_LISTEN_ON", "ITERM_PROFILE", "TERM_PROGRAM", "TERM_SESSION_ID", "LEADLIGHT_MCP_TOKEN", "MAKEFLAGS", "DIRENV_DIFF", "CDPATH", "__MISE_DIFF", "BUNDLE_GEMFILE", "RUSTUP_TOOLCHAIN", "BUILD_WORKSPACE_DIRECTORY",
		"GIT_ATTR_SOURCE", "GIT_LITERAL_PATHSPECS", "GOWORK", "VSCODE_GIT_IPC_HANDLE", "ELECTRON_RUN_AS_NODE", "WT_PROFILE_ID", "PTYXIS_VERSION", "__CFBundleIdentifier", "SHELLOPTS",
		"CLAUDE_BG_RENDEZVOUS_SOCK", "CLAUDE_JOB_DIR", "CLAUDE_RUNNER_SESSION_ID", "CLAUDE_CODE_CLOUD_SESSION_ID", "CLAUDE_CODE_RESUME_FROM_SESSION", "CLAUDE_CODE_COORDINATOR_MODE", "CLAUDE_CODE_TOOL_USE_ID",
		"CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS",
	} {
		if got := Without([]string{name + "=x"}, OfTheLead()...); len(got) > 0 {
			t.Errorf("a teammate gets %q", got)
		}
		if got := Server([]string{name + "=x"}); len(got) > 0 {
			t.Errorf("a server gets %q", got)
		}
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "HTTPS_PROXY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CURSOR_API_KEY", "CLAUDE_CONFIG_DIR", "GIT_AUTHOR_NAME", "GIT_SSH_COMMAND", "SSH_AUTH_SOCK", "GOFLAGS", "VIRTUAL_ENV", "EDITOR"} {
		if got := Without([]string{name + "=x"}, OfTheLead()...); len(got) != 1 {
			t.Errorf("a teammate lacks %s", name)
		}
	}
}

func TestXH02_XS45_AServerGetsNoSecret(t *testing.T) {
	got := Server([]string{"HOME=/h", "ANTHROPIC_API_KEY=k", "AWS_SECRET_ACCESS_KEY=k", "MY_TOKEN=k", "LEADLIGHT_MCP_TOKEN=k", "LEADLIGHT_CONFIG=c", "LC_ALL=C", "LC_TERMINAL=x", "TMUX=/x",
		"LC_TOKEN=k", "NIX_CONFIG=access-tokens = k", "NIX_LD=/x"})
	if want := []string{"HOME=/h", "LEADLIGHT_CONFIG=c", "LC_ALL=C", "NIX_LD=/x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryRuleHasAReason(t *testing.T) {
	for _, r := range rules() {
		if r.reason == "" || len(r.names) == 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestTheLastEntryCounts(t *testing.T) {
	env := []string{"A=1", "B=2", "A=3", "AB=4", "=x", "broken"}
	if v, ok := Lookup(env, "A"); v != "3" || !ok {
		t.Errorf("A is %q", v)
	}
	if _, ok := Lookup(env, "C"); ok {
		t.Error("C is set")
	}
	if got, want := Set(env, "B=5", "C="), []string{"A=3", "B=5", "AB=4", "C="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Candidates([]string{"PATH=/a::b"}, "/w", "p"), []string{"/a/p", "/w/p", "/w/b/p"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestXH02_DescriptorsStay runs itself with a descriptor too many: what it starts has
// 0, 1 and 2 alone.
func TestXH02_DescriptorsStay(t *testing.T) {
	if os.Getenv("ENVIRON_TEST_CHILD") != "" {
		KeepDescriptors()
		out, err := exec.Command("sh", "-c", "test -e /dev/fd/9 && echo held; exit 0").Output()
		os.WriteFile(os.Getenv("ENVIRON_TEST_CHILD"), out, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	held, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	answer := filepath.Join(t.TempDir(), "answer")
	c := exec.Command(os.Args[0], "-test.run", "^TestXH02_DescriptorsStay$")
	c.Env = append(os.Environ(), "ENVIRON_TEST_CHILD="+answer)
	c.ExtraFiles = []*os.File{held, held, held, held, held, held, held} // 3 to 9
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := os.ReadFile(answer); err != nil || len(got) > 0 {
		t.Errorf("descriptor 9: %q, %v", got, err)
	}
}
