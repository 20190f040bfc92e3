package signals

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Processes is the process table as one verb sees it. A verb makes one (the zero
// value works), uses it for all the teammates it acts on, and hands it to each
// TreeKiller: they share the looks, and of each process the environment is read
// once, however many hosts are asked for. Those that are busy at the same moment
// share the next look.
//
// What does not need the whole table should not take one: a host finds what
// descends from it from the kernel's lists of children, and whoever holds an
// Identity calls Probe or Wait. A host that has answered a shutdown without
// survivors, and whose process has ended, has left nothing: it adopted every
// orphan below it, so nobody needs to look for it again.
type Processes struct {
	facts facts
	mu    sync.Mutex
	last  Table
	began time.Time // of the last look
}

// Last returns the last look, and takes the first one if there was none.
func (p *Processes) Last() (Table, error) { return p.After(time.Time{}) }

// After returns a look that began after t.
func (p *Processes) After(t time.Time) (Table, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.byPID != nil && p.began.After(t) {
		return p.last, nil
	}
	began := time.Now()
	now, err := snapshot(&p.facts)
	if err != nil {
		return Table{}, err
	}
	p.last, p.began = now, began
	return now, nil
}

// Table is the process table of one moment.
type Table struct {
	byPID    map[int]Process
	children map[int][]int
	vanished bool // one ended between being listed and being read
	facts    *facts
}

// facts are what is read of a process once, because it stays as it is: a fact by Identity.
type facts struct{ sync.Map }

// fact is what is known of the environment that a process was started with.
type fact struct {
	read bool
	mark string // the value of Mark in it
	gone bool   // the process ended before it was read
	shut bool   // it may not be read
}

func (f *facts) of(p Process) fact {
	known, _ := f.Load(p.Identity)
	is, _ := known.(fact)
	return is
}

// mark returns the value of Mark in the environment that p was started with; ok is
// false where it may not be read or is gone already, which proves nothing.
func (f *facts) mark(p Process) (value string, ok bool) {
	if known := f.of(p); known.read {
		return known.mark, true
	}
	if value, ok = p.Variable(Mark); ok {
		f.Store(p.Identity, fact{read: true, mark: value})
	}
	return value, ok
}

// marked is mark; settled unless the process ended before its environment was read, or
// is just becoming another program.
func (f *facts) marked(p Process) (value string, settled bool) {
	if known := f.of(p); known.gone || known.shut {
		return "", known.shut
	}
	if value, ok := f.mark(p); ok {
		return value, true
	}
	now, err := lookup(p.PID)
	switch {
	case err != nil || now.zombie || now.Start != p.Start:
		f.Store(p.Identity, fact{gone: true})
		return "", false
	case becoming(now):
		return "", false
	}
	value, ok := f.mark(p) // it may just have become another program
	if !ok {
		f.Store(p.Identity, fact{shut: true})
	}
	return value, true
}

// Snapshot reads the process table. Processes that start or end meanwhile may be
// in it or not. It costs one small read for each process of the machine: what acts
// on several teammates shares a Processes instead.
func Snapshot() (Table, error) { return new(Processes).Last() }

func snapshot(known *facts) (Table, error) {
	base, err := here()
	if err != nil {
		return Table{}, fmt.Errorf("read the process table: %w", err)
	}
	all, vanished, err := processes()
	if err != nil {
		return Table{}, fmt.Errorf("read the process table: %w", err)
	}
	t := Table{byPID: make(map[int]Process, len(all)), children: map[int][]int{}, vanished: vanished, facts: known}
	for _, p := range all {
		p.Identity = base.of(p.PID, p.Start)
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
	walk(pid, func(pid int) []int { return slices.Sorted(slices.Values(t.children[pid])) }, func(child int) {
		if p := t.byPID[child]; !p.zombie {
			found = append(found, described(p))
		}
	})
	return found
}

// walk visits everything below pid, parents before their children, each once.
func walk(pid int, below func(int) []int, visit func(int)) {
	seen := map[int]bool{pid: true}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for _, child := range below(queue[0]) {
			if !seen[child] {
				seen[child] = true
				queue = append(queue, child)
				visit(child)
			}
		}
	}
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
	return t.Marked(host), nil
}

// Marked is the function Marked on a table: nothing for a host without an id.
func (t Table) Marked(host string) []Process {
	if host == "" {
		return nil
	}
	found, _ := t.marked(host)
	return found
}

// marked is Marked; vanished if one ended before its environment was read, or is just
// being made, so that it is not known whether it belonged here.
func (t Table) marked(host string) (found []Process, vanished bool) {
	for _, p := range t.byPID {
		if p.zombie || p.kernel {
			continue
		}
		m, settled := t.facts.marked(p)
		vanished = vanished || !settled
		if m == host {
			found = append(found, described(p))
		}
	}
	slices.SortFunc(found, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	return found, vanished
}

// ByMark returns what runs by the host whose id it carries, as Marked sees it.
func (t Table) ByMark() map[string][]Process {
	found := map[string][]Process{}
	for _, pid := range slices.Sorted(maps.Keys(t.byPID)) {
		p := t.byPID[pid]
		if p.zombie || p.kernel {
			continue
		}
		if host, ok := t.facts.mark(p); ok && host != "" {
			found[host] = append(found[host], described(p))
		}
	}
	return found
}

func described(p Process) Process {
	if !p.kernel { // a thread of the kernel has no arguments
		p.Argv = argv(p.PID)
	}
	return p
}

// Variable returns a variable of the environment that the process was started with; ok
// is false where that may not be read.
func (p Process) Variable(name string) (value string, ok bool) {
	if p.kernel {
		return "", true
	}
	variables, ok := environ(p.PID)
	return valueIn(variables, name), ok
}

func valueIn(environ [][]byte, name string) string {
	for _, v := range environ {
		if value, ok := bytes.CutPrefix(v, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// Describe returns the process of an identity with its arguments, while it runs.
func (id Identity) Describe() (Process, error) {
	if err := id.prove(); err != nil {
		return Process{}, fmt.Errorf("look at pid %d: %w", id.PID, err)
	}
	p, err := lookup(id.PID)
	if err != nil {
		return Process{}, fmt.Errorf("look at pid %d: %w", id.PID, err)
	}
	p.Identity = id
	return described(p), nil
}
