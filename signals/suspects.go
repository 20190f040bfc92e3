package signals

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Suspects returns processes that a host which is gone may have left, and of which nothing
// proves it: they have shed its mark, their session and their parents, began after it
// did, and work in dir or below. They are told to a person and never signalled.
func (t Table) Suspects(host Identity, dir string) []Process {
	now, err := here()
	if err != nil || host.PID == 0 || host.elsewhere(now) != "" || host.Boot != now.Boot {
		return nil
	}
	adopters := t.ancestors(os.Getpid())
	var found []Process
	for _, p := range t.byPID {
		if p.zombie || p.kernel || !p.noTTY || p.Start < host.Start || !adopters[p.PPID] || adopters[p.PID] {
			continue
		}
		if leader, ok := t.byPID[p.SID]; ok && leader.PID != p.PID && !leader.zombie {
			continue // somebody's session goes on
		}
		if value, _ := t.facts.mark(p); value != "" || !within(workingFolder(p.PID), dir) {
			continue
		}
		if p = described(p); !p.Serves() {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found
}

// ancestors are the processes that may adopt orphans: the first one, pid, and all above.
func (t Table) ancestors(pid int) map[int]bool {
	above := map[int]bool{1: true, pid: true}
	for p, ok := t.byPID[pid]; ok && !above[p.PPID]; p, ok = t.byPID[p.PPID] {
		above[p.PPID] = true
	}
	return above
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && path != "" && rel != ".." && !strings.HasPrefix(rel, "../")
}
