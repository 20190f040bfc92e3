package iterm2

import (
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// panes returns every session of iTerm2's own, without what is kept on it.
func (b *Backend) panes(tree *wire.Sessions) []backend.Pane {
	var out []backend.Pane
	for _, w := range tree.Windows {
		for _, t := range w.Tabs {
			if t.Tmux != "" {
				continue
			}
			whole := wire.Link{Node: t.Root}
			for _, s := range sessionsOf(t.Root) {
				p := backend.Pane{ID: backend.ID(s.ID), Window: t.ID, Session: w.ID, Server: b.opt.Socket, WindowWidth: extent(whole, across), WindowHeight: extent(whole, down)}
				if s.Size != nil {
					p.Width, p.Height = s.Size.Cols, s.Size.Rows
				}
				out = append(out, p)
			}
		}
	}
	for _, s := range tree.Buried {
		out = append(out, backend.Pane{ID: backend.ID(s.ID), Server: b.opt.Socket})
	}
	// What came malformed could not be asked about.
	return slices.DeleteFunc(out, func(p backend.Pane) bool { return checkID(p.ID) != nil })
}

// sessionsOf are the sessions of a division; how deep it can be is bounded by package wire.
func sessionsOf(n *wire.Node) []*wire.Session {
	if n == nil {
		return nil
	}
	var out []*wire.Session
	for _, l := range n.Links {
		if l.Session != nil {
			out = append(out, l.Session)
		} else {
			out = append(out, sessionsOf(l.Node)...)
		}
	}
	return out
}
