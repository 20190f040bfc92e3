package tmux

import (
	"context"
	"errors"
	"fmt"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Close closes the pane if it still carries the mark. The question and the deed are one
// command inside the server, so the id cannot change hands in between. A pane that
// carries another mark, or none, is left alone and reported: fault.Unproven.
func (b *Backend) Close(ctx context.Context, id backend.ID, mark backend.Mark) error {
	if err := checkPane(id); err != nil {
		return err
	}
	if mark == (backend.Mark{}) {
		return fault.New(fault.InvalidArgument, "close pane %s: no mark is given to know it by", id)
	}
	rows, err := b.rowsAfter(ctx, ifMarked(id, mark, []command{{"kill-pane", "-t", string(id)}}))
	if err != nil {
		return err
	}
	if r, ok := find(rows, id); ok {
		return fault.New(fault.Unproven, "pane %s is left alone: it carries %s", id, whose(r.Mark)).
			WithHint("the terminal gave its id to another program; leadlight doctor lists what is ours")
	}
	return b.tidy(ctx, rows)
}

func whose(m backend.Mark) string {
	if m == (backend.Mark{}) {
		return "no mark of ours"
	}
	return fmt.Sprintf("the mark of %s in team %s", m.Agent, m.Team)
}

// rowsAfter runs a command and lists the panes in the same line. A server that ended
// with its last pane on the way has no panes.
func (b *Backend) rowsAfter(ctx context.Context, c command) ([]row, error) {
	out, err := b.run(ctx, c, listCommand())
	switch {
	case err == nil:
		return parseRows(out)
	case errors.Is(err, errNoServer), leaving(err):
		return b.rows(ctx)
	}
	return nil, err
}

// Tidy gives windows that hold no pane of ours any more their options back. Close does
// the same; this is for panes that ended by themselves.
func (b *Backend) Tidy(ctx context.Context) error {
	rows, err := b.rows(ctx)
	if err != nil {
		return err
	}
	return b.tidy(ctx, rows)
}

// Leave does for one pane what Tidy does, ahead of its end: it is called from within
// the pane, which is about to go. It also sees to it that tmux does not overlook that.
func (b *Backend) Leave(ctx context.Context, id backend.ID) error {
	v, err := b.Version(ctx)
	if err != nil {
		return err
	}
	out, err := b.run(ctx, append(b.reminders(v), listCommand())...)
	if err != nil {
		return err
	}
	rows, err := parseRows(out)
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

func (b *Backend) tidy(ctx context.Context, rows []row) error {
	inUse := map[string]bool{}
	for _, r := range rows {
		inUse[r.Window] = inUse[r.Window] || ours(r)
	}
	var errs []error
	for _, r := range rows {
		if r.saved != "" && !inUse[r.Window] {
			inUse[r.Window] = true // once a window
			errs = append(errs, b.restoreBorders(ctx, r))
		}
	}
	return errors.Join(errs...)
}

// restoreBorders undoes showBorders, unless the person has changed the option since.
func (b *Backend) restoreBorders(ctx context.Context, r row) error {
	if r.border == "top" {
		restore := func() error { return b.setWindow(ctx, r.Window, "pane-border-status", r.saved) }
		if r.saved == "unset" {
			restore = func() error { return b.unsetWindow(ctx, r.Window, "pane-border-status") }
		}
		if err := restore(); err != nil {
			return err
		}
	}
	return b.unsetWindow(ctx, r.Window, borderOption)
}
