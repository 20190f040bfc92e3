package signals

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// treeKill is one TreeKiller at work.
type treeKill struct {
	TreeKiller
	own     string // the mark that does not spare
	known   map[Identity]Process
	termed  map[Identity]bool // has had its TERM
	spared  map[Identity]Process
	zombies map[Identity]bool // zombies seen already
	killed  bool
}

// looks bounds how often a table is read again that proves nothing.
const looks = 20

// list returns what is to be ended and still runs. That nothing is left is only
// said of a table during whose reading nobody ended: one that did may have forked
// behind the reader's back, and so may its child have, in a chain that is never
// seen. On a machine where processes end all the time it is given up in the end.
func (h *treeKill) list() ([]Process, error) {
	for range looks {
		left, vanished, err := h.look()
		if err != nil || len(left) > 0 || !vanished {
			return left, err
		}
	}
	return nil, nil
}

// look reads the whole table once.
func (h *treeKill) look() (left []Process, vanished bool, err error) {
	t, err := Snapshot()
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	tops, vanished := h.tops(t)
	vanished = h.newZombies(t) || vanished
	seen := map[int]bool{os.Getpid(): true, 0: true, 1: true}
	for queue := tops; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		if seen[p.PID] {
			continue
		}
		seen[p.PID] = true
		if reason := h.sparing(p); reason != "" {
			p.Spared = reason
			h.spared[p.Identity] = p
			for _, below := range t.Descendants(p.PID) {
				seen[below.PID] = true
			}
			continue
		}
		h.known[p.Identity] = p
		left = append(left, p)
		queue = append(queue, t.below(p.PID)...)
	}
	return left, vanished, nil
}

// newZombies tells whether the table has zombies that were not there before: they may
// have ended during the reading.
func (h *treeKill) newZombies(t Table) (fresh bool) {
	for _, p := range t.byPID {
		if p.zombie && !h.zombies[p.Identity] {
			h.zombies[p.Identity], fresh = true, true
		}
	}
	return fresh
}

// tops returns where the walk over the table begins. What would be spared comes
// first: what lies below it must not be reached by another way, such as its mark.
func (h *treeKill) tops(t Table) (tops []Process, vanished bool) {
	add := func(id Identity) {
		if p, ok := t.Find(id.PID); ok && p.Identity == id && !p.zombie {
			tops = append(tops, described(p))
		}
	}
	for _, id := range h.Roots {
		if id.PID == os.Getpid() {
			tops = append(tops, t.below(id.PID)...)
			continue
		}
		add(id)
	}
	for id := range h.known {
		add(id)
	}
	if h.Adopted {
		tops = append(tops, t.adopted()...)
	}
	if h.Host != "" {
		var marked []Process
		marked, vanished = t.marked(h.Host)
		tops = append(tops, marked...)
	}
	slices.SortStableFunc(tops, func(a, b Process) int {
		return cmp.Or(order(h.sparing(a) == "", h.sparing(b) == ""), cmp.Compare(a.PID, b.PID))
	})
	return tops, vanished || t.vanished
}

func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sparing returns why p is left alone, "" if it is to be ended.
func (h *treeKill) sparing(p Process) string {
	if slices.Contains(h.Roots, p.Identity) {
		return ""
	}
	if old, ok := h.spared[p.Identity]; ok {
		return old.Spared
	}
	if _, ok := h.known[p.Identity]; ok {
		return "" // decided; a program may rename itself, its environment may go
	}
	if h.Spare != nil {
		if reason := h.Spare(p); reason != "" {
			return reason
		}
	}
	switch {
	case isTmuxServer(p):
		return "a tmux server"
	case isDaemon(p.Argv):
		return "a leadlight daemon"
	}
	if m, ok := mark(p.PID); ok && m != "" && m != h.own {
		return "belongs to host " + m
	}
	return ""
}

// isDaemon tells the command line of a leadlight daemon.
func isDaemon(argv []string) bool {
	return len(argv) > 1 && filepath.Base(argv[0]) == "leadlight" &&
		slices.ContainsFunc(argv[1:], func(a string) bool { return a == "daemon" })
}
