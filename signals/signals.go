// Package signals knows which process is which, and how one ends.
//
// A pid alone proves nothing: it is given out again. An Identity is the pid with
// the start time, the boot and the pid namespace it belongs to, so that a stored
// one can be told from its successor. No proof, no signal: everything here that
// sends one compares the identity first, on Linux through a pidfd, which cannot
// come to mean another process between the look and the signal.
//
// An TreeKiller takes a whole tree down: what descends from its roots and what
// carries their mark (Mark in the environment), listed before the first signal
// is sent because parent links break as soon as parents die.
//
// Everything in this package may be used by several goroutines at once.
package signals

import "errors"

// Mark is the name of the environment variable that says which host a process
// belongs to. It is inherited, so it is found on grandchildren that gave up
// parent, session and process group.
const Mark = "LEADLIGHT_HOST"

// ErrGone says that the process of an Identity has ended.
var ErrGone = errors.New("process has ended")

// ErrUnproven says that it could not be observed whether a pid still means the
// process of an Identity. Nothing was signalled.
var ErrUnproven = errors.New("process could not be identified")

// Liveness is what is known about the process of an Identity.
type Liveness int

// The three answers. Unknown is never to be treated as Gone.
const (
	Unknown Liveness = iota // it could not be observed
	Alive                   // this very process runs
	Gone                    // it has ended; a zombie has ended too
)

// String returns the word used in output.
func (l Liveness) String() string {
	switch l {
	case Alive:
		return "alive"
	case Gone:
		return "gone"
	}
	return "unknown"
}

// Process is one row of the process table.
type Process struct {
	Identity
	PPID    int      `json:"ppid"`
	PGID    int      `json:"pgid"`
	SID     int      `json:"sid"`
	Command string   `json:"command"`          // the kernel's short name
	Argv    []string `json:"argv,omitempty"`   // best effort: absent where it may not be read
	Spared  string   `json:"spared,omitempty"` // in a Report: why it was left alone

	zombie bool // has ended, its parent has not asked yet
	noTTY  bool // has no controlling terminal
	kernel bool // a thread of the kernel's own
	state  byte // the kernel's letter for what it does; 0 on macOS
}
