package tmux

import (
	"encoding/base64"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
)

// Names of the options we write. The @ makes them user options, which tmux keeps
// and does not interpret.
const (
	markOption   = "@leadlight"        // pane: the mark
	nameOption   = "@leadlight-name"   // pane: the label's name, shown, never read back
	stateOption  = "@leadlight-state"  // pane: the label's state, shown, never read back
	borderOption = "@leadlight-border" // window: what pane-border-status was
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
	return m, m != backend.Mark{}
}
