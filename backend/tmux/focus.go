package tmux

import (
	"context"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
)

// Focus makes the pane the active one of its window and shows that window: on the
// terminal of whoever asks, when they sit in this server, else on the terminals that
// show the pane's session. When nobody looks at it, the error's hint is the command
// that shows it.
func (b *Backend) Focus(ctx context.Context, id backend.ID) error {
	r, err := b.pane(ctx, id)
	if err != nil {
		return err
	}
	_, err = b.run(ctx,
		command{"select-window", "-t", r.Session + ":" + r.Window},
		command{"select-pane", "-t", string(id)})
	if err != nil {
		return err
	}
	clients, err := b.clients(ctx)
	if err != nil {
		return err
	}
	here, err := b.Self(ctx)
	if err != nil {
		return err
	}
	if here.Self != nil && here.Self.Session != r.Session {
		if c, ok := latest(clients, here.Self.Session); ok {
			return b.switchClient(ctx, c.name, r.Session)
		}
	}
	if _, ok := latest(clients, r.Session); ok {
		return nil
	}
	argv, err := b.Attach(ctx, id)
	if err != nil {
		return err
	}
	return fault.New(fault.BackendUnavailable, "no terminal shows the session of pane %s", id).
		WithHint("show it with: %s", shell.Line(argv...))
}

// pane returns a pane of the server.
func (b *Backend) pane(ctx context.Context, id backend.ID) (row, error) {
	if err := checkPane(id); err != nil {
		return row{}, err
	}
	rows, err := b.rows(ctx)
	if err != nil {
		return row{}, err
	}
	r, ok := find(rows, id)
	if !ok {
		return row{}, fault.New(fault.TmuxError, "pane %s: %w", id, backend.ErrGone)
	}
	return r, nil
}

// client is a terminal attached to the server.
type client struct {
	name     string // its tty, which tmux takes as its name
	session  string
	activity int64
}

// clients lists the attached terminals. Control clients have no tty and are left out.
func (b *Backend) clients(ctx context.Context) ([]client, error) {
	out, err := b.run(ctx, command{"list-clients", "-F", "#{session_id} #{client_activity} #{client_control_mode} #{client_tty}"})
	if err != nil {
		return nil, err
	}
	rows, err := splitRows(out, 4)
	if err != nil {
		return nil, err
	}
	var list []client
	for _, f := range rows {
		at, _ := strconv.ParseInt(f[1], 10, 64)
		if f[2] == "0" && strings.HasPrefix(f[3], "/") {
			list = append(list, client{name: f[3], session: f[0], activity: at})
		}
	}
	return list, nil
}

// latest returns the terminal that shows a session and was used last.
func latest(list []client, session string) (best client, ok bool) {
	for _, c := range list {
		if c.session == session && (!ok || c.activity > best.activity) {
			best, ok = c, true
		}
	}
	return best, ok
}

// Attach returns the command that shows the pane's session in a terminal.
func (b *Backend) Attach(ctx context.Context, id backend.ID) ([]string, error) {
	if err := checkPane(id); err != nil {
		return nil, err
	}
	each, err := b.AttachEach(ctx, []backend.ID{id})
	if err == nil && each[id] == nil {
		err = fault.New(fault.TmuxError, "pane %s: %w", id, backend.ErrGone)
	}
	return each[id], err
}

// attachTo names a session by its name, which a person knows, but one with a $, which tmux 3.4
// does not show as it takes it.
func (b *Backend) attachTo(id, name string) []string {
	target := "=" + name
	if strings.Contains(name, "$") {
		target = id
	}
	return []string{b.opt.Program, "-S", b.opt.Socket, "attach-session", "-t", target}
}

// AttachEach is Attach for several panes, with as many programs for many as for one. A pane
// that is gone is left out.
func (b *Backend) AttachEach(ctx context.Context, ids []backend.ID) (map[backend.ID][]string, error) {
	rows, err := b.rows(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	out, err := b.run(ctx, command{"list-sessions", "-F", "#{session_id} #{session_name}"})
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		names[id] = name
	}
	each := map[backend.ID][]string{}
	for _, id := range ids {
		if r, ok := find(rows, id); ok && names[r.Session] != "" {
			each[id] = b.attachTo(r.Session, names[r.Session])
		}
	}
	return each, nil
}
