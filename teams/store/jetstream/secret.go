package jetstream

import (
	"strings"

	"github.com/leadlight-dev/leadlight/internal/files"
)

// secret reads a token. A file that cannot be read is an empty token, which the engine
// refuses.
func secret(path string) string {
	data, err := files.ReadFile(path, files.MaxSecret)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
