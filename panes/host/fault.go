package host

import "errors"

// ErrNoHost says that nobody listens on the socket: there is none, or its process
// is gone. A host that is there and does not answer is the context's error.
var ErrNoHost = errors.New("no host listens")

// Why a host closes, see Host.Cause.
const (
	CausePaneClosed  = "pane closed" // HUP, or the terminal is gone
	CauseTerminated  = "terminated"  // TERM to the host
	CauseInterrupted = "interrupted" // INT to the host
	CauseShutdown    = "shutdown"    // a shutdown request without a reason of its own
)
