package panes

import (
	"cmp"
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
)

// Layout is how a team's panes are arranged. The zero value means the defaults.
type Layout struct {
	Placement backend.Place      `json:"placement,omitempty"` // Split (default inside a terminal), Window, or Session
	Arrange   backend.LayoutKind `json:"arrange,omitempty"`   // of the lead's window; MainVertical by default
	Main      string             `json:"main,omitempty"`      // size of the lead's pane with MainVertical; "40%" by default
	MinCols   int                `json:"minCols,omitempty"`   // smallest pane; 40x10 beside the lead, 80x20 in our own session
	MinRows   int                `json:"minRows,omitempty"`
	MaxPanes  int                `json:"maxPanes,omitempty"` // panes of ours in one window; 0: as many as the smallest size allows
}

// View is what is there before panes are placed.
type View struct {
	Lead   *backend.Pane  // the lead's pane, nil when the lead runs in no pane of this terminal
	Window []backend.Pane // all panes of the lead's window
	Ours   []backend.Pane // the team's own panes, wherever they are
}

// Arrangement asks for one window to be laid out once its panes are there. The
// id of a window that is yet to be made is that of the pane of specs[Opens].
type Arrangement struct {
	backend.Layout
	Opens int // counts only while Layout.Window is ""
}

// ownCols and ownRows are the size of a session of our own: nobody looks at it
// yet, and a terminal's default of 80x24 would hold two panes.
const (
	ownCols = 200
	ownRows = 50
)

// Place decides where n new panes go, in order, and which windows want to be
// arranged afterwards. It is pure. Every slot it gives out has room for a pane of
// the smallest size once its window is arranged, and is large enough to be split
// before that: the windows are arranged once, when all panes are there. A pane that is split
// off stands behind the one that it was split from, so the order in which they are opened is
// not the order in which they stand: spec i is for the teammate whose[i].
func Place(l Layout, v View, n int) (specs []backend.Spec, whose []int, _ []Arrangement) {
	l = l.withDefaults(v)
	p := &placer{layout: l, view: v}
	p.start()
	for range n {
		p.place()
	}
	return p.specs, p.whose(), p.arrangements()
}

// whose gives each window's new panes, in the order in which they stand, to the teammates
// whose turn it was when the panes were planned.
func (p *placer) whose() []int {
	of := make([]int, len(p.specs))
	for _, w := range p.windows {
		var stand []int
		for _, s := range w.panes {
			if s.id == "" {
				stand = append(stand, s.spec)
			}
		}
		for i, turn := range slices.Sorted(slices.Values(stand)) {
			of[stand[i]] = turn
		}
	}
	return of
}

func (l Layout) withDefaults(v View) Layout {
	if l.Placement == "" || (v.Lead == nil && l.Placement != backend.Session) {
		l.Placement = backend.Split
		if v.Lead == nil {
			l.Placement = backend.Session
		}
	}
	l.Arrange = cmp.Or(l.Arrange, backend.MainVertical)
	l.Main = cmp.Or(l.Main, "40%")
	cols, rows := 40, 10
	if l.Placement == backend.Session {
		cols, rows = 80, 20
	}
	if l.MinCols <= 0 {
		l.MinCols = cols
	}
	if l.MinRows <= 0 {
		l.MinRows = rows
	}
	return l
}

// placer places one pane after another and keeps count of what is where.
type placer struct {
	layout  Layout
	view    View
	specs   []backend.Spec
	windows []*window // the lead's first, if panes may go there
}

// window is one window that holds, or will hold, panes of the team.
type window struct {
	id    string // "" while it is not made yet
	lead  *backend.Pane
	alien bool // holds panes of others: never rearranged
	max   int
	panes []slot // in the order in which they stand
	dirty bool
}

// slot is the area of one pane of ours, there or planned.
type slot struct {
	id         backend.ID // "" when planned: then spec is its index
	spec       int
	cols, rows int
}

func (p *placer) place() {
	for _, w := range p.windows {
		if len(w.panes) < w.max && p.split(w) {
			return
		}
	}
	p.open()
}

// start gathers the windows that hold panes of the team, and the lead's.
func (p *placer) start() {
	if p.layout.Placement == backend.Split && p.view.Lead != nil {
		p.windows = append(p.windows, p.leadWindow())
	}
	byID := map[string]*window{}
	for _, pane := range p.view.Ours {
		if !p.suits(pane) {
			continue
		}
		w := byID[pane.Window]
		if w == nil {
			w = &window{id: pane.Window, max: p.capacity(pane.WindowWidth, pane.WindowHeight)}
			byID[pane.Window] = w
			p.windows = append(p.windows, w)
		}
		w.panes = append(w.panes, slot{id: pane.ID, cols: pane.Width, rows: pane.Height})
	}
}

// suits tells whether the window of a pane of ours is of the kind that is asked for: in
// the lead's session, which is not the lead's window, or in one of the team's own.
func (p *placer) suits(pane backend.Pane) bool {
	lead := p.view.Lead
	if lead == nil {
		return true
	}
	return pane.Window != lead.Window && (pane.Session == lead.Session) != (p.layout.Placement == backend.Session)
}

// leadWindow is the window that the lead shares with its teammates: they stand
// in one column beside it.
func (p *placer) leadWindow() *window {
	lead := p.view.Lead
	w := &window{id: lead.Window, lead: lead}
	mine := map[backend.ID]bool{}
	height := lead.Height
	for _, pane := range p.view.Ours {
		if pane.Window == lead.Window {
			mine[pane.ID] = true
			w.panes = append(w.panes, slot{id: pane.ID, cols: pane.Width, rows: pane.Height})
		}
	}
	for _, pane := range p.view.Window {
		if pane.ID != lead.ID && !mine[pane.ID] {
			w.alien = true
		}
	}
	if len(w.panes) > 0 {
		height = len(w.panes) - 1
		for _, s := range w.panes {
			height += s.rows
		}
	}
	w.max = min((height+1)/(p.layout.MinRows+1), p.limit())
	return w
}

// capacity is how many panes a window holds, at least one, so that none is below the
// smallest size when they are tiled.
func (p *placer) capacity(cols, rows int) int {
	n := 1
	for n < p.limit() {
		w, h := tile(n+1, cols, rows)
		if w < p.layout.MinCols || h < p.layout.MinRows {
			break
		}
		n++
	}
	return n
}

// tile is the size of the smallest of n panes that are tiled, as tmux does it: there are as
// many rows as columns, or one more, whatever the form of the window. Each row has a border.
func tile(n, cols, rows int) (w, h int) {
	across, down := 1, 1
	for across*down < n {
		if down++; across*down < n {
			across++
		}
	}
	return (cols+1)/across - 1, rows/down - 1
}

func (p *placer) limit() int {
	if p.layout.MaxPanes > 0 {
		return p.layout.MaxPanes
	}
	return 1 << 10
}

// split puts the next pane into w, beside the lead or by halving the largest
// pane of ours, and reports whether there was room.
func (p *placer) split(w *window) bool {
	if len(w.panes) == 0 {
		return w.lead != nil && p.besideLead(w)
	}
	at := 0
	for i, s := range w.panes {
		if largest := w.panes[at]; s.cols*s.rows > largest.cols*largest.rows {
			at = i
		}
	}
	from := &w.panes[at]
	fresh := slot{spec: len(p.specs), cols: from.cols, rows: from.rows}
	spec := backend.Spec{Place: backend.Split, Target: from.id}
	// A lead's column is only stacked; elsewhere the longer side is cut. A cell is
	// about twice as high as wide.
	if spec.Below = w.lead != nil || from.rows*2 >= from.cols; spec.Below {
		fresh.rows = halve(&from.rows)
		spec.Size = fresh.rows
	} else {
		fresh.cols = halve(&from.cols)
		spec.Size = fresh.cols
	}
	if spec.Size < 2 {
		return false
	}
	if from.id == "" {
		spec.Chain = len(p.specs) - from.spec
	}
	p.add(w, at+1, spec, fresh)
	return true
}

// halve takes the second half of n cells away, with the border between, and
// returns its size.
func halve(n *int) int {
	second := (*n - 1) / 2
	*n = *n - 1 - second
	return second
}

// besideLead opens the column beside the lead.
func (p *placer) besideLead(w *window) bool {
	keep := backend.Layout{Main: p.layout.Main}.MainCells(w.lead.Width)
	cols := w.lead.Width - keep - 1
	if cols < p.layout.MinCols || keep < max(p.layout.MinCols/2, 1) || w.max < 1 {
		return false
	}
	p.add(w, 0, backend.Spec{Place: backend.Split, Target: w.lead.ID, Size: cols}, slot{spec: len(p.specs), cols: cols, rows: w.lead.Height})
	return true
}

// open makes a new window of the team's own, in the lead's session, in that of
// the team's other panes, or in a new one.
func (p *placer) open() {
	spec := backend.Spec{Place: backend.Window}
	cols, rows := ownCols, ownRows
	switch {
	case p.view.Lead != nil && p.layout.Placement != backend.Session:
		spec.Target = p.view.Lead.ID
		cols, rows = max(p.view.Lead.WindowWidth, p.view.Lead.Width), max(p.view.Lead.WindowHeight, p.view.Lead.Height)
	case len(p.windows) > 0 && p.windows[0].panes[0].id != "":
		spec.Target = p.windows[0].panes[0].id
	case len(p.specs) > 0:
		spec.Chain = len(p.specs)
	default:
		spec.Place = backend.Session
	}
	w := &window{max: p.capacity(cols, rows)}
	p.windows = append(p.windows, w)
	p.add(w, 0, spec, slot{spec: len(p.specs), cols: cols, rows: rows})
}

func (p *placer) add(w *window, at int, spec backend.Spec, s slot) {
	p.specs = append(p.specs, spec)
	w.panes = slices.Insert(w.panes, at, s)
	w.dirty = true
}

// arrangements lists the windows that got panes. A window that holds others'
// panes is left as it is.
func (p *placer) arrangements() []Arrangement {
	var out []Arrangement
	for _, w := range p.windows {
		if !w.dirty || w.alien {
			continue
		}
		a := Arrangement{Layout: backend.Layout{Window: w.id, Kind: backend.Tiled}, Opens: w.panes[0].spec}
		if w.lead != nil {
			a.Kind, a.Main = p.layout.Arrange, p.layout.Main
		}
		if a.Kind != backend.None {
			out = append(out, a)
		}
	}
	return out
}

// inOrder returns the panes of a team, those that were there and those just opened, in the
// order of their agents.
func inOrder(order []string, there []backend.Pane, opened []launching) (ids []backend.ID) {
	of := map[string]backend.ID{}
	for _, p := range there {
		of[p.Mark.Agent] = p.ID
	}
	for _, l := range pending(opened) {
		of[l.Record.Agent] = l.Pane.ID
	}
	for _, agent := range order {
		if id, ok := of[agent]; ok {
			ids = append(ids, id)
		}
	}
	return ids
}
