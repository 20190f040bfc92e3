package panes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"pgregory.net/rapid"
)

func pane(id, window string, w, h int) backend.Pane {
	return backend.Pane{ID: backend.ID(id), Window: window, Width: w, Height: h, WindowWidth: 200, WindowHeight: 50}
}

func inside(w, h int) View {
	lead := backend.Pane{ID: "%0", Window: "@0", Width: w, Height: h, WindowWidth: w, WindowHeight: h}
	return View{Lead: &lead, Window: []backend.Pane{lead}}
}

// sketch writes specs as one line: where each pane goes.
func sketch(specs []backend.Spec) string {
	var out []string
	for _, s := range specs {
		target := string(s.Target)
		if s.Chain > 0 {
			target = fmt.Sprintf("-%d", s.Chain)
		}
		way := "beside"
		if s.Below {
			way = "below"
		}
		switch s.Place {
		case backend.Split:
			out = append(out, fmt.Sprintf("%s(%s,%d)", way, target, s.Size))
		default:
			out = append(out, fmt.Sprintf("%s(%s)", s.Place, target))
		}
	}
	return strings.Join(out, " ")
}

func TestPlace(t *testing.T) {
	second := inside(80, 50)
	second.Ours = []backend.Pane{pane("%1", "@0", 119, 25), pane("%2", "@0", 119, 24)}
	full := inside(80, 50)
	for i := range 4 {
		full.Ours = append(full.Ours, pane(fmt.Sprintf("%%%d", i+1), "@0", 119, 11))
	}
	mixed := inside(200, 50) // one beside the lead, one in a window, one in a session of the team's own
	mixed.Lead.Session = "$0"
	for i, session := range []string{"$0", "$0", "$1"} {
		p := pane(fmt.Sprintf("%%%d", i+1), fmt.Sprintf("@%d", i), 200, 50)
		p.Session = session
		mixed.Ours = append(mixed.Ours, p)
	}
	two := mixed
	two.Ours = mixed.Ours[:2]
	elsewhere := View{Ours: []backend.Pane{pane("%7", "@3", 100, 50), pane("%8", "@3", 99, 50)}}
	for _, tc := range []struct {
		name   string
		layout Layout
		view   View
		n      int
		want   string
	}{
		{"a column beside the lead", Layout{}, inside(200, 50), 3, "beside(%0,119) below(-1,24) below(-2,12)"},
		{"onto the tallest of ours", Layout{}, second, 1, "below(%1,12)"},
		{"LY-01 a full column goes on in a window of the team's own", Layout{}, full, 2, "window(%0) below(-1,24)"},
		{"a lead too narrow to split", Layout{}, inside(60, 24), 1, "window(%0)"},
		{"80x24 holds two", Layout{}, inside(80, 24), 3, "beside(%0,47) below(-1,11) window(%0)"},
		{"a cap by number", Layout{MaxPanes: 1}, inside(200, 50), 3, "beside(%0,119) window(%0) window(%0)"},
		{"LY-05 window: the lead's window is left alone", Layout{Placement: backend.Window}, inside(200, 50), 2, "window(%0) beside(-1,99)"},
		{"LY-05 window: into the window in the lead's session", Layout{Placement: backend.Window}, mixed, 1, "beside(%2,99)"},
		{"session: into the one of the team's own", Layout{Placement: backend.Session}, mixed, 1, "beside(%3,99)"},
		{"session: none yet", Layout{Placement: backend.Session}, two, 2, "session() beside(-1,99)"},
		{"LY-02 outside: a session with panes of a useful size", Layout{}, View{}, 5, "session() beside(-1,99) below(-2,24) below(-2,24) window(-4)"},
		{"outside, again: into the windows there are", Layout{}, elsewhere, 1, "below(%7,24)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			specs, _, _ := Place(tc.layout, tc.view, tc.n)
			if got := sketch(specs); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestPlaceArrangesOnceAndNeverAmongStrangers(t *testing.T) {
	_, _, arr := Place(Layout{}, inside(200, 50), 4)
	if len(arr) != 1 || arr[0].Kind != backend.MainVertical || arr[0].Window != "@0" {
		t.Errorf("LY-05: want one main-vertical of the lead's window, got %+v", arr)
	}
	v := inside(100, 50)
	v.Window = append(v.Window, pane("%9", "@0", 99, 50)) // the user's editor
	if _, _, arr := Place(Layout{}, v, 2); len(arr) != 0 {
		t.Errorf("LY-05: a window with the user's own panes is rearranged: %+v", arr)
	}
	_, _, arr = Place(Layout{}, View{}, 5)
	if len(arr) != 2 || arr[0].Opens != 0 || arr[1].Opens != 4 || arr[0].Kind != backend.Tiled {
		t.Errorf("want both new windows tiled, got %+v", arr)
	}
}

// TestXF21_NoPaneIsBelowTheSmallestSize: of the windows that are tiled none gets more panes
// than it has room for, whatever its form.
func TestXF21_NoPaneIsBelowTheSmallestSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols, rows := rapid.IntRange(20, 500).Draw(t, "cols"), rapid.IntRange(5, 150).Draw(t, "rows")
		v := inside(cols, rows)
		l := Layout{Placement: rapid.SampledFrom([]backend.Place{backend.Window, backend.Session}).Draw(t, "placement"), MinCols: rapid.IntRange(1, 100).Draw(t, "mincols"), MinRows: rapid.IntRange(1, 40).Draw(t, "minrows")}
		if l.Placement == backend.Session {
			v, cols, rows = View{}, ownCols, ownRows
		}
		specs, _, _ := Place(l, v, rapid.IntRange(1, 60).Draw(t, "n"))
		panes := 0
		for i, s := range specs {
			if panes++; i+1 < len(specs) && specs[i+1].Place == backend.Split {
				continue
			}
			down, across := 1, 1
			for down*across < panes {
				if down++; down*across < panes {
					across++
				}
			}
			if w, h := (cols-across+1)/across, (rows-down)/down; panes > 1 && (w < l.MinCols || h < l.MinRows) {
				t.Fatalf("%d panes of %dx%d in a window of %dx%d (%+v), smallest %dx%d", panes, w, h, cols, rows, s, l.MinCols, l.MinRows)
			}
			panes = 0
		}
	})
}

// However large the window and however many the panes: every pane is placed,
// every target is there before it is split, and no split asks for more than
// there is.
func TestPlaceAlwaysFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := inside(rapid.IntRange(1, 400).Draw(t, "cols"), rapid.IntRange(1, 120).Draw(t, "rows"))
		if rapid.Bool().Draw(t, "outside") {
			v = View{}
		}
		n := rapid.IntRange(1, 70).Draw(t, "n")
		l := Layout{Main: rapid.SampledFrom([]string{"", "40%", "30", "100%", "0%"}).Draw(t, "main"), MinCols: rapid.IntRange(0, 100).Draw(t, "mincols"), MinRows: rapid.IntRange(0, 40).Draw(t, "minrows")}
		specs, _, _ := Place(l, v, n)
		if len(specs) != n {
			t.Fatalf("%d specs for %d panes", len(specs), n)
		}
		type area struct{ cols, rows int }
		areas := make([]area, n)
		for i, s := range specs {
			if s.Chain < 0 || s.Chain > i {
				t.Fatalf("spec %d splits one that is not made yet: %+v", i, s)
			}
			if s.Place != backend.Split {
				areas[i] = area{max(200, 1), 50}
				if v.Lead != nil {
					areas[i] = area{v.Lead.Width, v.Lead.Height}
				}
				continue
			}
			from := &area{}
			if s.Chain > 0 {
				from = &areas[i-s.Chain]
			} else if v.Lead != nil {
				from = &area{v.Lead.Width, v.Lead.Height}
			}
			areas[i] = *from
			if s.Below {
				areas[i].rows = s.Size
				from.rows -= s.Size + 1
			} else {
				areas[i].cols = s.Size
				from.cols -= s.Size + 1
			}
			if from.cols < 1 || from.rows < 1 || areas[i].cols < 1 || areas[i].rows < 1 {
				t.Fatalf("spec %d does not fit: %+v leaves %+v and %+v", i, s, *from, areas[i])
			}
		}
	})
}
