package panes

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/environ"
)

// ofLead is what teammates get of a lead's environment: all but what is the lead's own. It
// is the same for all of them.
func ofLead(lead []string) []string { return environ.Without(lead, environ.OfTheLead()...) }

// environment returns the complete environment of a teammate's programs, the
// terminal's variables and the folder's excepted: what it gets of its lead's, with who the
// teammate is, with the folder of this program on PATH, and with extra (K=V) over all of it.
func environment(ofLead []string, base string, id Target, executable string, extra []string) []string {
	env := environ.Set(ofLead, append([]string{
		"LEADLIGHT_TEAM=" + id.Team, "LEADLIGHT_AGENT=" + id.Agent, "LEADLIGHT_BASE_DIR=" + base, "LEADLIGHT_HOST=" + id.Host}, extra...)...)
	path := environ.Get(env, "PATH")
	if dir := filepath.Dir(executable); executable != "" && !slices.Contains(filepath.SplitList(path), dir) {
		env = environ.Set(env, "PATH="+strings.TrimSuffix(dir+string(filepath.ListSeparator)+path, string(filepath.ListSeparator)))
	}
	return env
}

// EncodeEnvironment is the content of an EnvFile: each variable, exact to the byte, and a
// NUL, which none can hold.
func EncodeEnvironment(env []string) []byte {
	var out []byte
	for _, kv := range env {
		out = append(append(out, kv...), 0)
	}
	return out
}

// DecodeEnvironment reads what EncodeEnvironment wrote.
func DecodeEnvironment(data []byte) []string {
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == 0 })
}

// WithTerminal adds to a teammate's environment what describes its own pane, as
// the pane's terminal set it in pane (the host's own environment). What was
// asked for already stays.
func WithTerminal(env, pane []string) []string {
	own := environ.Set([]string{"TERM=xterm-256color"}, environ.Only(pane, environ.FromPane()...)...)
	return environ.Set(own, env...)
}
