package panes

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/panes/profiles"
)

// dropped are the variables of the lead that a teammate does not get: they describe
// the lead's own terminal, session or identity, or would lead a Claude Code away from
// its team: to the tasks of another, or to teammates that are started for its lead.
func dropped() []string {
	return append(backend.TerminalVariables(),
		"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_CODE_MESSAGING_SOCKET",
		"CLAUDE_CODE_TASK_LIST_ID", profiles.TeammateCommand,
		"LEADLIGHT_AGENT", "LEADLIGHT_HOST", "LEADLIGHT_TASK", "LEADLIGHT_TEAM", "LEADLIGHT_BASE_DIR", "LEADLIGHT_MCP_TOKEN")
}

// fromPane are the variables that a teammate gets from its own pane.
var fromPane = []string{"TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM", "ITERM_SESSION_ID", "KITTY_WINDOW_ID"}

// Identity is who a teammate is, as its programs read it from the environment.
type Identity struct {
	Team, Agent, Base, Host string
}

// Environment returns the complete environment of a teammate's programs, the
// terminal's variables excepted: that of the lead without what is the lead's
// own, with who the teammate is, with the folder of this program on PATH, and with
// extra (K=V) over all of it.
func Environment(lead []string, id Identity, executable string, extra []string) []string {
	env := map[string]string{}
	var order []string
	set := func(kv string) {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return
		}
		if _, seen := env[k]; !seen {
			order = append(order, k)
		}
		env[k] = v
	}
	for _, kv := range backend.Without(lead, dropped()) {
		set(kv)
	}
	set("LEADLIGHT_TEAM=" + id.Team)
	set("LEADLIGHT_AGENT=" + id.Agent)
	set("LEADLIGHT_BASE_DIR=" + id.Base)
	set("LEADLIGHT_HOST=" + id.Host)
	for _, kv := range extra {
		set(kv)
	}
	if dir := filepath.Dir(executable); executable != "" && !slices.Contains(filepath.SplitList(env["PATH"]), dir) {
		set("PATH=" + strings.TrimSuffix(dir+string(filepath.ListSeparator)+env["PATH"], string(filepath.ListSeparator)))
	}
	out := make([]string, 0, len(order))
	for _, k := range order {
		out = append(out, k+"="+env[k])
	}
	return out
}

// WithTerminal adds to a teammate's environment what describes its own pane, as
// the pane's terminal set it in pane (the host's own environment). What was
// asked for already stays.
func WithTerminal(env, pane []string) []string {
	have := map[string]bool{}
	for _, kv := range env {
		k, _, _ := strings.Cut(kv, "=")
		have[k] = true
	}
	out := slices.Clone(env)
	for _, kv := range append(slices.Clone(pane), "TERM=xterm-256color") {
		if k, _, _ := strings.Cut(kv, "="); slices.Contains(fromPane, k) && !have[k] {
			have[k] = true
			out = append(out, kv)
		}
	}
	return out
}
