package host

import "errors"

// ErrNoHost says that nobody listens on the socket.
var ErrNoHost = errors.New("no host listens")

var errUnfinished = errors.New("not yet")

// Why a host closes, see Host.Cause.
const (
	CausePaneClosed = "pane closed"
	CauseTerminated = "terminated"
)
