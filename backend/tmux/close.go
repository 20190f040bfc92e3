package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/signals"
)

// Close closes the panes of a set. The question whose a pane is and the deed are one
// command inside the server, so its id cannot change hands in between. A pane that
// carries another mark, or none, or in which another program runs than the one that was
// opened, is left alone and reported: fault.Unproven.
func (b *Backend) Close(ctx context.Context, set ...backend.Marked) []error {
	errs := make([]error, len(set))
	var groups [][]command
	for i, p := range set {
		if errs[i] = checkMarked(p); errs[i] == nil {
			groups = append(groups, []command{b.closeCommand(p)})
		}
	}
	if len(groups) == 0 {
		return errs
	}
	rows, err := b.rowsAfter(ctx, groups)
	if err == nil {
		err = b.tidy(ctx, rows)
	}
	for i, p := range set {
		if errs[i] != nil {
			continue
		}
		errs[i] = err
		if r, ok := find(rows, p.ID); ok {
			errs[i] = b.leftAlone(r, p.Mark)
		}
	}
	return errs
}

func checkMarked(p backend.Marked) error {
	if err := checkPane(p.ID); err != nil {
		return err
	}
	if p.Mark == (backend.Mark{}) {
		return fault.New(fault.InvalidArgument, "close pane %s: no mark is given to know it by", p.ID)
	}
	return nil
}

// killPane closes a pane by the short name of kill-pane: people make an alias of the long one,
// such as one that asks first.
const killPane = "killp -t "

// closeCommand closes one pane if it is still ours. Where it is the last of a session that
// a person has made, a shell stays in its place.
func (b *Backend) closeCommand(p backend.Marked) command {
	id := string(p.ID)
	conditions := []string{same("pane_id", id), same(markOption, encodeMark(p.Mark)), nobodyElse}
	if b.inPane() == p.ID { // maybe from long ago: it counts if we descend from its program
		conditions = append(conditions, "#{==:#{m/r:^("+strings.Join(ancestors(), "|")+")$,#{pane_pid}},0}")
	}
	return command{"if-shell", "-F", "-t", id, all(conditions...), leaveShell(id) + " ; " + killPane + id, ""}
}

// nobodyElse holds of a pane in which the program runs that was opened, or none.
const nobodyElse = "#{||:#{pane_dead},#{==:#{" + pidOption + "},#{pane_pid}}}"

// leaveShell puts a shell beside the last pane of a session that is not ours.
func leaveShell(id string) string {
	last := all(same("window_panes", "1"), same("session_windows", "1"), same(sessionOption, ""))
	return shell.Line("if-shell", "-F", "-t", id, last, "split-window -d -t "+id, "")
}

// ancestors are the ids of this process and of those it descends from.
func ancestors() []string {
	ids := []string{strconv.Itoa(os.Getpid())}
	for _, p := range signals.Ancestors() {
		ids = append(ids, strconv.Itoa(p.PID))
	}
	return ids
}

// leftAlone says why a pane is still there.
func (b *Backend) leftAlone(r row, mark backend.Mark) error {
	switch {
	case r.Mark != mark:
		return fault.New(fault.Unproven, "pane %s is left alone: it carries %s", r.ID, whose(r.Mark)).
			WithHint("the terminal gave its id to another program; leadlight doctor lists what is ours")
	case r.ID == b.inPane() && slices.Contains(ancestors(), strconv.Itoa(r.PID)):
		return fault.New(fault.Unproven, "pane %s is left alone: this program runs in it", r.ID).
			WithHint("close it yourself, or ask again from another pane")
	}
	return fault.New(fault.Unproven, "pane %s is left alone: %w (pid %d)", r.ID, backend.ErrTaken, r.PID).
		WithHint("close it yourself: tmux kill-pane -t %s", r.ID)
}

func whose(m backend.Mark) string {
	if m == (backend.Mark{}) {
		return "no mark of ours"
	}
	return fmt.Sprintf("the mark of %s in team %s", m.Agent, m.Team)
}

// rowsAfter runs groups of commands, in as few lines as tmux takes, and lists the panes in
// the last of them. A server that ended with its last pane on the way has no panes.
func (b *Backend) rowsAfter(ctx context.Context, groups [][]command) ([]row, error) {
	out, err := b.runAll(ctx, slices.Concat(groups, [][]command{{listCommand()}}))
	switch {
	case err == nil:
		return b.parse(out)
	case errors.Is(err, errNoServer), leaving(err):
		rows, lerr := b.rows(ctx)
		if len(rows) > 0 && errors.Is(err, errNoServer) { // its socket was gone, and is there again
			return b.rowsAfter(ctx, groups)
		}
		return rows, lerr
	}
	return nil, err
}

// Leave gives the window of one pane its options back, ahead of its end: it is called from within
// the pane, which is about to go. It also sees to it that tmux does not overlook that, and
// that a person's session does not end with it.
func (b *Backend) Leave(ctx context.Context, id backend.ID) error {
	if err := checkPane(id); err != nil {
		return err
	}
	v, err := b.Version(ctx)
	if err != nil {
		return err
	}
	shell := command{"if-shell", "-F", "-t", string(id), all(same("pane_id", string(id)), "#{!=:#{"+markOption+"},}"), leaveShell(string(id)), ""}
	rows, err := b.rowsAfter(ctx, [][]command{b.reminders(v), {shell}})
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].ID == id {
			rows[i].Mark = backend.Mark{}
		}
	}
	return b.tidy(ctx, rows)
}

// tidy puts options back, with one command line for all windows.
func (b *Backend) tidy(ctx context.Context, rows []row) error {
	inUse := map[string]bool{}
	for _, r := range rows {
		inUse[r.Window] = inUse[r.Window] || ours(r)
	}
	var groups [][]command
	for _, r := range rows {
		if r.saved != "" && !inUse[r.Window] {
			inUse[r.Window] = true // once a window
			groups = append(groups, restoreBorders(r))
		}
	}
	var errs []error // a line that fails does not keep the others from the windows they restore
	for _, l := range chunk(groups) {
		_, err := b.run(ctx, slices.Concat(l...)...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// restoreBorders undoes showBorders, unless the person has changed the option since.
func restoreBorders(r row) []command {
	unset := func(option string) command { return command{"set-option", "-w", "-u", "-t", r.Window, option} }
	switch {
	case r.border != "top":
		return []command{unset(borderOption)}
	case r.saved == "unset":
		return []command{unset("pane-border-status"), unset(borderOption)}
	}
	return []command{{"set-option", "-w", "-t", r.Window, "pane-border-status", r.saved}, unset(borderOption)}
}
