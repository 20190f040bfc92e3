package tmux

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/signals"
)

// notice marks panes of ours as dead whose program has ended without tmux knowing: built
// with utempter, tmux up to 3.5a loses the signal that tells it, when it comes at the
// wrong moment. Sent again, that signal makes tmux look. A pane whose terminal is closed
// is dead for tmux already, but without its status tmux keeps it, as if it had failed.
func (b *Backend) notice(rows []row) {
	nudged := false
	for i, r := range rows {
		if !ours(r) || !zombie(r.PID) {
			continue
		}
		rows[i].Dead = true
		pid, _, _ := strings.Cut(r.Server, ".")
		server, err := strconv.Atoi(pid)
		if nudged || err != nil {
			continue
		}
		nudged = true
		if err := tell(server, syscall.SIGCHLD, isTmux); err != nil {
			b.opt.Log.Debug("tmux: the server could not be told of an ended program", "error", err)
		}
	}
}

// noticing is the first version that loses no signal.
var noticing = Version{Major: 3, Minor: 6, Kind: Release}

// reminders make the server look for ended programs a second and five from now: each job
// that ends brings the signal that tmux may lose. They are for the end of whoever asks,
// where nobody of ours lists panes afterwards: in a team that another leads.
func (b *Backend) reminders(v Version) []command {
	if v.atLeast(noticing) {
		return nil
	}
	return []command{{"run-shell", "-b", "-d", "1", "true"}, {"run-shell", "-b", "-d", "5", "true"}}
}

// zombie tells whether a process has ended and its parent has not asked how. One that is not
// seen is not known to have ended: the server may be in another pid namespace.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	i := strings.LastIndex(string(stat), ") ") // the name before it may hold anything
	return i >= 0 && strings.HasPrefix(string(stat[i+2:]), "Z")
}

func isTmux(p signals.Process) bool { return strings.HasPrefix(p.Command, "tmux") }

// tell signals a process that proves to be the server that is meant.
func tell(pid int, sig syscall.Signal, meant func(signals.Process) bool) error {
	id, err := signals.Identify(pid)
	if err != nil {
		return err
	}
	server, err := signals.Prove(id, meant)
	if err != nil {
		return err
	}
	return server.Signal(sig)
}
