package tmux

import (
	"context"
	"errors"
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
)

// Arrange lays out windows, all with one command line. If that fails, each is tried alone.
func (b *Backend) Arrange(ctx context.Context, layouts ...backend.Layout) error {
	groups, err := b.arrangements(ctx, layouts)
	errs := []error{err}
	for _, l := range chunk(groups) {
		_, err := b.run(ctx, slices.Concat(l...)...)
		if err != nil && len(l) > 1 && !errors.Is(err, errMute) {
			err = nil
			for _, group := range l {
				_, alone := b.run(ctx, group...)
				err = errors.Join(err, alone)
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// arrangements are the commands that lay out windows, and why some of them cannot be.
func (b *Backend) arrangements(ctx context.Context, layouts []backend.Layout) (groups [][]command, err error) {
	swaps, err := b.swaps(ctx, layouts)
	errs := []error{err}
	for _, l := range layouts {
		group, err := arrangeCommands(l, swaps[l.Window])
		if errs = append(errs, err); len(group) > 0 {
			groups = append(groups, group)
		}
	}
	return groups, errors.Join(errs...)
}

// arrangeCommands lay out one window. The main pane gets its size afterwards: the window's
// own main-pane-width is the person's.
func arrangeCommands(l backend.Layout, swaps []command) ([]command, error) {
	if err := checkWindow(l.Window); err != nil {
		return nil, err
	}
	if err := backend.CheckLayout(l); err != nil || l.Kind == backend.None {
		return nil, err
	}
	change := append(swaps, command{"select-layout", "-t", l.Window, string(l.Kind)})
	if l.Kind == backend.MainVertical && l.Main != "" {
		change = append(change, command{"resize-pane", "-t", l.Window + ".{top-left}", "-x", l.Main})
	}
	return zoomKept(l.Window, change...), nil
}

// swaps returns, for each window, what brings its panes into the order that is asked for.
// The terminal is only looked at if one is.
func (b *Backend) swaps(ctx context.Context, layouts []backend.Layout) (map[string][]command, error) {
	if !slices.ContainsFunc(layouts, func(l backend.Layout) bool { return len(l.Order) > 1 }) {
		return nil, nil
	}
	out, err := b.run(ctx, listCommand())
	if err != nil {
		return nil, err
	}
	rows, err := b.parse(out)
	if err != nil {
		return nil, err
	}
	all := map[string][]command{}
	for _, l := range layouts {
		var now []backend.ID
		for _, r := range rows {
			if r.Window == l.Window {
				now = append(now, r.ID)
			}
		}
		all[l.Window] = swapCommands(now, l.Order)
	}
	return all, nil
}

// swapCommands bring those panes of now that order names into that order. Focus stays.
func swapCommands(now, order []backend.ID) (out []command) {
	order = slices.DeleteFunc(slices.Clone(order), func(id backend.ID) bool { return !slices.Contains(now, id) })
	now = slices.DeleteFunc(slices.Clone(now), func(id backend.ID) bool { return !slices.Contains(order, id) })
	for i, id := range order {
		if at := slices.Index(now, id); at != i {
			out = append(out, command{"swap-pane", "-d", "-s", string(id), "-t", string(now[i])})
			now[i], now[at] = now[at], now[i]
		}
	}
	return out
}

// zoomKept changes a window and zooms the pane again that was zoomed before.
func zoomKept(window string, change ...command) []command {
	return slices.Concat([]command{noteZoom(window)}, change, zoomAgain(window))
}

// noteZoom keeps in a window whether a pane of it is zoomed. The target is the window or a
// pane of it; one that is gone is no error.
func noteZoom(target string) command {
	there := "#{||:" + same("window_id", target) + "," + same("pane_id", target) + "}"
	return command{"if-shell", "-F", "-t", target, all(there, "#{window_zoomed_flag}"),
		"set-option -w -t " + target + " " + zoomOption + " 1", ""}
}

// zoomAgain zooms the active pane of a window if noteZoom has seen one zoomed.
func zoomAgain(window string) []command {
	return []command{
		{"if-shell", "-F", "-t", window, all(same(zoomOption, "1"), "#{!=:#{window_zoomed_flag},1}"), "resize-pane -Z -t " + window, ""},
		{"set-option", "-w", "-u", "-q", "-t", window, zoomOption},
	}
}
