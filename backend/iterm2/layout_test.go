package iterm2

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

func leaf(cols, rows int) wire.Link {
	return wire.Link{Session: &wire.Session{Size: &wire.Size{Cols: cols, Rows: rows}}}
}

func branch(vertical bool, links ...wire.Link) wire.Link {
	return wire.Link{Node: &wire.Node{Vertical: vertical, Links: links}}
}

func drawn(n *wire.Node) string {
	var parts []string
	for _, l := range n.Links {
		if l.Session != nil {
			parts = append(parts, fmt.Sprintf("%dx%d", l.Session.Size.Cols, l.Session.Size.Rows))
		} else {
			parts = append(parts, drawn(l.Node))
		}
	}
	if n.Vertical {
		return "(" + strings.Join(parts, "|") + ")"
	}
	return "(" + strings.Join(parts, "/") + ")"
}

func TestArrange(t *testing.T) {
	column := branch(false, leaf(99, 30), leaf(99, 14), leaf(99, 14))
	for _, tc := range []struct {
		name string
		root wire.Link
		main string
		want string
	}{
		{"the lead and a column", branch(true, leaf(100, 60), column), "40%", "(79x60|(120x19/120x19/120x20))"},
		{"in cells", branch(true, leaf(100, 60), column), "30", "(30x60|(169x19/169x19/169x20))"},
		{"without a main pane, by what is there", branch(true, leaf(100, 60), column), "", "(99x60|(100x19/100x19/100x20))"},
		{"three side by side", branch(true, leaf(100, 60), leaf(49, 60), leaf(49, 60)), "", "(66x60|66x60|66x60)"},
		{"a grid", branch(true, branch(false, leaf(99, 40), leaf(99, 19)), branch(false, leaf(100, 10), leaf(100, 49))), "", "((99x29/99x30)|(100x29/100x30))"},
		{"a main pane that leaves room", branch(true, leaf(10, 5), leaf(9, 5)), "500", "(17x5|2x5)"},
		{"stacked: no main pane", branch(false, leaf(80, 20), leaf(80, 3)), "40%", "(80x11/80x12)"},
		{"alone", branch(true, leaf(80, 24)), "40%", "(80x24)"},
		{"one direction in itself", branch(true, leaf(10, 5), branch(true, leaf(10, 5), leaf(10, 5))), "", "(10x5|(10x5|10x5))"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := drawn(arrange(tc.root.Node, backend.Layout{Main: tc.main})); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
	for _, root := range []*wire.Node{nil, {}, {Links: []wire.Link{{}}}, {Links: []wire.Link{{Session: &wire.Session{}}}}} {
		if arrange(root, backend.Layout{Main: "40%"}) != nil {
			t.Errorf("%+v was arranged", root)
		}
	}
}

// Whatever the tree, every division has as much to share out afterwards as before.
func TestArrangeKeepsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var grow func(vertical bool, cols, rows, depth int) wire.Link
		grow = func(vertical bool, cols, rows, depth int) wire.Link {
			n := rapid.IntRange(1, 4).Draw(t, "parts")
			if depth == 0 || n == 1 || cols < 20 || rows < 20 {
				return leaf(cols, rows)
			}
			var links []wire.Link
			for i := range n {
				c, r := cols, rows
				if vertical {
					c = (cols - n + 1) / n
					if i == n-1 {
						c = cols - n + 1 - c*(n-1)
					}
				} else {
					r = (rows - n + 1) / n
					if i == n-1 {
						r = rows - n + 1 - r*(n-1)
					}
				}
				links = append(links, grow(!vertical, c, r, depth-1))
			}
			return branch(vertical, links...)
		}
		root := grow(true, rapid.IntRange(20, 300).Draw(t, "cols"), rapid.IntRange(20, 100).Draw(t, "rows"), 4)
		if root.Node == nil {
			return
		}
		got := arrange(root.Node, backend.Layout{Main: rapid.SampledFrom([]string{"", "1%", "40%", "60%", "30"}).Draw(t, "main")})
		for _, x := range []axis{across, down} {
			if before, after := extent(root, x), extent(wire.Link{Node: got}, x); before != after {
				t.Fatalf("%s became %s", drawn(root.Node), drawn(got))
			}
		}
	})
}
