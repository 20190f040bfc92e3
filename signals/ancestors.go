package signals

import "os"

// maxAncestors bounds a chain of parents, which a table in motion could bend into a circle.
const maxAncestors = 64

// Ancestors returns the parent of this process, that one's parent, and so on, as far
// as they can be looked at. Who they are was true at that moment only.
func Ancestors() []Process { return AncestorsOf(os.Getpid()) }

// Serves tells whether a process is a tmux server or a daemon of ours: it may have been started
// below anybody, and what runs below it is not theirs.
func (p Process) Serves() bool { return isTmuxServer(p) || isDaemon(p.Argv) }

// AncestorsOf is Ancestors of another process.
func AncestorsOf(pid int) []Process {
	p, err := lookup(pid)
	var found []Process
	for err == nil && p.PPID > 1 && len(found) < maxAncestors {
		if p, err = lookup(p.PPID); err == nil {
			found = append(found, described(p))
		}
	}
	return found
}
