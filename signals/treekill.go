package signals

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// treeKill is one TreeKiller at work.
type treeKill struct {
	TreeKiller
	own     string // the mark that does not spare
	facts   *facts
	looked  bool // at the process table
	known   map[Identity]Process
	termed  map[Identity]*patience // has had its TERM
	spared  map[Identity]Process
	zombies map[Identity]bool // seen already
	killed  bool
}

// mostLooks bounds how often is looked again when a look proves nothing.
const mostLooks = 20

// list returns what is to be ended and still runs. That nothing is left is only
// said after a look during which nobody ended: one that did may have forked
// behind the reader's back, and so may its child have, in a chain that is never
// seen. On a machine where processes end all the time it is given up in the end.
func (k *treeKill) list() ([]Process, error) {
	for range mostLooks {
		left, unsettled, err := k.look()
		if err != nil || len(left) > 0 || !unsettled {
			return left, err
		}
	}
	return nil, nil
}

// look walks once over what descends from the roots and what carries the mark.
func (k *treeKill) look() (left []Process, unsettled bool, err error) {
	l, marked, unsettled, err := k.lineage()
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	seen := map[int]bool{os.Getpid(): true, 0: true, 1: true}
	below := func(pid int) (running []Process) {
		for _, p := range l.below(pid) {
			if !p.zombie {
				running = append(running, k.described(p))
			} else if !k.zombies[p.Identity] { // it may have ended during the look
				k.zombies[p.Identity], unsettled = true, true
			}
		}
		return running
	}
	for queue := k.tops(l, marked, below); len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		if seen[p.PID] {
			continue
		}
		seen[p.PID] = true
		if reason := k.sparing(p); reason != "" {
			p.Spared = reason
			k.spared[p.Identity] = p
			walk(p.PID, func(pid int) []int { return pidsOf(l.below(pid)) }, func(pid int) { seen[pid] = true })
			continue
		}
		k.known[p.Identity] = p
		left = append(left, p)
		queue = append(queue, below(p.PID)...)
	}
	return left, unsettled || l.unsettled(), nil
}

// lineage takes the look: from the kernel's lists of children where descent is all
// that is asked, else from the whole table, with those who carry the mark.
func (k *treeKill) lineage() (l lineage, marked []Process, unsettled bool, err error) {
	if k.Host == "" || k.Adopted && orphansComeToUs {
		if l := newInKernel(); l != nil {
			return l, nil, false, nil
		}
	}
	after := time.Now()
	if !k.looked {
		after, k.looked = time.Time{}, true
	}
	t, err := k.Processes.After(after)
	if err != nil {
		return nil, nil, false, err
	}
	if k.Host != "" {
		marked, unsettled = t.marked(k.Host)
	}
	for _, p := range t.byPID { // an orphan's death is nobody's list but the table's
		if p.zombie && !k.zombies[p.Identity] {
			k.zombies[p.Identity], unsettled = true, true
		}
	}
	return inTable{t}, marked, unsettled, nil
}

func pidsOf(all []Process) []int {
	pids := make([]int, len(all))
	for i, p := range all {
		pids[i] = p.PID
	}
	return pids
}

// described adds the arguments of a process, which are read once.
func (k *treeKill) described(p Process) Process {
	for _, seen := range []map[Identity]Process{k.known, k.spared} {
		if old, ok := seen[p.Identity]; ok {
			p.Argv = old.Argv
			return p
		}
	}
	return described(p)
}

// tops returns where the walk begins. What would be spared comes first: what lies
// below it must not be reached by another way, such as its mark.
func (k *treeKill) tops(l lineage, marked []Process, below func(int) []Process) []Process {
	tops := slices.Clone(marked)
	add := func(id Identity) {
		if p, ok := l.find(id); ok {
			tops = append(tops, k.described(p))
		}
	}
	for _, root := range k.Roots {
		if root.id.PID == os.Getpid() {
			tops = append(tops, below(root.id.PID)...)
			continue
		}
		add(root.id)
	}
	for id := range k.known {
		add(id)
	}
	if k.Adopted {
		tops = append(tops, adopted(below)...)
	}
	rank := func(p Process) int {
		if k.sparing(p) != "" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(tops, func(a, b Process) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.PID, b.PID))
	})
	return tops
}

// sparing returns why p is left alone, "" if it is to be ended.
func (k *treeKill) sparing(p Process) string {
	if slices.Contains(k.Roots, Proof{id: p.Identity}) {
		return ""
	}
	if old, ok := k.spared[p.Identity]; ok {
		return old.Spared
	}
	if _, ok := k.known[p.Identity]; ok {
		return "" // decided; a program may rename itself, its environment may go
	}
	switch {
	case isTmuxServer(p):
		return "a tmux server"
	case isDaemon(p.Argv):
		return "a leadlight daemon"
	}
	if m, ok := k.facts.mark(p); ok && m != "" && m != k.own {
		return "belongs to host " + m
	}
	return ""
}

// isDaemon tells the command line of a leadlight daemon.
func isDaemon(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	switch filepath.Base(argv[0]) {
	case "leadlight", "leadlightd":
		return slices.Contains(argv[1:], "daemon") && !slices.Contains(argv[1:], "teammate") // a name may be daemon
	}
	return false
}
