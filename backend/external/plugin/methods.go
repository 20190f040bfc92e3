package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external/wire"
)

// method serves one request.
type method func(context.Context, backend.Backend, json.RawMessage) (any, *wire.Error)

// methods are those that are served once initialize was answered.
func methods() map[string]method {
	return map[string]method{
		wire.Self: with(self), wire.Open: with(open), wire.List: with(list), wire.Label: with(label),
		wire.Arrange: with(arrange), wire.Focus: with(focus), wire.Close: with(closePane),
		wire.Capture: power(wire.Capture, capture), wire.ListAll: power(wire.ListAll, listAll), wire.Attach: power(wire.Attach, attach),
	}
}

// with reads the parameters of a method, and puts its error into words.
func with[P, R any](f func(context.Context, backend.Backend, P) (R, error)) method {
	return func(ctx context.Context, b backend.Backend, params json.RawMessage) (any, *wire.Error) {
		var p P
		if len(params) > 0 {
			if err := json.Unmarshal(params, &p); err != nil {
				return nil, &wire.Error{Code: wire.InvalidParams, Message: err.Error()}
			}
		}
		r, err := f(ctx, b, p)
		if err != nil {
			return nil, wire.ErrorOf(err)
		}
		return r, nil
	}
}

// power is with for a method that not every backend has.
func power[B, P, R any](name string, f func(context.Context, B, P) (R, error)) method {
	return func(ctx context.Context, b backend.Backend, params json.RawMessage) (any, *wire.Error) {
		able, ok := backend.As[B](b)
		if !ok {
			return nil, &wire.Error{Code: wire.MethodNotFound, Message: fmt.Sprintf("this backend has no %s", name)}
		}
		return with(func(ctx context.Context, _ backend.Backend, p P) (R, error) { return f(ctx, able, p) })(ctx, b, params)
	}
}

func self(ctx context.Context, b backend.Backend, _ wire.Nothing) (backend.Here, error) {
	return b.Self(ctx)
}

// open opens panes. A batch that was cancelled as a whole is an error as a whole.
func open(ctx context.Context, b backend.Backend, p wire.OpenParams) (wire.OpenResult, error) {
	results := b.Open(ctx, p.Panes)
	out := wire.OpenResult{Panes: make([]wire.Opened, 0, len(results))}
	failed := 0
	for _, r := range results {
		if r.Err != nil {
			failed++
			out.Panes = append(out.Panes, wire.Opened{Error: wire.ErrorOf(r.Err)})
			continue
		}
		out.Panes = append(out.Panes, wire.Opened{Pane: &r.Pane})
	}
	if err := ctx.Err(); err != nil && failed == len(results) {
		return wire.OpenResult{}, err
	}
	return out, nil
}

func list(ctx context.Context, b backend.Backend, _ wire.Nothing) (wire.PaneList, error) {
	panes, err := b.List(ctx)
	return wire.PaneList{Panes: append([]backend.Pane{}, panes...)}, err
}

func label(ctx context.Context, b backend.Backend, p wire.LabelParams) (wire.Nothing, error) {
	return wire.Nothing{}, b.Label(ctx, p.ID, p.Mark, p.Label)
}

func arrange(ctx context.Context, b backend.Backend, l backend.Layout) (wire.Nothing, error) {
	return wire.Nothing{}, b.Arrange(ctx, l)
}

func focus(ctx context.Context, b backend.Backend, p wire.Pointer) (wire.Nothing, error) {
	return wire.Nothing{}, b.Focus(ctx, p.ID)
}

func closePane(ctx context.Context, b backend.Backend, p backend.Marked) (wire.Nothing, error) {
	return wire.Nothing{}, backend.CloseOne(ctx, b, p.ID, p.Mark)
}

func capture(ctx context.Context, b backend.Capturer, p wire.CaptureParams) (wire.Text, error) {
	text, err := b.Capture(ctx, p.ID, p.Lines, p.ANSI)
	return wire.Text{Text: text}, err
}

func listAll(ctx context.Context, b backend.Lister, _ wire.Nothing) (wire.PaneList, error) {
	panes, err := b.ListAll(ctx)
	return wire.PaneList{Panes: append([]backend.Pane{}, panes...)}, err
}

func attach(ctx context.Context, b backend.Attacher, p wire.Pointer) (wire.Command, error) {
	argv, err := b.Attach(ctx, p.ID)
	return wire.Command{Argv: argv}, err
}
