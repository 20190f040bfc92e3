// Package state holds the words for how a teammate is doing and for how it was
// stopped. Packages that show them and packages that find them out both use these.
package state

// States of a teammate, as observed.
const (
	Starting = "starting"
	Active   = "active"
	Waiting  = "waiting" // a person must answer
	Idle     = "idle"
	Stopping = "stopping"
	Stopped  = "stopped"
	Failed   = "failed"
	Lost     = "lost"    // its host ended without recording it
	Unknown  = "unknown" // could not be observed
)

// Live tells whether a state is one of a running teammate. Unknown counts as live:
// what could not be observed is never treated as dead.
func Live(s string) bool { return !Ended(s) }

// Ended tells whether a state is the end of a teammate's run.
func Ended(s string) bool { return s == Stopped || s == Failed || s == Lost }

// Outcomes of a stop.
const (
	Approved       = "approved"        // agreed and is gone
	Exited         = "exited"          // ended by itself before it answered
	Terminated     = "terminated"      // ended on SIGTERM
	Killed         = "killed"          // it, or something it had started, needed SIGKILL
	PaneKilled     = "pane-killed"     // only closing the pane ended it
	Rejected       = "rejected"        // refused and goes on
	AlreadyStopped = "already-stopped" // was not running
	Unproven       = "unproven"        // not proved to be gone
)
