package store

import (
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// InFiles is the word for a team that is kept in files, where the address of an engine can
// stand.
const InFiles = "files"

// CheckEngine holds the address of an engine to its form. A secret in it is refused: it
// would be shown where addresses are.
func CheckEngine(url string) error {
	for part := range strings.SplitSeq(url, ",") {
		rest, ok := strings.CutPrefix(part, "nats://")
		if !ok {
			rest, ok = strings.CutPrefix(part, "tls://")
		}
		switch {
		case !ok || rest == "" || strings.ContainsAny(rest, " \t\r\n/?#"):
			return fault.New(fault.InvalidArgument, "%q is not the address of an engine", Shown(EngineShown(url))).WithHint("nats://HOST:4222 or tls://HOST:4222, several with commas between them")
		case strings.Contains(rest, "@"):
			return fault.New(fault.InvalidArgument, "the address of the engine holds a user or a password").WithHint("put the secret into a file: --creds FILE, --nkey FILE or --token-file FILE")
		}
	}
	return nil
}

// EngineShown is an address without what may be a secret in it.
func EngineShown(url string) string {
	parts := strings.Split(url, ",")
	for i, part := range parts {
		scheme, rest, ok := strings.Cut(part, "://")
		if at := strings.LastIndex(rest, "@"); ok && at >= 0 {
			parts[i] = scheme + "://" + rest[at+1:]
		}
	}
	return strings.Join(parts, ",")
}
