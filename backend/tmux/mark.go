package tmux

import (
	"encoding/base64"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/shell"
)

// Names of the options we write. The @ makes them user options, which tmux keeps
// and does not interpret.
const (
	markOption   = "@leadlight"        // pane: the mark
	nameOption   = "@leadlight-name"   // pane: the label's name, shown, never read back
	stateOption  = "@leadlight-state"  // pane: the label's state, shown, never read back
	pidOption    = "@leadlight-pid"    // pane: the id of the process that was opened in it
	borderOption = "@leadlight-border" // window: what pane-border-status was
	zoomOption   = "@leadlight-zoom"   // window, while it is changed: whether a pane of it was zoomed

	statusOption  = "@leadlight-status"  // session: the command that says what else stands in the status line
	sessionOption = "@leadlight-session" // session: made by us
)

const markVersion = "1"

// encodeMark writes a mark in the alphabet [A-Za-z0-9_.-], whatever the names hold:
// a version and the four parts in unpadded base64url, separated by dots.
func encodeMark(m backend.Mark) string {
	parts := []string{markVersion}
	for _, s := range []string{m.Base, m.Team, m.Agent, m.Host} {
		parts = append(parts, base64.RawURLEncoding.EncodeToString([]byte(s)))
	}
	return strings.Join(parts, ".")
}

// decodeMark returns false for everything that encodeMark did not write.
func decodeMark(s string) (backend.Mark, bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 5 || parts[0] != markVersion {
		return backend.Mark{}, false
	}
	var got [4]string
	for i, p := range parts[1:] {
		b, err := base64.RawURLEncoding.Strict().DecodeString(p)
		if err != nil {
			return backend.Mark{}, false
		}
		got[i] = string(b)
	}
	m := backend.Mark{Base: got[0], Team: got[1], Agent: got[2], Host: got[3]}
	return m, m != backend.Mark{} && encodeMark(m) == s // the decoder passes over line breaks
}

// ifMarked is one command that executes cmds if the pane carries the mark. A pane that
// is not there leaves tmux with a target of its own choice, so its id is asked too.
func ifMarked(id backend.ID, mark backend.Mark, cmds []command) command {
	still := all(same("pane_id", string(id)), same(markOption, encodeMark(mark)))
	lines := make([]string, len(cmds))
	for i, c := range cmds {
		lines[i] = shell.Line(c...) // tmux's own words are quoted like the shell's
	}
	return command{"if-shell", "-F", "-t", string(id), still, strings.Join(lines, " ; "), ""}
}

// same is the format that is true where a variable or an option has this value, which
// holds neither commas nor braces.
func same(name, value string) string { return "#{==:#{" + name + "}," + value + "}" }

// all is the format that is true where all conditions are.
func all(conditions ...string) string {
	out := conditions[0]
	for _, c := range conditions[1:] {
		out = "#{&&:" + out + "," + c + "}"
	}
	return out
}
