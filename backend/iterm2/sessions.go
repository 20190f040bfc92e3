package iterm2

import (
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// maxDepth is how deep a tab's divisions may lie in each other.
const maxDepth = 100

// panes returns every session of iTerm2's own, without what is kept on it.
func (b *Backend) panes(tree *wire.Sessions) []backend.Pane {
	var out []backend.Pane
	for _, w := range tree.Windows {
		for _, t := range w.Tabs {
			if t.Tmux != "" {
				continue
			}
			whole := sizeOf(t.Root, 0)
			for _, s := range sessionsOf(t.Root, 0) {
				p := backend.Pane{ID: backend.ID(s.ID), Window: t.ID, Session: w.ID, Server: b.socket, WindowWidth: whole.Cols, WindowHeight: whole.Rows}
				if s.Size != nil {
					p.Width, p.Height = s.Size.Cols, s.Size.Rows
				}
				out = append(out, p)
			}
		}
	}
	for _, s := range tree.Buried {
		out = append(out, backend.Pane{ID: backend.ID(s.ID), Server: b.socket})
	}
	// What came malformed could not be asked about.
	return slices.DeleteFunc(out, func(p backend.Pane) bool { return checkID(p.ID) != nil })
}

func sessionsOf(n *wire.Node, depth int) []*wire.Session {
	if n == nil || depth > maxDepth {
		return nil
	}
	var out []*wire.Session
	for _, l := range n.Links {
		if l.Session != nil {
			out = append(out, l.Session)
		} else {
			out = append(out, sessionsOf(l.Node, depth+1)...)
		}
	}
	return out
}

// sizeOf is the size of a division: that of its parts and of the dividers between, a cell
// each.
func sizeOf(n *wire.Node, depth int) wire.Size {
	var sum wire.Size
	if n == nil || depth > maxDepth {
		return sum
	}
	for i, l := range n.Links {
		size := sizeOf(l.Node, depth+1)
		if l.Session != nil && l.Session.Size != nil {
			size = *l.Session.Size
		}
		if n.Vertical {
			sum.Cols += size.Cols + min(i, 1)
			sum.Rows = max(sum.Rows, size.Rows)
		} else {
			sum.Rows += size.Rows + min(i, 1)
			sum.Cols = max(sum.Cols, size.Cols)
		}
	}
	return sum
}
