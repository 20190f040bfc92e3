package jetstream

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

// board is the copy of a team's tasks. It is guarded by the mirror's lock.
type board struct {
	team    string
	tasks   map[string]*node
	order   []*node // by id
	open    []*node // those that are pending, by id
	highest int64   // id that was ever used
	newest  uint64  // number of the newest write of a task
	links   *store.Links
	busy    time.Time // until then others claim here, too
	aside   int       // and this many pending tasks are left to them
}

// node is one task.
type node struct {
	id    string
	num   int64
	entry *entry
	task  store.Task // as it is stored: what only the other side says of links is not in it
	bad   error
	claim bool   // the entry is a claim over what task and bad say: only the status is of now
	taken bool   // a claim of this process is under way
	lost  uint64 // number of the write over which somebody else has written: the copy is behind
}

func (b *board) take(id string, x *entry) {
	num := store.IDNumber(id)
	if num < 0 {
		return
	}
	b.highest, b.newest = max(b.highest, num), max(b.newest, x.rev)
	n := b.tasks[id]
	if n != nil && n.entry.rev >= x.rev {
		return
	}
	if n == nil {
		n = &node{id: id, num: num}
		b.tasks[id] = n
		at, _ := slices.BinarySearchFunc(b.order, num, byNumber)
		b.order = slices.Insert(b.order, at, n)
		b.links = nil
	}
	if x.over > 0 && n.entry != nil && x.over == n.entry.rev && n.bad == nil {
		n.entry, n.claim, n.task.Status = x, true, store.InProgress // it is read when somebody looks at it
		b.list(n)
		return
	}
	n.entry = x
	b.read(n)
}

// read reads the entry of a task.
func (b *board) read(n *node) {
	was, wasBad := n.task, n.bad != nil
	n.task, n.bad, n.claim = store.Task{}, nil, false
	if !n.entry.deleted {
		n.task, _, n.bad = document.OpenTask(n.id, n.entry.value, b.team)
		n.task.ID = n.id
	}
	if n.entry.deleted || wasBad || n.bad != nil || !slices.Equal(was.Blocks, n.task.Blocks) || !slices.Equal(was.BlockedBy, n.task.BlockedBy) {
		b.links = nil
	}
	b.list(n)
}

// list sees to it that a task is among the pending ones if it is.
func (b *board) list(n *node) {
	at, listed := slices.BinarySearchFunc(b.open, n.num, byNumber)
	switch pending := n.task.Status == store.Pending; {
	case pending && !listed:
		b.open = slices.Insert(b.open, at, n)
	case listed && !pending:
		b.open = without(b.open, at)
	}
}

// without takes one out of a list. The first are claimed first, so what moves is what lies
// before it, if that is less.
func without(list []*node, at int) []*node {
	if at >= len(list)/2 {
		return slices.Delete(list, at, at+1)
	}
	copy(list[1:at+1], list[:at])
	list[0] = nil
	return list[1:]
}

// look is what must come before more than the status and the links of a task is looked at.
func (b *board) look(n *node) {
	if n.claim {
		b.read(n)
	}
}

func revText(rev uint64) string { return strconv.FormatUint(rev, 10) }

func byNumber(n *node, num int64) int { return cmp.Compare(n.num, num) }

// there tells whether a task exists, readable or not.
func (n *node) there() bool { return n != nil && !n.entry.deleted && !n.task.Internal }

// index returns the links of all tasks.
func (b *board) index() *store.Links {
	if b.links == nil {
		var list []*store.Task
		for _, n := range b.order {
			if !n.entry.deleted && n.bad == nil {
				list = append(list, &n.task)
			}
		}
		b.links = store.NewLinks(b.highest, list)
	}
	return b.links
}

func (b *board) status(id string) (string, bool) {
	n := b.tasks[id]
	if n == nil || n.entry.deleted {
		return "", false
	}
	return n.task.Status, true
}

// gone tells whether a task was removed: it is no link's end any more.
func (b *board) gone(id string) bool {
	_, there := b.status(id)
	return !there && b.index().Removed(id)
}

// view is a task as others see it.
func (b *board) view(n *node) store.Task {
	t := b.peek(n)
	return t.Clone()
}

// peek is the same for one who changes nothing of it.
func (b *board) peek(n *node) store.Task {
	b.look(n)
	t := n.task
	t.Blocks, t.BlockedBy = slices.DeleteFunc(slices.Clone(t.Blocks), b.gone), slices.DeleteFunc(slices.Clone(t.BlockedBy), b.gone)
	b.index().Join(&t, b.status)
	if t.UpdatedAt.IsZero() {
		t.UpdatedAt = n.entry.at
	}
	return t
}

// find returns a task: fault.TaskNotFound, fault.CorruptFile.
func (b *board) find(id string) (*node, error) {
	n := b.tasks[id]
	if n != nil {
		b.look(n)
	}
	switch {
	case store.IDNumber(id) < 0 || !n.there():
		return nil, store.NoTask(b.team, id)
	case n.bad != nil:
		return nil, fault.New(fault.CorruptFile, "task %s of team %s is damaged %w", id, b.team, n.bad).WithHint("its bytes are kept on the engine")
	}
	return n, nil
}

// among is how many pending tasks are left aside at most while others claim, too: all would
// want the first, and one get it. Who comes second leaves another number of them aside from
// then on, so that machines which claim at once soon take different ones.
const among = 64

// crowded notes that somebody else was first.
func (b *board) crowded() { b.busy, b.aside = time.Now().Add(contention), rand.IntN(among) }

// pick returns a task that is ready for who and that nobody here is claiming. pending
// says that there is one that somebody here is claiming. What others are known to have
// written is passed over until the copy has it, or is fresh.
func (b *board) pick(who string, fresh bool) (n *node, pending bool) {
	first := 0
	if time.Now().Before(b.busy) && len(b.open) > 0 {
		first = b.aside % len(b.open)
	}
	for i := range b.open {
		switch o := b.open[(first+i)%len(b.open)]; {
		case !o.taken && !fresh && o.lost == o.entry.rev, !b.ready(o, who):
		case o.taken:
			pending = true
		default:
			return o, pending
		}
	}
	return nil, pending
}

// ready tells whether a task is ready for who.
func (b *board) ready(o *node, who string) bool {
	return o.task.Status == store.Pending && o.bad == nil && !o.entry.deleted && o.task.Ready(who) && b.index().Free(&o.task, b.status)
}

// edit writes the differences between two states of a task over what is stored.
func edit(stored []byte, was, now *store.Task) (value []byte, changed bool, err error) {
	o, err := rawjson.ParseObject(stored)
	if err != nil {
		return nil, false, err
	}
	before := o.Raw()
	document.SaveTask(o, was, now)
	after := o.Raw()
	return after, !bytes.Equal(before, after), nil
}
