package signals

import "os"

// maxAncestors bounds a chain of parents, which a table in motion could bend into a circle.
const maxAncestors = 64

// Ancestors returns the parent of this process, that one's parent, and so on, as far
// as they can be looked at. Who they are was true at that moment only.
func Ancestors() []Process { return upFrom(os.Getppid()) }

// Serves tells whether a process is a tmux server or a daemon of ours: it may have been started
// below anybody, and what runs below it is not theirs.
func (p Process) Serves() bool { return isTmuxServer(p) || isDaemon(p.Argv) }

// AncestorsOf is Ancestors of another process.
func AncestorsOf(pid int) []Process {
	p, err := lookup(pid)
	if err != nil {
		return nil
	}
	return upFrom(p.PPID)
}

func upFrom(pid int) []Process {
	var found []Process
	for pid > 1 && len(found) < maxAncestors {
		p, err := lookup(pid)
		if err != nil {
			break
		}
		found = append(found, described(p))
		pid = p.PPID
	}
	return found
}
