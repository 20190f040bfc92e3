package jetstream

import (
	"strings"

	"github.com/leadlight-dev/leadlight/internal/files"
)

// maxSecret bounds the file of a token, in bytes.
const maxSecret = 1 << 20

// secret reads a token. A file that cannot be read is an empty token, which the engine
// refuses.
func secret(path string) string {
	data, err := files.ReadFile(path, maxSecret)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
