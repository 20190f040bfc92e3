package tmux

import (
	"context"
	"errors"
	"strconv"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// colors gives tmux's name for each colour of the palette. Other names are shown in
// the terminal's default colour.
func colors() map[string]string {
	return map[string]string{
		"red": "red", "green": "green", "yellow": "yellow", "blue": "blue", "cyan": "cyan",
		"purple": "magenta", "magenta": "magenta", "orange": "colour208", "pink": "colour205",
	}
}

// border is what a pane's border shows: the options are read each time it is drawn, so
// neither a title that the program sets nor allow-rename can change it.
func border(color string) string {
	return " #[fg=" + color + ",bold]#{" + nameOption + "}#[default] #{" + stateOption + "} "
}

func setPane(id backend.ID, option, value string) command {
	return command{"set-option", "-p", "-t", string(id), "--", option, value}
}

// labelCommands put a label on a pane. Where borders cannot be set on one pane alone
// (before 3.3) only our own options are written. pane-border-style is left out: set
// with -p it lands on the whole window without a word (3.3a).
func labelCommands(id backend.ID, l backend.Label, borders bool) []command {
	cmds := []command{
		setPane(id, nameOption, display(l.Name)),
		setPane(id, stateOption, display(l.State)),
	}
	if !borders {
		return cmds
	}
	color, ok := colors()[l.Color]
	if !ok {
		color = "default"
	}
	return append(cmds, setPane(id, "pane-border-format", border(color)))
}

// showBorders turns on the border line of a window, once, and keeps what was there
// before: "off", or "unset" where the window has no value of its own. set-option -o
// writes only what is not set, which tells the two apart inside one command line.
func showBorders(window string) []command {
	set := func(option, value string) command {
		return command{"set-option", "-w", "-t", window, option, value}
	}
	return []command{
		set(borderOption, "off"),
		{"set-option", "-w", "-o", "-q", "-t", window, "pane-border-status", "top"},
		{"if-shell", "-F", "-t", window, "#{==:#{pane-border-status},top}",
			"set-option -w -t " + window + " " + borderOption + " unset",
			"set-option -w -t " + window + " pane-border-status top"},
	}
}

// wantsBorders tells whether a window's border line is off and not ours to keep so.
func wantsBorders(r row) bool { return r.border == "off" && r.saved == "" }

// Label shows name, state and colour of a teammate on the border of its pane. As in
// Close, the question and the deed are one command inside the server: a host that
// outlives its server must not write on the pane that got its id in the next one.
func (b *Backend) Label(ctx context.Context, id backend.ID, mark backend.Mark, l backend.Label) error {
	if err := checkPane(id); err != nil {
		return err
	}
	v, err := b.Version(ctx)
	if err != nil {
		return err
	}
	label := ifMarked(id, mark, labelCommands(id, l, v.atLeast(perBorder)))
	rows, err := b.rowsAfter(ctx, [][]command{{label}})
	if err != nil {
		return err
	}
	r, ok := find(rows, id)
	switch {
	case !ok:
		return fault.New(fault.TmuxError, "pane %s: %w", id, backend.ErrGone)
	case mark == backend.Mark{} || r.Mark != mark:
		return fault.New(fault.Unproven, "pane %s is not labelled: it carries %s", id, whose(r.Mark))
	}
	return nil
}

// gone says of a pane whose server does not run that the pane is gone.
func gone(id backend.ID, err error) error {
	if !errors.Is(err, errNoServer) {
		return err
	}
	return fault.New(fault.TmuxError, "pane %s: %v: %w", id, err, backend.ErrGone)
}

// mark writes marks and labels on the opened panes, all with one command line, each by
// the id of its pane: without one, tmux would take the lead's. It lays their windows out.
func (o *opening) mark(ctx context.Context) {
	v, _ := o.b.Version(ctx) // known since Open began
	borders := v.atLeast(perBorder)
	todo := o.opened()
	var layouts []backend.Layout
	if o.layouts != nil && len(todo) > 0 {
		layouts = o.layouts(o.results)
	}
	after, _ := o.b.arrangements(ctx, layouts)
	for len(todo) > 0 {
		err := o.markLines(ctx, todo, borders, after)
		if err == nil {
			return
		}
		if after != nil { // that may be what failed
			after = nil
			defer func() { _ = o.b.Arrange(ctx, layouts...) }()
			continue
		}
		left, lerr := o.dropGone(ctx, todo)
		if lerr != nil || len(left) == len(todo) {
			o.undo(ctx, todo)
			for _, i := range todo {
				o.results[i] = backend.Result{Err: err}
			}
			return
		}
		todo = left
	}
}

// markLines marks the panes of todo, and does what is to be done after that.
func (o *opening) markLines(ctx context.Context, todo []int, borders bool, after [][]command) error {
	var groups [][]command
	shown, zooms := map[string]bool{}, map[string]bool{}
	for _, i := range todo {
		r := o.rows[i]
		group := []command{
			setPane(r.ID, markOption, encodeMark(o.specs[i].Mark)), setPane(r.ID, pidOption, strconv.Itoa(r.PID)),
			setPane(r.ID, "remain-on-exit", "failed"),
		}
		group = append(group, labelCommands(r.ID, o.specs[i].Label, borders)...)
		if borders && wantsBorders(r) && !shown[r.Window] {
			shown[r.Window] = true
			group = append(group, showBorders(r.Window)...)
		}
		if !zooms[r.Window] {
			zooms[r.Window] = true
			group = append(group, zoomAgain(r.Window)...)
		}
		groups = append(groups, group)
		o.results[i].Pane.Mark = o.specs[i].Mark
	}
	_, err := o.b.runAll(ctx, append(groups, after...))
	return err
}

// dropGone tells of the panes that ended before they were marked, and returns the rest.
func (o *opening) dropGone(ctx context.Context, todo []int) ([]int, error) {
	rows, err := o.b.rows(ctx)
	if err != nil {
		return nil, err
	}
	var left []int
	for _, i := range todo {
		if r, ok := find(rows, o.rows[i].ID); ok && r.Server == o.rows[i].Server {
			o.rows[i] = r // its window may have got its borders meanwhile
			left = append(left, i)
			continue
		}
		o.results[i] = backend.Result{Err: fault.New(fault.SpawnFailed, "%s ended at once: %w", o.specs[i].Argv[0], backend.ErrGone)}
		o.rows[i] = row{}
	}
	return left, nil
}
