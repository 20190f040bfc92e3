package tmux

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/leadlight-dev/leadlight/backend"
)

// step is one pane to open: a spec, the pane it goes next to, and its size.
type step struct {
	spec   int     // index of the spec
	target paneRef // the pane that is split, or whose session gets a window
	size   string  // value for split-window -l; "" leaves it to tmux
	at     string  // where the target stands in a session that the same line makes; "": not known
}

// A batch is to look as if its specs had been opened one after the other. Done so
// literally, every pane that splits one of the batch would have to wait for an id. A
// strip avoids that: a row or column that came about by splits of one pane and of its
// parts is split off that pane alone, the last part first, each in the size that is
// left to it in the end. A whole strip needs one id and goes into one command line.
type strip struct {
	head  paneRef
	below bool
	depth int   // the round in which it is opened
	order []int // spec indexes, nearest to the head first
}

// paneRef names a pane before it is there: by its spec, or by its id.
type paneRef struct {
	spec int // -1: the pane has the id
	id   backend.ID
}

type side struct {
	paneRef
	below bool
}

// planner sorts specs into rounds: the targets of a round are known when the rounds
// before it are done.
type planner struct {
	specs  []backend.Spec
	depth  []int // round of each spec
	room   []int // cells that are left to a spec's pane along its strip; 0: not known
	strips []*strip
	member map[int]*strip  // the strip in which a spec's pane stands
	byHead map[side]*strip // the strip that a split of a pane adds to
	rounds [][]step
}

// waves plans a batch of valid specs: a chain points back into the batch.
func waves(specs []backend.Spec) [][]step {
	p := &planner{
		specs: specs, depth: make([]int, len(specs)), room: make([]int, len(specs)),
		member: map[int]*strip{}, byHead: map[side]*strip{},
	}
	for i, s := range specs {
		ref := paneRef{spec: -1, id: s.Target}
		if s.Chain > 0 {
			ref = paneRef{spec: i - s.Chain}
			p.depth[i] = p.depth[ref.spec] + 1
		}
		if s.Place == backend.Split {
			p.split(i, ref)
			continue
		}
		p.put(p.depth[i], step{spec: i, target: ref})
	}
	for _, st := range p.strips {
		for k, i := range slices.Backward(st.order) {
			p.put(st.depth, step{spec: i, target: st.head, size: p.size(i, k+1, len(st.order))})
		}
	}
	return p.rounds
}

// Where a pane stands in the session of a line that makes it. The newest window has the
// highest number, and its first pane stays the active one.
const (
	newest   = "$"
	topRight = "$.{top-right}"
)

// inOneLine brings the rounds that make a session into one round, window by window, if
// each pane that is split there can be named by where it stands, before anybody knows its
// id. Else they stay as they are.
func inOneLine(specs []backend.Spec, rounds [][]step) [][]step {
	if len(rounds) < 2 || len(rounds[0]) != 1 || specs[rounds[0][0].spec].Place != backend.Session {
		return rounds
	}
	first := rounds[0][0].spec
	windows, inside := []int{first}, map[int][]step{first: rounds[0]} // by their first panes
	window, right := map[int]int{first: first}, map[int]int{}
	for _, s := range slices.Concat(rounds[1:]...) {
		head, known := window[s.target.spec]
		switch {
		case !known:
			return rounds
		case specs[s.spec].Place == backend.Window:
			windows, head, s.at = append(windows, s.spec), s.spec, newest
		case s.target.spec == head:
			s.at = newest
			if _, more := right[head]; !more && !specs[s.spec].Below {
				right[head] = s.spec // the last part of a row comes first
			}
		case right[head] == s.target.spec && specs[s.spec].Below:
			s.at = topRight
		default:
			return rounds
		}
		window[s.spec], inside[head] = head, append(inside[head], s)
	}
	var line []step
	for _, head := range windows {
		line = append(line, inside[head]...)
	}
	return [][]step{line}
}

func (p *planner) put(round int, s step) {
	for len(p.rounds) <= round {
		p.rounds = append(p.rounds, nil)
	}
	p.rounds[round] = append(p.rounds[round], s)
}

// split adds the split of one pane to the strip it belongs to.
func (p *planner) split(i int, ref paneRef) {
	below := p.specs[i].Below
	p.room[i] = p.specs[i].Size
	// A pane that is cut the other way is a whole to what comes after.
	delete(p.byHead, side{ref, !below})
	st, at := p.byHead[side{ref, below}], 0
	if m := p.member[ref.spec]; m != nil && ref.spec >= 0 {
		switch {
		case m.below != below:
			delete(p.member, ref.spec)
		case m.head.spec >= 0 || p.room[i] > 0:
			st, at = m, slices.Index(m.order, ref.spec)+1
			p.take(i, ref.spec)
		}
	}
	if st == nil {
		st = &strip{head: ref, below: below, depth: p.depth[i]}
		p.strips = append(p.strips, st)
		p.byHead[side{ref, below}] = st
	}
	st.order = slices.Insert(st.order, at, i)
	p.depth[i], p.member[i] = st.depth, st
}

// take takes the room of a part from the part of the same strip that it splits.
func (p *planner) take(i, from int) {
	if p.room[from] == 0 {
		return
	}
	p.room[i] = cmp.Or(p.room[i], max((p.room[from]-1)/2, 1))
	p.room[from] = max(p.room[from]-p.room[i]-1, 1)
}

// size is that of the k-th pane (from 1) of n in a strip: what is left to it, else an
// equal share, for the head still holds the room of k others and its own.
func (p *planner) size(i, k, n int) string {
	switch {
	case p.room[i] > 0:
		return strconv.Itoa(p.room[i])
	case n == 1:
		return "" // tmux halves by itself
	default:
		return strconv.Itoa(max(100/(k+1), 1)) + "%"
	}
}

// oneProcessor has a host, which is a program in Go, start on one processor: all hosts of a
// team start at once. It takes the others when its agent runs, see teammate.announce, and that
// of tmux-shim when it begins.
const oneProcessor = "GOMAXPROCS=1"

// openCommands are the tmux commands of one step. -d leaves the focus where it is; the
// program and its arguments are two words or more, so no shell comes in between.
func (o *opening) openCommands(s step) []command {
	spec := o.specs[s.spec]
	var c command
	var before, after []command
	switch spec.Place {
	case backend.Session:
		c = command{"new-session", "-d", "-x", strconv.Itoa(detachedCols), "-y", strconv.Itoa(detachedRows), "-s", literal(spec.Name)}
		before, after = o.b.serverOptions(), o.b.sessionOptions(spec)
	case backend.Window:
		c = command{"new-window", "-d", "-t", o.sessionOf(s), "-n", literal(objectName(spec.Name))}
	default:
		side := "-h"
		if spec.Below {
			side = "-v"
		}
		target := string(o.target(s).ID)
		if s.at == "" { // else its window was made just now
			before = []command{noteZoom(target)}
		} else if target == "" {
			target = o.sessionOf(s) + s.at
		}
		c = command{"split-window", "-d", side, "-t", target}
		if s.size != "" {
			c = append(c, "-l", s.size)
		}
	}
	if spec.Place != backend.Session { // whose other panes would have it, too
		c = append(c, "-e", oneProcessor)
	}
	c = append(c, "-c", literal(spec.Dir), "-P", "-F", rowFormat, "--")
	return slices.Concat(before, []command{append(c, spec.Argv...)}, after)
}

// target is the pane a step refers to: one just opened, one listed, or at least its id,
// which is all that a split needs.
func (o *opening) target(s step) row {
	if s.target.spec >= 0 {
		return o.rows[s.target.spec]
	}
	if r, ok := find(o.known, s.target.id); ok {
		return r
	}
	return row{Pane: backend.Pane{ID: s.target.id}}
}

// sessionOf is how a line names the session of a step's target, which it may make itself.
func (o *opening) sessionOf(s step) string {
	if id := o.target(s).Session; id != "" {
		return id + ":"
	}
	return "=" + o.specs[o.fresh].Name + ":"
}
