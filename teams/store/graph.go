package store

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Graph says of each task which tasks it waits for.
type Graph map[string][]string

// Check refuses a task id that would wait for itself, directly or through others.
func (g Graph) Check(id string) error {
	if path := g.path(id, id, map[string]bool{}); path != nil {
		return fault.New(fault.InvalidArgument, "task %s would wait for itself: %s", id, strings.Join(append([]string{id}, path...), " -> ")).
			WithHint("take one of these out of blockedBy")
	}
	return nil
}

// path finds a way from one task to another along at least one edge.
func (g Graph) path(from, to string, seen map[string]bool) []string {
	for _, next := range g[from] {
		if next == to {
			return []string{to}
		}
		if seen[next] {
			continue
		}
		seen[next] = true
		if rest := g.path(next, to, seen); rest != nil {
			return append([]string{next}, rest...)
		}
	}
	return nil
}

// Cycles describes the cycles there are, one sentence each.
func (g Graph) Cycles() []string {
	var out []string
	g = g.endless()
	done := map[string]bool{}
	for _, id := range g.ids() {
		if done[id] {
			continue
		}
		path := g.path(id, id, map[string]bool{})
		for _, p := range path {
			done[p] = true
		}
		switch len(path) {
		case 0:
			delete(g, id) // no other's way to itself leads through it
		case 1:
			out = append(out, "task "+id+" blocks itself")
		case 2:
			out = append(out, "cycle "+id+"<->"+path[0])
		default:
			out = append(out, "cycle "+strings.Join(append([]string{id}, path...), "->"))
		}
	}
	return out
}

// endless returns those from which a way leads to a cycle: usually none.
func (g Graph) endless() Graph {
	out := Graph{}
	seen := map[string]bool{} // what leads to a cycle, or is being looked at: who comes back to that is on one
	var look func(id string) bool
	look = func(id string) bool {
		if _, ok := seen[id]; !ok {
			seen[id] = true
			if seen[id] = slices.ContainsFunc(g[id], look); seen[id] {
				out[id] = g[id]
			}
		}
		return seen[id]
	}
	for id := range g {
		look(id)
	}
	return out
}

func (g Graph) ids() []string {
	return slices.SortedFunc(maps.Keys(g), CompareIDs)
}

// CompareIDs orders the ids of tasks by their numbers.
func CompareIDs(a, b string) int {
	if c := cmp.Compare(IDNumber(a), IDNumber(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// Edge is a change of one dependency of a task.
type Edge struct {
	Other  string
	Before bool // Other blocks the task; else it is blocked by the task
	Add    bool // else it is taken away
}

// Edges lists how the dependencies of two states of a task differ.
func Edges(was, now *Task) []Edge {
	var out []Edge
	diff := func(old, new []string, before bool) {
		for _, id := range new {
			if !slices.Contains(old, id) {
				out = append(out, Edge{id, before, true})
			}
		}
		for _, id := range old {
			if !slices.Contains(new, id) {
				out = append(out, Edge{id, before, false})
			}
		}
	}
	diff(was.BlockedBy, now.BlockedBy, true)
	diff(was.Blocks, now.Blocks, false)
	return out
}

// Mirror writes the other half of a changed dependency of the task id into other,
// the task e.Other.
func (e Edge) Mirror(other *Task, id string) {
	list := &other.BlockedBy
	if e.Before {
		list = &other.Blocks
	}
	has := slices.Contains(*list, id)
	switch {
	case e.Add && !has:
		*list = append(slices.Clone(*list), id)
	case !e.Add && has:
		*list = slices.DeleteFunc(slices.Clone(*list), func(x string) bool { return x == id })
	}
}

// CheckEdges refuses changes of the dependencies of task id that add one on a
// task that does not exist, or close a cycle. It changes g.
func (g Graph) CheckEdges(team, id string, edges []Edge, exists func(id string) bool) error {
	added := false
	for _, e := range edges {
		if e.Add && !exists(e.Other) {
			return NoTask(team, e.Other)
		}
		added = added || e.Add
		from, to := e.Other, id
		if e.Before {
			from, to = id, e.Other
		}
		without := slices.DeleteFunc(slices.Clone(g[from]), func(x string) bool { return x == to })
		if g[from] = without; e.Add {
			g[from] = append(without, to)
		}
	}
	if !added {
		return nil
	}
	return g.Check(id)
}
