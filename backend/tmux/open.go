package tmux

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
)

// Size of a session nobody is attached to; tmux's own would be 80x24.
const (
	detachedCols = 200
	detachedRows = 50
)

// Open opens all panes of a round with one command line, and marks and labels all
// panes with another. See the contract; besides:
//
//   - Sizes are those of the moment of the split, as if the specs were opened one after
//     the other. Without sizes, panes that split one pane in one direction, or one
//     another, get equal shares of it.
//   - A cancelled ctx undoes what was opened. When tmux stops answering in the middle
//     of a line, the panes of that line may still appear, without a mark.
//   - A program that has ended before its pane was marked is fault.SpawnFailed.
func (b *Backend) Open(ctx context.Context, specs []backend.Spec) []backend.Result {
	return b.OpenArranged(ctx, specs, nil)
}

// OpenArranged is Open, and lays windows out with the same command line that marks the
// panes: as layouts says, which is given the results. What cannot be laid out fails nothing.
func (b *Backend) OpenArranged(ctx context.Context, specs []backend.Spec, layouts func([]backend.Result) []backend.Layout) []backend.Result {
	o := opening{
		b: b, specs: slices.Clone(specs), results: make([]backend.Result, len(specs)), layouts: layouts,
		rows: make([]row, len(specs)), names: map[string]bool{}, before: map[backend.ID]bool{},
	}
	o.ahead = b.startedAhead()
	if _, err := b.Version(ctx); err != nil {
		return backend.NoneOpened(len(specs), err)
	}
	for i := range o.specs {
		if o.results[i].Err = o.check(ctx, i, &o.specs[i]); o.results[i].Err != nil {
			o.leaveOut(i)
		}
	}
	// From here on a line that was begun is seen to its end, else nobody would learn
	// the ids of the panes that were already made.
	work := context.WithoutCancel(ctx)
	o.self = b.inPane()
	rounds := waves(o.specs)
	if b.opt.Own && len(rounds) > 0 { // nobody's settings move what is opened there
		rounds = inOneLine(o.specs, rounds)
		o.fresh = rounds[0][0].spec
	}
	for _, round := range rounds {
		o.open(ctx, work, round)
	}
	o.mark(work)
	if err := ctx.Err(); err != nil {
		o.undo(work, o.opened())
		return backend.NoneOpened(len(specs), fault.New(fault.Of(err).Code, "open panes: %w", err))
	}
	return o.results
}

// opening is one call of Open.
type opening struct {
	b       *Backend
	specs   []backend.Spec
	results []backend.Result
	rows    []row           // of the panes that were opened
	names   map[string]bool // of the sessions of this batch
	layouts func([]backend.Result) []backend.Layout

	self  backend.ID // the pane of this process; "": none
	fresh int        // the spec whose session a line makes, see inOneLine
	ahead bool       // our server was started for a session that is not there yet, see Ahead

	listed  bool                // known was asked for by list
	refused error               // why no window is made
	known   []row               // every pane of the server, asked for when a Window spec needs it
	before  map[backend.ID]bool // the panes that were there before a line that splits some
}

// opened returns the indexes of the specs whose panes are there.
func (o *opening) opened() []int {
	var list []int
	for i, r := range o.rows {
		if r.ID != "" && o.results[i].Err == nil {
			list = append(list, i)
		}
	}
	return list
}

// leaveOut takes a refused spec out of the batch. The first spec that hangs on its pane
// gets its place, the others hang on that one.
func (o *opening) leaveOut(i int) {
	refused, heir := o.specs[i], -1
	o.specs[i] = backend.Spec{Place: backend.Session} // takes no part in any strip
	for k := i + 1; k < len(o.specs); k++ {
		s := &o.specs[k]
		switch {
		case s.Chain != k-i:
		case heir >= 0:
			s.Chain = k - heir
		default:
			heir = k
			s.Place, s.Target, s.Below, s.Size, s.Name = refused.Place, refused.Target, refused.Below, refused.Size, refused.Name
			if s.Chain = 0; refused.Chain > 0 {
				s.Chain = k - (i - refused.Chain)
			}
		}
	}
}

// check checks one spec and makes its program an absolute path.
func (o *opening) check(ctx context.Context, i int, s *backend.Spec) error {
	program, err := backend.Check(i, *s)
	if err == nil {
		err = checkLength(s.Argv)
	}
	if err != nil {
		return err
	}
	s.Argv = append([]string{program}, s.Argv[1:]...)
	switch s.Place {
	case backend.Window:
		if s.Chain == 0 {
			return o.findSession(ctx, s.Target)
		}
	case backend.Session:
		s.Name, s.Chain = o.freeName(objectName(s.Name)), 0
		if err := o.b.mayStart(ctx); err != nil || o.b.opt.Own {
			return err
		}
		return o.list(ctx)
	}
	if s.Chain == 0 {
		return checkPane(s.Target)
	}
	return nil
}

// checkLength refuses a command that tmux could not take.
func checkLength(argv []string) error {
	if len(argv) > maxWords-40 || command(argv).bytes() > maxBytes-2048 {
		return fault.New(fault.InvalidArgument, "a pane's command of %d words and %d bytes is more than tmux takes (%d words, %d bytes)",
			len(argv), command(argv).bytes(), maxWords-40, maxBytes-2048)
	}
	return nil
}

// findSession makes sure that the session of a Window spec's target is known: a window
// is made in a session, and tmux takes a pane there for a window's number.
func (o *opening) findSession(ctx context.Context, target backend.ID) error {
	if err := checkPane(target); err != nil {
		return err
	}
	if err := o.list(ctx); err != nil {
		return err
	}
	if _, ok := find(o.known, target); !ok {
		return fault.New(fault.TmuxError, "open a window beside pane %s: %w", target, backend.ErrGone)
	}
	return nil
}

// list asks for every pane of the server, once, before a window is made in it. tmux 3.3 to
// 3.6 end with all their panes then if window-size is manual (github.com/tmux/tmux/pull/4849):
// that of all windows, whatever one of them has for itself (resize-window makes it manual).
func (o *opening) list(ctx context.Context) error {
	if o.listed {
		return o.refused
	}
	rows, err := o.b.rows(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rows, row.endsByManual) {
		all, err := o.b.run(ctx, command{"show-options", "-gwv", "window-size"})
		if err != nil {
			return err
		}
		if strings.TrimSpace(all) == "manual" {
			o.refused = fault.New(fault.TmuxError, "no window is made: this tmux (%s) would end, with all its panes, while its option window-size is manual", rows[0].server).
				WithHint("tmux -S %s set-option -g window-size latest; or a pane beside the lead's, by --placement split", shell.Line(o.b.opt.Socket))
		}
	}
	o.known, o.listed = rows, true
	return o.refused
}

// open opens the panes of one round: tmux stops a line at the first command that fails,
// so the line goes on behind it.
func (o *opening) open(ctx, work context.Context, round []step) {
	var groups [][]command
	var steps []step
	for _, s := range round {
		if err := o.ready(s); err != nil {
			o.results[s.spec].Err = err
			continue
		}
		steps = append(steps, s)
		groups = append(groups, o.openCommands(s))
	}
	for _, l := range chunk(groups) {
		batch := steps[:len(l)]
		steps = steps[len(l):]
		for len(batch) > 0 {
			if batch = o.possible(batch); len(batch) == 0 {
				break
			}
			if err := ctx.Err(); err != nil {
				o.fail(batch, fault.New(fault.Of(err).Code, "open panes: %w", err))
				break
			}
			done, err := o.openLine(work, batch)
			batch = batch[done:]
			if err == nil {
				break
			}
			if len(batch) > 0 && errors.Is(err, errTaken) {
				name := &o.specs[batch[0].spec].Name
				if *name = o.freeName(*name); *name != "" {
					continue
				}
			}
			if len(batch) == 0 || !errors.Is(err, fault.TmuxError) && !errors.Is(err, fault.NoSpace) {
				o.fail(batch, err)
				break
			}
			o.fail(batch[:1], err)
			batch = batch[1:]
		}
	}
}

func (o *opening) fail(steps []step, err error) {
	for _, s := range steps {
		o.results[s.spec].Err = err
	}
}

// ready tells why a step cannot be done.
func (o *opening) ready(s step) error {
	if err := o.results[s.spec].Err; err != nil {
		return err
	}
	if p := s.target.spec; p >= 0 && o.rows[p].ID == "" && (s.at == "" || o.results[p].Err != nil) {
		return fault.New(fault.Of(o.results[p].Err).Code, "the pane it was to stand beside could not be opened: %w", o.results[p].Err)
	}
	return nil
}

// possible leaves out the steps whose neighbours could not be opened by an earlier line.
func (o *opening) possible(batch []step) []step {
	return slices.DeleteFunc(slices.Clone(batch), func(s step) bool {
		err := o.ready(s)
		if err != nil {
			o.results[s.spec].Err = err
		}
		return err != nil
	})
}

// openLine runs one line and returns how many of its panes were opened.
func (o *opening) openLine(ctx context.Context, steps []step) (int, error) {
	var cmds []command
	if o.specs[steps[0].spec].Place != backend.Session && !o.listed {
		cmds = append(cmds, command{"list-panes", "-a", "-F", beforeMark + "#{pane_id}"})
	}
	for _, s := range steps {
		cmds = append(cmds, o.openCommands(s)...)
	}
	out, err := o.b.run(ctx, cmds...)
	// A session starts the server, unless the last one on this socket has not quite left.
	starts := o.specs[steps[0].spec].Place == backend.Session
	for try := 0; starts && err != nil && out == "" && try < 5 && (leaving(err) || errors.Is(err, errNoServer)); try++ {
		pause(ctx)
		out, err = o.b.run(ctx, cmds...)
	}
	rows, perr := o.b.parse(o.noteBefore(out))
	if perr != nil {
		return 0, cmp.Or(err, perr) // a person's hook may have printed something
	}
	for i, r := range rows[:min(len(rows), len(steps))] {
		spec := steps[i].spec
		if o.wasThere(r.ID) {
			return i, fault.New(fault.BackendUnavailable, "tmux says that it opened pane %s, which was there before", r.ID).
				WithHint("the program %s may not be tmux", o.b.opt.Program)
		}
		o.rows[spec] = r
		o.results[spec].Pane = r.Pane
		if o.ahead && o.specs[spec].Place == backend.Session {
			o.b.tookAhead()
		}
	}
	if err == nil && len(rows) != len(steps) {
		if err = o.b.dead(); err == nil { // 3.2 calls a socket that it cannot make a success without a word
			err = fault.New(fault.TmuxError, "tmux opened %d panes of %d and gave no reason", len(rows), len(steps))
		}
	}
	return min(len(rows), len(steps)), err
}

// beforeMark begins the id of a pane that was there before.
const beforeMark = "leadlight-before:"

// noteBefore notes which panes were there before, and returns what else a line printed.
func (o *opening) noteBefore(out string) string {
	var rest strings.Builder
	for line := range strings.Lines(out) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), beforeMark); ok {
			o.before[backend.ID(id)] = true
			continue
		}
		rest.WriteString(line)
	}
	return rest.String()
}

// wasThere tells whether a pane cannot be one that was just opened.
func (o *opening) wasThere(id backend.ID) bool {
	if _, known := find(o.known, id); known || o.before[id] || id == o.self {
		return true
	}
	if _, doubled := find(o.rows, id); doubled {
		return true
	}
	return slices.ContainsFunc(o.specs, func(s backend.Spec) bool { return s.Target == id })
}

// undo closes panes by the ids just learnt, if the programs run there that were started.
func (o *opening) undo(ctx context.Context, list []int) {
	var groups [][]command
	for _, i := range list {
		id := string(o.rows[i].ID)
		started := all(same("pane_id", id), same("pane_pid", strconv.Itoa(o.rows[i].PID)))
		groups = append(groups, []command{{"if-shell", "-F", "-t", id, started, killPane + id, ""}})
		o.rows[i] = row{}
	}
	for _, l := range chunk(groups) {
		if _, err := o.b.run(ctx, slices.Concat(l...)...); err != nil && !errors.Is(err, errNoServer) && !leaving(err) {
			o.b.opt.Log.Warn("tmux: panes could not be closed again", "error", err)
		}
	}
}

// maxNames is how many sessions of one name there may be.
const maxNames = 100

// freeName returns name, or name-2, name-3 … that this batch has not tried; "": there are
// too many. Whether a session has it already, only tmux knows for sure.
func (o *opening) freeName(name string) string {
	base := name
	if i := strings.LastIndexByte(name, '-'); o.names[name] && i > 0 && o.names[name[:i]] {
		base = name[:i]
	}
	for n := 1; n <= maxNames; n++ {
		try := base
		if n > 1 {
			try = base + "-" + strconv.Itoa(n)
		}
		if !o.names[try] {
			o.names[try] = true
			return try
		}
	}
	return ""
}
