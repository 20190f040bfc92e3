package panes

import (
	"slices"
	"testing"
)

func TestEN09_EnvironmentSaysWhoTheTeammateIs(t *testing.T) {
	env := environment([]string{"HOME=/h"}, "/b", Target{Team: "t", Agent: "a", Host: "h1"}, "/opt/leadlight", nil)
	for _, want := range []string{"HOME=/h", "LEADLIGHT_TEAM=t", "LEADLIGHT_AGENT=a", "LEADLIGHT_BASE_DIR=/b", "LEADLIGHT_HOST=h1", "PATH=/opt"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
}

// A pane gets the environment of the terminal's server, which may be days old
// and another user's idea; a teammate gets its lead's.
// https://github.com/anthropics/claude-code/issues/30754
func TestEN01_LeadsValuesReachTheTeammate(t *testing.T) {
	lead := []string{
		"ANTHROPIC_BASE_URL=http://lead", "HTTPS_PROXY=p", "CLAUDE_CODE_USE_BEDROCK=1", "CLAUDE_CONFIG_DIR=/tmp/h2",
		"TMUX=/tmp/x,1,0", "TMUX_PANE=%1", "TERM=screen", "STY=1", "ITERM_SESSION_ID=w0", "KITTY_WINDOW_ID=3", "COLUMNS=80", "LINES=24",
		"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s", "CLAUDE_PID=1", "CLAUDE_CODE_MESSAGING_SOCKET=/s", "LEADLIGHT_AGENT=boss", "LEADLIGHT_MCP_TOKEN=secret", "LEADLIGHT_HOST=old",
		"CLAUDE_CODE_TASK_LIST_ID=mine", "CLAUDE_CODE_TEAMMATE_COMMAND=/run/x", "ITERM_PROFILE=p", "KITTY_PID=1", "TERM_PROGRAM=x", "TERM_PROGRAM_VERSION=1",
		"LEADLIGHT_TEAM=theirs", "LEADLIGHT_BASE_DIR=/theirs", "LEADLIGHT_TASK=7",
		"WEIRD=a=b;c 'd' \"e\"\nf", "PATH=/usr/bin", "=broken", "alsobroken",
	}
	got := WithTerminal(environment(ofLead(lead), "/b", Target{Team: "t", Agent: "a", Host: "h1"}, "/opt/leadlight", []string{"EXTRA=1", "HTTPS_PROXY=mine"}),
		[]string{"TMUX=/tmp/y,2,0", "TMUX_PANE=%9", "TERM=tmux-256color", "SECRET_OF_SERVER=1", "ANTHROPIC_BASE_URL=http://stale"})
	want := []string{
		"ANTHROPIC_BASE_URL=http://lead", "HTTPS_PROXY=mine", "CLAUDE_CODE_USE_BEDROCK=1", "CLAUDE_CONFIG_DIR=/tmp/h2",
		"WEIRD=a=b;c 'd' \"e\"\nf", "PATH=/opt:/usr/bin", "LEADLIGHT_TEAM=t", "LEADLIGHT_AGENT=a", "LEADLIGHT_BASE_DIR=/b", "LEADLIGHT_HOST=h1",
		"EXTRA=1", "TMUX=/tmp/y,2,0", "TMUX_PANE=%9", "TERM=tmux-256color",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestWithTerminalWithoutOne(t *testing.T) {
	if got := WithTerminal([]string{"A=1"}, nil); !slices.Equal(got, []string{"TERM=xterm-256color", "A=1"}) {
		t.Errorf("got %q", got)
	}
	if got := WithTerminal([]string{"TERM=dumb"}, []string{"TERM=tmux"}); !slices.Equal(got, []string{"TERM=dumb"}) {
		t.Errorf("what was asked for is lost: %q", got)
	}
}
