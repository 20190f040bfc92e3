package iterm2test

import (
	"slices"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

type window struct {
	id       string
	tabs     []*tab
	selected *tab
}

type tab struct {
	id     string
	root   *node // never a leaf
	active *session
}

// node is a division (with children) or a leaf (with a session).
type node struct {
	parent   *node
	vertical bool
	children []*node
	session  *session
	size     wire.Size
}

// least is the size below which nothing is split.
const (
	leastCols = 5
	leastRows = 2
)

// What follows is called with mu held.

func (s *Server) openWindow(x *session) {
	w := &window{id: s.next("pty")}
	s.windows = append(s.windows, w)
	s.key = w
	s.openTab(w, x)
}

func (s *Server) openTab(w *window, x *session) {
	s.serial++
	root := &node{vertical: true, size: wire.Size{Cols: firstCols, Rows: firstRows}}
	root.children = []*node{{parent: root, session: x, size: root.size}}
	t := &tab{id: strconv.Itoa(s.serial), root: root, active: x}
	w.tabs = append(w.tabs, t)
	w.selected = t
}

// leaves returns the leaves below n.
func (n *node) leaves() []*node {
	if n.session != nil {
		return []*node{n}
	}
	var out []*node
	for _, c := range n.children {
		out = append(out, c.leaves()...)
	}
	return out
}

func (s *Server) find(id string) (*window, *tab, *node) {
	for _, w := range s.windows {
		for _, t := range w.tabs {
			for _, l := range t.root.leaves() {
				if l.session.id == id {
					return w, t, l
				}
			}
		}
	}
	return nil, nil, nil
}

func (s *Server) session(id string) *session {
	if _, _, leaf := s.find(id); leaf != nil {
		return leaf.session
	}
	return nil
}

// halves returns the sizes of what a leaf becomes when it is split.
func (n *node) halves(vertical bool) (first, second wire.Size, ok bool) {
	first, second = n.size, n.size
	if vertical {
		second.Cols = (n.size.Cols - 1) / 2
		first.Cols -= second.Cols + 1
		return first, second, second.Cols >= leastCols
	}
	second.Rows = (n.size.Rows - 1) / 2
	first.Rows -= second.Rows + 1
	return first, second, second.Rows >= leastRows
}

// split puts x beside or below a leaf.
func (s *Server) split(t *tab, leaf *node, vertical bool, x *session) {
	first, second, _ := leaf.halves(vertical)
	p := leaf.parent
	if p.vertical != vertical && len(p.children) == 1 {
		p.vertical = vertical
	}
	if p.vertical != vertical {
		division := &node{parent: p, vertical: vertical, size: leaf.size}
		p.children[slices.Index(p.children, leaf)] = division
		leaf.parent, division.children = division, []*node{leaf}
		p = division
	}
	fresh := &node{parent: p, session: x, size: second}
	p.children = slices.Insert(p.children, slices.Index(p.children, leaf)+1, fresh)
	leaf.resize(first)
	t.active = x
}

// resize gives a leaf or a division another size.
func (n *node) resize(to wire.Size) {
	n.size = to
	if n.session != nil {
		n.session.resize(to)
		return
	}
	rest := to.Cols
	if !n.vertical {
		rest = to.Rows
	}
	rest -= len(n.children) - 1
	for i, c := range n.children {
		share, size := rest/(len(n.children)-i), to
		rest -= share
		if n.vertical {
			size.Cols = share
		} else {
			size.Rows = share
		}
		c.resize(size)
	}
}

// remove takes a session out of its tab, and what is empty then.
func (s *Server) remove(x *session) {
	w, t, leaf := s.find(x.id)
	if leaf == nil {
		return
	}
	p := leaf.parent
	p.children = slices.DeleteFunc(p.children, func(c *node) bool { return c == leaf })
	if len(p.children) == 1 && p.parent != nil { // a division of one is none
		only, at := p.children[0], slices.Index(p.parent.children, p)
		only.parent, only.size = p.parent, p.size
		p.parent.children[at] = only
		p = p.parent
	}
	if left := t.root.leaves(); len(left) > 0 {
		p.resize(p.size)
		if t.active == x {
			t.active = left[0].session
		}
	} else {
		s.removeTab(w, t)
	}
}

func (s *Server) removeTab(w *window, t *tab) {
	w.tabs = slices.DeleteFunc(w.tabs, func(o *tab) bool { return o == t })
	if len(w.tabs) > 0 {
		if w.selected == t {
			w.selected = w.tabs[0]
		}
		return
	}
	s.windows = slices.DeleteFunc(s.windows, func(o *window) bool { return o == w })
	if s.key = nil; len(s.windows) > 0 {
		s.key = s.windows[0]
	}
}

// Focus describes what is in front: the window with the keyboard, and what is selected in
// each.
func (s *Server) Focus() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, w := range s.windows {
		line := w.id + "/" + w.selected.id + "/" + w.selected.active.id
		if w == s.key {
			line += " (keyboard)"
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

// described is a tab's tree as it is told to clients.
func (n *node) described() *wire.Node {
	out := &wire.Node{Vertical: n.vertical}
	for _, c := range n.children {
		if c.session == nil {
			out.Links = append(out.Links, wire.Link{Node: c.described()})
			continue
		}
		out.Links = append(out.Links, wire.Link{Session: &wire.Session{ID: c.session.id, Size: new(c.size), Title: c.session.shown()}})
	}
	return out
}

// layout gives a tree the sizes of a described one of the same shape, if they add up.
func (n *node) layout(like *wire.Node) (status int) {
	if like == nil || like.Vertical != n.vertical || len(like.Links) != len(n.children) {
		return 2
	}
	for i, c := range n.children {
		l := like.Links[i]
		switch {
		case (c.session == nil) != (l.Session == nil) || c.session != nil && (l.Session.ID != c.session.id || l.Session.Size == nil):
			return 2
		case c.session == nil:
			if status := c.layout(l.Node); status != 0 {
				return status
			}
		default:
			c.resize(*l.Session.Size)
		}
	}
	sum := wire.Size{}
	for i, c := range n.children {
		along, across := &sum.Cols, &sum.Rows
		size := c.size
		if !n.vertical {
			along, across = across, along
			size = wire.Size{Cols: size.Rows, Rows: size.Cols}
		}
		if *along += size.Cols; i > 0 {
			*along++
			if *across != size.Rows {
				return 3
			}
		}
		*across = size.Rows
	}
	if n.parent != nil {
		n.size = sum
		return 0
	}
	if sum != n.size {
		return 3
	}
	return 0
}
