package host

import (
	"errors"
	"time"
)

// ErrNoHost says that nobody listens on the socket: there is none, or its process
// is gone. A host that is there and does not answer is the context's error.
var ErrNoHost = errors.New("no host listens")

// ErrHungUp says that a host has closed the connection of a viewer without saying why: its
// process is gone, or the viewer took nothing for too long. It is no ErrNoHost: the host may
// go on.
var ErrHungUp = errors.New("the host has closed the connection without a word")

// TakeLimit is how long a viewer may take nothing of what a host has for it.
const TakeLimit = 5 * time.Second

// Why a host closes, see Host.Cause.
const (
	CausePaneClosed  = "pane closed" // HUP, or the terminal is gone
	CauseTerminated  = "terminated"  // TERM to the host
	CauseInterrupted = "interrupted" // INT to the host
	CauseShutdown    = "shutdown"    // a shutdown request without a reason of its own
)
