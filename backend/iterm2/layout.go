package iterm2

import (
	"context"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Arrange gives the sessions of a tab other sizes. iTerm2 keeps the tree of divisions as
// it is, so an arrangement is what can be had of it on that tree.
func (b *Backend) Arrange(ctx context.Context, layouts ...backend.Layout) error {
	return backend.EachLayout(layouts, func(l backend.Layout) error { return b.arrangeOne(ctx, l) })
}

func (b *Backend) arrangeOne(ctx context.Context, l backend.Layout) error {
	if err := backend.CheckLayout(l); err != nil {
		return err
	}
	root, err := b.root(ctx, l.Window)
	if err != nil || l.Kind == backend.None {
		return err
	}
	if l.Kind != backend.MainVertical {
		l.Main = ""
	}
	arranged := arrange(root, l)
	if arranged == nil {
		return nil // nothing to divide
	}
	a, err := b.ask(ctx, &wire.Request{SetTabLayout: &wire.SetTabLayoutRequest{Root: arranged, Tab: l.Window}})
	switch {
	case err != nil:
		return err
	case a.SetTabLayout == nil:
		return odd("a layout")
	case a.SetTabLayout.Status != wire.OK:
		return refused("arrange tab "+l.Window, a.SetTabLayout.Status)
	}
	return nil
}

// root returns the tree of a tab.
func (b *Backend) root(ctx context.Context, tab string) (*wire.Node, error) {
	tree, err := b.tree(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range tree.Windows {
		for _, t := range w.Tabs {
			if t.ID == tab && t.Tmux == "" {
				return t.Root, nil
			}
		}
	}
	return nil, fault.New(fault.BackendUnavailable, "tab %.40q: %w", tab, backend.ErrGone)
}

// axis is a direction in which sizes are counted.
type axis bool

const (
	across axis = true  // columns
	down   axis = false // rows
)

func (x axis) of(s *wire.Size) *int {
	if x == across {
		return &s.Cols
	}
	return &s.Rows
}

// arrange returns a tree with the sizes changed: every division is shared out so that
// all panes are equal, but the first of the outermost one, if its parts stand side by
// side, gets what the layout says of a main pane. What a division has to share out stays
// the same. It is nil when a tree has no sizes to be changed.
func arrange(root *wire.Node, l backend.Layout) *wire.Node {
	n := copied(root)
	if n == nil || len(n.Links) == 0 {
		return nil
	}
	main := 0
	if n.Vertical && len(n.Links) > 1 {
		whole := sum(n, across)
		main = bounded(l.MainCells(whole), whole, n)
	}
	share(n, main)
	return n
}

// bounded keeps the wish for the first part's cells within what leaves every pane, on
// either side, two cells and a divider. It is 0, no wish, where there is no room for that.
func bounded(cells, whole int, n *wire.Node) int {
	least := func(l wire.Link) int { return 3*panesAlong(l, across) - 1 }
	rest := 0
	for _, l := range n.Links[1:] {
		rest += least(l)
	}
	first := least(n.Links[0])
	if cells <= 0 || first+rest > whole {
		return 0
	}
	return min(max(cells, first), whole-rest)
}

// copied returns a deep copy, or nil if a session has no size.
func copied(n *wire.Node) *wire.Node {
	if n == nil {
		return nil
	}
	out := &wire.Node{Vertical: n.Vertical}
	for _, l := range n.Links {
		switch {
		case l.Session != nil && l.Session.Size != nil:
			l.Session = &wire.Session{ID: l.Session.ID, Size: new(*l.Session.Size), Title: l.Session.Title}
		default:
			if l.Node = copied(l.Node); l.Node == nil || l.Session != nil {
				return nil
			}
		}
		out.Links = append(out.Links, l)
	}
	return out
}

// extent is how large a part is along an axis, the dividers, a cell each, included.
func extent(l wire.Link, x axis) int {
	switch {
	case l.Session != nil && l.Session.Size != nil:
		return *x.of(l.Session.Size)
	case l.Session != nil || l.Node == nil:
		return 0
	case axis(l.Node.Vertical) == x:
		return sum(l.Node, x) + max(len(l.Node.Links)-1, 0)
	}
	most := 0
	for _, part := range l.Node.Links {
		most = max(most, extent(part, x))
	}
	return most
}

// sum is what a division has to share out along its axis: all but the dividers.
func sum(n *wire.Node, x axis) int {
	total := 0
	for _, l := range n.Links {
		total += extent(l, x)
	}
	return total
}

// panesAlong is how many panes stand in a row along an axis.
func panesAlong(l wire.Link, x axis) int {
	if l.Session != nil {
		return 1
	}
	total := 0
	for _, part := range l.Node.Links {
		if n := panesAlong(part, x); axis(l.Node.Vertical) == x {
			total += n
		} else {
			total = max(total, n)
		}
	}
	return total
}

// share shares a division out: the first part gets main, if that is not 0, the others
// by how many panes they hold.
func share(n *wire.Node, main int) {
	x := axis(n.Vertical)
	rest, panes := sum(n, x), 0
	for _, l := range n.Links {
		panes += panesAlong(l, x)
	}
	for i, l := range n.Links {
		mine := panesAlong(l, x)
		size := rest * mine / max(panes, 1)
		if i == 0 && main > 0 {
			size = main
		}
		rest, panes = rest-size, panes-mine
		stretch(l, x, size)
	}
	for _, l := range n.Links {
		if l.Node != nil {
			share(l.Node, 0)
		}
	}
}

// stretch makes a part that large along an axis.
func stretch(l wire.Link, x axis, size int) {
	if l.Session != nil {
		*x.of(l.Session.Size) = size
		return
	}
	if axis(l.Node.Vertical) != x {
		for _, part := range l.Node.Links {
			stretch(part, x, size)
		}
		return
	}
	rest := size - (len(l.Node.Links) - 1)
	for i, part := range l.Node.Links {
		each := rest / (len(l.Node.Links) - i)
		rest -= each
		stretch(part, x, each)
	}
}
