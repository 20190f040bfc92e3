package host

import (
	"errors"
	"time"
)

// ErrNoHost says that nobody listens on the socket: there is none, or its process
// is gone. A host that is there and does not answer is the context's error.
var ErrNoHost = errors.New("no host listens")

// ErrHungUp says that a host has closed the connection of a viewer without saying why: its
// process is gone, or the viewer took nothing for too long.
var ErrHungUp error = hungUp{}

// hungUp needs nothing at the start of the program, unlike an error that is put together.
type hungUp struct{}

func (hungUp) Error() string { return ErrNoHost.Error() + ": the connection has ended without a word" }
func (hungUp) Unwrap() error { return ErrNoHost }

// TakeLimit is how long a viewer may take nothing of what a host has for it.
const TakeLimit = 5 * time.Second

// Why a host closes, see Host.Cause.
const (
	CausePaneClosed  = "pane closed" // HUP, or the terminal is gone
	CauseTerminated  = "terminated"  // TERM to the host
	CauseInterrupted = "interrupted" // INT to the host
	CauseShutdown    = "shutdown"    // a shutdown request without a reason of its own
)
