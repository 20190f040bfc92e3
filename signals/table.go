package signals

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Table is the process table of one moment.
type Table struct {
	byPID    map[int]Process
	children map[int][]int
	vanished bool // one ended between being listed and being read
}

// Snapshot reads the process table. Processes that start or end meanwhile may be
// in it or not. It costs one small read for each process of the machine.
func Snapshot() (Table, error) {
	base, err := here()
	if err != nil {
		return Table{}, fmt.Errorf("read the process table: %w", err)
	}
	all, vanished, err := processes()
	if err != nil {
		return Table{}, fmt.Errorf("read the process table: %w", err)
	}
	t := Table{byPID: make(map[int]Process, len(all)), children: map[int][]int{}, vanished: vanished}
	for _, p := range all {
		p.Boot, p.Namespace, p.Machine = base.Boot, base.Namespace, base.Machine
		t.byPID[p.PID] = p
		t.children[p.PPID] = append(t.children[p.PPID], p.PID)
	}
	return t, nil
}

// Find returns the process that pid meant at that moment.
func (t Table) Find(pid int) (Process, bool) {
	p, ok := t.byPID[pid]
	return p, ok
}

// All returns every process that runs, ordered by pid.
func (t Table) All() []Process {
	var found []Process
	for _, pid := range slices.Sorted(maps.Keys(t.byPID)) {
		if p := t.byPID[pid]; !p.zombie {
			found = append(found, described(p))
		}
	}
	return found
}

// Descendants returns every process below pid, parents before their children,
// without pid itself and without processes that have ended.
func (t Table) Descendants(pid int) []Process {
	var found []Process
	seen := map[int]bool{pid: true}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		below := slices.Sorted(slices.Values(t.children[queue[0]]))
		for _, child := range below {
			if seen[child] {
				continue
			}
			seen[child] = true
			queue = append(queue, child)
			if p := t.byPID[child]; !p.zombie {
				found = append(found, described(p))
			}
		}
	}
	return found
}

// Marked returns every running process whose environment, as it was when it was
// started, holds Mark=host exactly. Processes whose environment may not be read
// are not in it, nor are ones that overwrote theirs: descent finds those.
func Marked(host string) ([]Process, error) {
	if host == "" {
		return nil, fmt.Errorf("list processes of a host: %w: the host has no id", ErrUnproven)
	}
	t, err := Snapshot()
	if err != nil {
		return nil, err
	}
	found, _ := t.marked(host)
	return found, nil
}

// marked is Marked on a table; vanished if one ended before its environment was
// read, so that it is not known whether it belonged here.
func (t Table) marked(host string) (found []Process, vanished bool) {
	for _, p := range t.byPID {
		if p.zombie {
			continue
		}
		m, ok := mark(p.PID)
		if !ok {
			now, err := lookup(p.PID)
			vanished = vanished || err != nil || now.zombie || now.Start != p.Start
		}
		if ok && m == host {
			found = append(found, described(p))
		}
	}
	slices.SortFunc(found, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	return found, vanished
}

// below returns the children of pid that run.
func (t Table) below(pid int) []Process {
	var found []Process
	for _, child := range t.children[pid] {
		if p := t.byPID[child]; !p.zombie {
			found = append(found, described(p))
		}
	}
	return found
}

func described(p Process) Process {
	p.Argv = argv(p.PID)
	return p
}

// markIn returns the value of Mark among the variables of an environment.
func markIn(environ [][]byte) string {
	for _, v := range environ {
		if value, ok := bytes.CutPrefix(v, []byte(Mark+"=")); ok {
			return string(value)
		}
	}
	return ""
}
