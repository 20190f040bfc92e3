package signals

import "os"

// maxAncestors bounds a chain of parents, which a table in motion could bend into a circle.
const maxAncestors = 64

// Ancestors returns the parent of this process, that one's parent, and so on, as far
// as they can be looked at. Who they are was true at that moment only.
func Ancestors() []Process {
	var found []Process
	for pid := os.Getppid(); pid > 1 && len(found) < maxAncestors; {
		p, err := lookup(pid)
		if err != nil {
			break
		}
		found = append(found, described(p))
		pid = p.PPID
	}
	return found
}
