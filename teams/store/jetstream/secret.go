package jetstream

import (
	"os"
	"strings"
)

// secret reads a token. A file that cannot be read is an empty token, which the engine
// refuses.
func secret(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
