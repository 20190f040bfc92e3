package store

import "slices"

// Links are the dependencies between the tasks of a list. Another program may have
// written one side of a dependency only, blocks or blockedBy: each side counts.
type Links struct {
	blockedBy map[string][]string // by task: those that say that they block it
	blocks    map[string][]string // by task: those that say that they wait for it
	highest   int64
	list      []*Task
}

// NewLinks reads the links of a list. Highest is the highest id that was ever used: a
// task with a number up to it that is not there was removed, and blocks nothing.
func NewLinks(highest int64, list []*Task) *Links {
	l := &Links{blockedBy: map[string][]string{}, blocks: map[string][]string{}, highest: highest, list: list}
	for _, t := range list {
		for _, id := range t.Blocks {
			l.blockedBy[id] = append(l.blockedBy[id], t.ID)
		}
		for _, id := range t.BlockedBy {
			l.blocks[id] = append(l.blocks[id], t.ID)
		}
		l.highest = max(l.highest, IDNumber(t.ID))
	}
	return l
}

// Status tells the status of a task that is there; of one that cannot be read it is "".
type Status func(id string) (status string, there bool)

// Join adds to a task what only the other side says, and fills Open and Missing.
func (l *Links) Join(t *Task, status Status) {
	t.Blocks, t.BlockedBy = union(t.Blocks, l.blocks[t.ID]), l.Before(t)
	l.Fill(t, status)
}

// Fill fills Open and Missing from the task's own side.
func (l *Links) Fill(t *Task, status Status) { t.Open, t.Missing = l.open(t.BlockedBy, status) }

// Free tells whether nothing that a task waits for is open, by either side.
func (l *Links) Free(t *Task, status Status) bool {
	open, _ := l.open(l.Before(t), status)
	return len(open) == 0
}

func (l *Links) open(before []string, status Status) (open, missing []string) {
	for _, id := range before {
		s, there := status(id)
		if s, _ = StatusOf(s); s == Completed || s == Deleted || !there && l.Removed(id) {
			continue
		}
		if open = append(open, id); !there {
			missing = append(missing, id)
		}
	}
	return open, missing
}

// Removed tells of a task that is not there whether it was once: its id was used.
func (l *Links) Removed(id string) bool {
	n := IDNumber(id)
	return n > 0 && n <= l.highest
}

// Warnings say of a list, whose links are joined, which tasks it names that do not exist.
func (l *Links) Warnings(list []Task, status Status) []string {
	var out []string
	for _, t := range list {
		for _, id := range t.Missing {
			out = append(out, "task "+t.ID+" waits for task "+Shown(id)+", which does not exist: take it out of blockedBy")
		}
		for _, id := range t.Blocks {
			if _, there := status(id); !there && !l.Removed(id) {
				out = append(out, "task "+t.ID+" blocks task "+Shown(id)+", which does not exist: take it out of blocks")
			}
		}
	}
	return out
}

// Graph returns the dependencies.
func (l *Links) Graph() Graph {
	g := make(Graph, len(l.list))
	for _, t := range l.list {
		g[t.ID] = l.Before(t)
	}
	return g
}

// Before lists the tasks that a task waits for, by either side.
func (l *Links) Before(t *Task) []string { return union(t.BlockedBy, l.blockedBy[t.ID]) }

func union(ids, more []string) []string {
	if len(ids)+len(more) == 0 {
		return ids
	}
	return unique(append(slices.Clone(ids), more...))
}
