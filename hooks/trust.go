package hooks

import (
	"cmp"
	"encoding/json"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/internal/files"
)

// maxClientState is the largest file of the client's own that is read, in bytes. It
// grows with every project its user has worked in.
const maxClientState = 64 << 20

// ClientTrusts tells whether the user of Claude Code has answered its question whether
// the files of a folder, or of one above it, are to be trusted. The client keeps the
// answers by folder in .claude.json (observed with 2.1.332). What cannot be read is no
// answer.
func ClientTrusts(getenv func(string) string, folder string) bool {
	dir := cmp.Or(getenv("CLAUDE_CONFIG_DIR"), getenv("HOME"))
	if dir == "" {
		return false
	}
	data, err := files.ReadFile(filepath.Join(dir, ".claude.json"), maxClientState)
	if err != nil {
		return false
	}
	var state struct {
		Projects map[string]struct {
			Accepted bool `json:"hasTrustDialogAccepted"`
		} `json:"projects"`
	}
	if json.Unmarshal(data, &state) != nil {
		return false
	}
	for at := filepath.Clean(folder); ; at = filepath.Dir(at) {
		if state.Projects[at].Accepted {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}
