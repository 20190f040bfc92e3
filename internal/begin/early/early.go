// Package early starts a teammate's program while this process is initialised: a package that
// imports so little is initialised before nearly all others. Only the program that is a host
// may import it.
package early

import "github.com/leadlight-dev/leadlight/internal/begin"

// Program is what was started, nil if nothing was: this is no host, or the host does it itself.
var Program = begin.First()
